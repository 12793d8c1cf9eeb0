//! The cluster's own certificate authority and what it signs. Made once for a folder; good for ten years.

use std::fs;

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};

use super::{NODE, Plan};

/// A certificate that is wanted: its files' name, its user, its group.
struct Wanted {
    file: &'static str,
    user: String,
    group: Option<&'static str>,
}

/// The users of kubeconfigs: file, common name, organization.
fn users() -> Vec<Wanted> {
    let user = |file, user: &str, group| Wanted { file, user: user.to_owned(), group };
    vec![
        user("admin", "admin", Some("system:masters")),
        user("controllers", "system:kube-controller-manager", None),
        user("scheduler", "system:kube-scheduler", None),
        user("kubelet", &format!("system:node:{NODE}"), Some("system:nodes")),
    ]
}

/// The files of kubeconfigs.
pub(crate) fn user_files() -> Vec<&'static str> {
    users().into_iter().map(|user| user.file).collect()
}

/// Writes every key and certificate, unless a whole set is there.
pub(crate) fn make(plan: &Plan) -> Result<()> {
    let done = plan.path("pki/whole");
    if done.exists() {
        return Ok(());
    }
    let authority_key = KeyPair::generate()?;
    let mut authority = named(&format!("{}-ca", plan.name()), None)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages =
        vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    let certificate = authority.self_signed(&authority_key)?;
    store(plan, "ca.crt", &certificate.pem())?;
    store(plan, "ca.key", &authority_key.serialize_pem())?;
    let issuer = Issuer::new(authority, authority_key);

    for user in users() {
        sign(plan, &issuer, user.file, named(&user.user, user.group)?)?;
    }
    sign(plan, &issuer, "kubelet-client", named("kube-apiserver-kubelet-client", Some("system:masters"))?)?;
    let mut server = named("kube-apiserver", None)?;
    server.subject_alt_names = names(
        &[&plan.address(), &plan.api_service(), "127.0.0.1"],
        &["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"],
    )?;
    sign(plan, &issuer, "server", server)?;
    let mut kubelet = named(NODE, None)?;
    kubelet.subject_alt_names = names(&[&plan.address()], &[NODE])?;
    sign(plan, &issuer, "kubelet-server", kubelet)?;

    let accounts = KeyPair::generate()?;
    store(plan, "accounts.key", &accounts.serialize_pem())?;
    store(plan, "accounts.pub", &accounts.public_key_pem())?;
    Ok(fs::write(done, "")?)
}

fn named(name: &str, group: Option<&str>) -> Result<CertificateParams> {
    let mut parameters = CertificateParams::default();
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    if let Some(group) = group {
        subject.push(DnType::OrganizationName, group);
    }
    parameters.distinguished_name = subject;
    let now = jiff::Timestamp::now();
    let year = |years: i64| -> Result<i32> {
        let then = now.checked_add(jiff::SignedDuration::from_hours(years * 365 * 24))?;
        Ok(i32::from(then.to_zoned(jiff::tz::TimeZone::UTC).year()))
    };
    parameters.not_before = rcgen::date_time_ymd(year(-1)?, 1, 1);
    parameters.not_after = rcgen::date_time_ymd(year(10)?, 1, 1);
    Ok(parameters)
}

fn names(addresses: &[&str], hosts: &[&str]) -> Result<Vec<SanType>> {
    let mut names = Vec::new();
    for address in addresses {
        names.push(SanType::IpAddress(address.parse().with_context(|| format!("{address} is no address"))?));
    }
    for host in hosts {
        names.push(SanType::DnsName((*host).try_into()?));
    }
    Ok(names)
}

fn sign(plan: &Plan, issuer: &Issuer<'_, KeyPair>, file: &str, mut parameters: CertificateParams) -> Result<()> {
    let key = KeyPair::generate()?;
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
    parameters.use_authority_key_identifier_extension = true;
    let certificate = parameters.signed_by(&key, issuer)?;
    store(plan, &format!("{file}.crt"), &certificate.pem())?;
    store(plan, &format!("{file}.key"), &key.serialize_pem())
}

/// Keys are readable for root alone.
fn store(plan: &Plan, file: &str, text: &str) -> Result<()> {
    use std::{io::Write as _, os::unix::fs::OpenOptionsExt};
    let path = plan.path("pki").join(file);
    let mut file = fs::OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&path)?;
    file.write_all(text.as_bytes()).with_context(|| format!("write {}", path.display()))
}

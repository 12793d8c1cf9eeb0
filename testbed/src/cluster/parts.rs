//! The servers of the cluster and the command line of each.

use super::{DRIVER, NODE, Plan, Programs, cgroup};

/// A server's name and what it is started with.
pub(crate) type Part = (&'static str, Vec<String>);

fn part(name: &'static str, program: &str, arguments: &[String]) -> Part {
    let mut words = vec![program.to_owned()];
    words.extend_from_slice(arguments);
    (name, words)
}

macro_rules! words {
    ($($word:expr),* $(,)?) => { &[$($word.to_string()),*] };
}

pub(crate) fn etcd(plan: &Plan, programs: &Programs) -> Part {
    let peers = format!("http://{}:2380", plan.address());
    part(
        "etcd",
        &programs.path("etcd"),
        words![
            format!("--data-dir={}", plan.text("etcd")),
            // A crash of the machine loses the cluster, which is made anew in seconds; a crash of a process does not.
            "--unsafe-no-fsync",
            format!("--listen-client-urls={}", plan.etcd()),
            format!("--advertise-client-urls={}", plan.etcd()),
            format!("--listen-peer-urls={peers}"),
            format!("--initial-advertise-peer-urls={peers}"),
            format!("--initial-cluster=default={peers}"),
            "--log-level=warn",
        ],
    )
}

pub(crate) fn containerd(plan: &Plan) -> Part {
    part("containerd", "containerd", words!["--config", plan.text("etc/containerd.toml")])
}

pub(crate) fn api_server(plan: &Plan, programs: &Programs) -> Part {
    let (pki, address) = (plan.text("pki"), plan.address());
    part(
        "kube-apiserver",
        &programs.path("kube-apiserver"),
        words![
            format!("--etcd-servers={}", plan.etcd()),
            format!("--advertise-address={address}"),
            format!("--bind-address={address}"),
            "--secure-port=6443",
            format!("--service-cluster-ip-range={}", plan.services()),
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            format!("--client-ca-file={pki}/ca.crt"),
            format!("--tls-cert-file={pki}/server.crt"),
            format!("--tls-private-key-file={pki}/server.key"),
            format!("--kubelet-certificate-authority={pki}/ca.crt"),
            format!("--kubelet-client-certificate={pki}/kubelet-client.crt"),
            format!("--kubelet-client-key={pki}/kubelet-client.key"),
            "--kubelet-preferred-address-types=InternalIP",
            "--service-account-issuer=https://kubernetes.default.svc",
            format!("--service-account-key-file={pki}/accounts.pub"),
            format!("--service-account-signing-key-file={pki}/accounts.key"),
            format!("--audit-policy-file={}", plan.text("etc/audit.yaml")),
            format!("--audit-log-path={}", plan.text("audit.log")),
            // In MiB; a scenario reads one file, not a row of them.
            "--audit-log-maxsize=4096",
        ],
    )
}

pub(crate) fn controllers(plan: &Plan, programs: &Programs) -> Part {
    let (pki, user) = (plan.text("pki"), plan.text("controllers.kubeconfig"));
    part(
        "kube-controller-manager",
        &programs.path("kube-controller-manager"),
        words![
            format!("--kubeconfig={user}"),
            format!("--authentication-kubeconfig={user}"),
            format!("--authorization-kubeconfig={user}"),
            format!("--bind-address={}", plan.address()),
            "--leader-elect=false",
            "--use-service-account-credentials=true",
            format!("--root-ca-file={pki}/ca.crt"),
            format!("--service-account-private-key-file={pki}/accounts.key"),
            format!("--cluster-signing-cert-file={pki}/ca.crt"),
            format!("--cluster-signing-key-file={pki}/ca.key"),
            // 15 s by default: what the binder notices at its resync alone would take that long.
            "--pvclaimbinder-sync-period=1s",
        ],
    )
}

pub(crate) fn scheduler(plan: &Plan, programs: &Programs) -> Part {
    let user = plan.text("scheduler.kubeconfig");
    part(
        "kube-scheduler",
        &programs.path("kube-scheduler"),
        words![
            format!("--kubeconfig={user}"),
            format!("--authentication-kubeconfig={user}"),
            format!("--authorization-kubeconfig={user}"),
            format!("--bind-address={}", plan.address()),
            "--leader-elect=false",
        ],
    )
}

pub(crate) fn kubelet(plan: &Plan, programs: &Programs) -> Part {
    part(
        "kubelet",
        &programs.kubelet(plan.back_off),
        words![
            format!("--config={}", plan.text("etc/kubelet.yaml")),
            format!("--kubeconfig={}", plan.text("kubelet.kubeconfig")),
            format!("--root-dir={}", plan.text("kubelet")),
            format!("--cert-dir={}", plan.text("pki/kubelet")),
            format!("--node-ip={}", plan.address()),
            format!("--hostname-override={NODE}"),
            "--v=2",
        ],
    )
}

/// The driver, its provisioner, the snapshot controller and its sidecar.
pub(crate) fn storage(plan: &Plan, programs: &Programs) -> Vec<Part> {
    let (socket, user) = (plan.csi_socket(), plan.text("admin.kubeconfig"));
    let pods = cgroup::freezer(plan).map(|path| path.display().to_string()).unwrap_or_default();
    // Every 15 min by default: what the controllers notice at their resync alone would take that long.
    let resync = "--resync-period=10s";
    vec![
        part(
            "csi-driver",
            &programs.path("driver"),
            words![
                format!("-name={DRIVER}"),
                format!("-node={NODE}"),
                format!("-root={}", plan.disk().display()),
                format!("-pod-cgroups={pods}"),
                format!("-socket={socket}"),
                format!("-registration={}", plan.registration().display()),
            ],
        ),
        part(
            "csi-provisioner",
            &programs.path("provisioner"),
            words![format!("-kubeconfig={user}"), format!("-socket={socket}"), format!("-name={DRIVER}")],
        ),
        part(
            "snapshot-controller",
            &programs.path("snapshot-controller"),
            words![format!("--kubeconfig={user}"), "--leader-election=false", resync],
        ),
        part(
            "csi-snapshotter",
            &programs.path("csi-snapshotter"),
            words![
                format!("--kubeconfig={user}"),
                format!("--csi-address={socket}"),
                "--leader-election=false",
                resync,
            ],
        ),
    ]
}

//! The configuration files of the servers, as text.

use super::{BackOff, DRIVER, Plan};

/// The pause image's name, which containerd wants to know.
pub(crate) const PAUSE: &str = "localhost/pause:1";

/// containerd: everything in the cluster's folder, so that another containerd on this machine is not touched.
pub(crate) fn containerd(plan: &Plan) -> String {
    let folder = plan.folder.display();
    format!(
        r#"version = 2
root = "{folder}/containerd/root"
state = "{folder}/containerd/state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs"]
[grpc]
  address = "{socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  # Where a capability is missing, as in many sandboxes, no pod would start otherwise.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  sandbox_image = "{PAUSE}"
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "{folder}/etc/certs.d"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{folder}/etc/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        Root = "{folder}/containerd/runc"
        SystemdCgroup = false
"#,
        socket = plan.containerd_socket(),
    )
}

/// The pods' network: a bridge, without a packet filter rule: pods talk to each other and to the node, not to the world.
pub(crate) fn cni(plan: &Plan) -> String {
    format!(
        r#"{{"cniVersion": "0.4.0", "name": "{name}", "plugins": [{{
  "type": "bridge", "bridge": "{bridge}", "isGateway": true, "ipMasq": false, "hairpinMode": true,
  "ipam": {{"type": "host-local", "dataDir": "{folder}/ipam", "ranges": [[{{"subnet": "{pods}"}}]], "routes": [{{"dst": "0.0.0.0/0"}}]}}
}}]}}
"#,
        name = plan.name(),
        bridge = plan.pod_bridge(),
        folder = plan.folder.display(),
        pods = plan.pods(),
    )
}

/// What is written to the audit log: all but what the control plane reads all the time.
pub(crate) const AUDIT: &str = r#"apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  nonResourceURLs: ["/healthz*", "/readyz*", "/livez*", "/version"]
- level: None
  verbs: [get, list, watch]
  resources:
  - {group: "", resources: [events]}
  - {group: events.k8s.io, resources: [events]}
  - {group: coordination.k8s.io, resources: [leases]}
- level: None
  userGroups: ["system:nodes"]
  verbs: [get, list, watch]
- level: None
  users: ["system:apiserver", "system:kube-controller-manager", "system:kube-scheduler"]
  verbs: [get, list, watch]
- level: Metadata
"#;

pub(crate) fn kubelet(plan: &Plan) -> String {
    let folder = plan.folder.display();
    let address = plan.address();
    let quick = match plan.back_off {
        BackOff::Stock => "",
        BackOff::Quick => {
            "featureGates: {KubeletCrashLoopBackOffMax: true}\ncrashLoopBackOff: {maxContainerRestartPeriod: 2s}\n"
        }
    };
    format!(
        r"apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: {address}
authentication: {{anonymous: {{enabled: false}}, webhook: {{enabled: true}}, x509: {{clientCAFile: {folder}/pki/ca.crt}}}}
authorization: {{mode: Webhook}}
tlsCertFile: {folder}/pki/kubelet-server.crt
tlsPrivateKeyFile: {folder}/pki/kubelet-server.key
cgroupDriver: cgroupfs
cgroupRoot: /{cgroup}
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix://{socket}
resolvConf: {folder}/etc/resolv.conf
podLogsDir: {folder}/pod-logs
volumePluginDir: {folder}/volume-plugins
healthzBindAddress: {address}
readOnlyPort: 0
clusterDNS: [{dns}]
clusterDomain: cluster.local
syncFrequency: 10s
imageGCHighThresholdPercent: 100
evictionHard: {{memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}}
{quick}",
        cgroup = plan.name(),
        socket = plan.containerd_socket(),
        // Nobody answers there: pods find each other by address.
        dns = plan.api_service(),
    )
}

/// How one user reaches the API server.
pub(crate) fn kubeconfig(plan: &Plan, user: &str) -> String {
    let pki = plan.text("pki");
    format!(
        r"apiVersion: v1
kind: Config
clusters:
- {{name: {name}, cluster: {{server: '{server}', certificate-authority: '{pki}/ca.crt'}}}}
users:
- {{name: {user}, user: {{client-certificate: '{pki}/{user}.crt', client-key: '{pki}/{user}.key'}}}}
contexts:
- {{name: {name}, context: {{cluster: {name}, user: {user}}}}}
current-context: {name}
",
        name = plan.name(),
        server = plan.server(),
    )
}

/// The driver as an object, its classes, and the odd snapshot classes of the scenarios.
pub(crate) fn classes() -> String {
    let driver = format!(
        r"apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {{name: {DRIVER}}}
spec: {{attachRequired: false, podInfoOnMount: false, fsGroupPolicy: File, volumeLifecycleModes: [Persistent]}}
"
    );
    let storage = [("bed", "true", "Immediate"), ("bed-late", "false", "WaitForFirstConsumer")];
    let storage = storage.map(|(name, default, binding)| {
        format!(
            r#"apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: {name}, annotations: {{storageclass.kubernetes.io/is-default-class: "{default}"}}}}
provisioner: {DRIVER}
reclaimPolicy: Delete
volumeBindingMode: {binding}
"#
        )
    });
    let snapshots = [
        ("bed", "{}"),
        ("bed-never-ready", r#"{neverReady: "true"}"#),
        ("bed-late", r#"{readyAfter: "8s"}"#),
        ("bed-no-size", r#"{size: "0"}"#),
        ("bed-fails", r#"{fail: "simulated failure"}"#),
    ];
    let snapshots = snapshots.map(|(name, parameters)| {
        format!(
            r"apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshotClass
metadata: {{name: {name}}}
driver: {DRIVER}
deletionPolicy: Delete
parameters: {parameters}
"
        )
    });
    let all: Vec<String> = [driver].into_iter().chain(storage).chain(snapshots).collect();
    all.join("---\n")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{super::Minor, BackOff, Plan, classes, kubelet};

    fn plan(back_off: BackOff) -> Plan {
        Plan { folder: PathBuf::from("/bed"), index: 3, minor: Minor::V34, back_off }
    }

    #[test]
    fn the_stock_kubelet_has_no_gate() {
        assert!(!kubelet(&plan(BackOff::Stock)).contains("featureGates"));
        assert!(kubelet(&plan(BackOff::Quick)).contains("maxContainerRestartPeriod: 2s"));
    }

    #[test]
    fn only_one_class_is_the_default() {
        assert_eq!(classes().matches(r#"is-default-class: "true""#).count(), 1);
    }
}

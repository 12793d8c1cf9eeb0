package provisioner

import (
	"context"
	"errors"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// Sources looks up what a claim is to be filled with.
type Sources struct {
	Driver  string
	Kube    kubernetes.Interface
	Dynamic dynamic.Interface
}

var (
	snapshots = schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshots"}
	contents  = schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotcontents"}
)

// Of is the source of a claim; nil for an empty volume. The refusals are those of the CSI's own provisioner.
func (s Sources) Of(ctx context.Context, claim *core.PersistentVolumeClaim) (*csi.VolumeContentSource, error) {
	from := claim.Spec.DataSource
	if from == nil {
		return nil, nil
	}
	switch from.Kind {
	case "VolumeSnapshot":
		return s.snapshot(ctx, claim, from.Name)
	case "PersistentVolumeClaim":
		return s.volume(ctx, claim.Namespace, from.Name)
	default:
		return nil, fmt.Errorf("a volume cannot be made from a %s", from.Kind)
	}
}

func (s Sources) snapshot(ctx context.Context, claim *core.PersistentVolumeClaim, name string) (*csi.VolumeContentSource, error) {
	snapshot, err := s.Dynamic.Resource(snapshots).Namespace(claim.Namespace).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return nil, err
	}
	bound := text(snapshot, "status", "boundVolumeSnapshotContentName")
	if bound == "" {
		return nil, fmt.Errorf("snapshot %s is not bound to a content", name)
	}
	content, err := s.Dynamic.Resource(contents).Get(ctx, bound, meta.GetOptions{})
	if err != nil {
		return nil, err
	}
	if text(content, "spec", "volumeSnapshotRef", "uid") != string(snapshot.GetUID()) {
		return nil, fmt.Errorf("content %s is bound to another snapshot than %s", bound, name)
	}
	if driver := text(content, "spec", "driver"); driver != s.Driver {
		return nil, fmt.Errorf("snapshot %s is of driver %s", name, driver)
	}
	if ready, _, _ := unstructured.NestedBool(content.Object, "status", "readyToUse"); !ready {
		return nil, fmt.Errorf("snapshot %s is not Ready", name)
	}
	size, told, _ := unstructured.NestedInt64(content.Object, "status", "restoreSize")
	if asked := claim.Spec.Resources.Requests[core.ResourceStorage]; told && asked.Value() < size {
		return nil, fmt.Errorf("requested volume size %d is less than the size %d for the source snapshot %s", asked.Value(), size, name)
	}
	handle := text(content, "status", "snapshotHandle")
	return &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{
		Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: handle},
	}}, nil
}

func (s Sources) volume(ctx context.Context, namespace, name string) (*csi.VolumeContentSource, error) {
	claim, err := s.Kube.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return nil, err
	}
	if claim.Status.Phase != core.ClaimBound {
		return nil, fmt.Errorf("claim %s is not bound", name)
	}
	volume, err := s.Kube.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, meta.GetOptions{})
	if err != nil {
		return nil, err
	}
	owner := volume.Spec.ClaimRef
	if volume.Spec.CSI == nil || volume.Spec.CSI.Driver != s.Driver || owner == nil || owner.UID != claim.UID {
		return nil, errors.New("the volume of the claim is of another driver, or bound to another claim")
	}
	return &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Volume{
		Volume: &csi.VolumeContentSource_VolumeSource{VolumeId: volume.Spec.CSI.VolumeHandle},
	}}, nil
}

func text(object *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(object.Object, path...)
	return value
}

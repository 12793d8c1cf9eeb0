// Package provisioner makes a PersistentVolume for a claim by asking a CSI driver: what the CSI's own provisioner does, without
// topology and secrets.
package provisioner

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// Provisioner asks one driver.
type Provisioner struct {
	Driver  string
	CSI     csi.ControllerClient
	Sources Sources
}

// Provision makes the volume of a claim.
func (p *Provisioner) Provision(ctx context.Context, options controller.ProvisionOptions) (*core.PersistentVolume, controller.ProvisioningState, error) {
	source, err := p.Sources.Of(ctx, options.PVC)
	if err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	size := options.PVC.Spec.Resources.Requests[core.ResourceStorage]
	asked := &csi.CreateVolumeRequest{
		Name: options.PVName, Parameters: options.StorageClass.Parameters, VolumeContentSource: source,
		CapacityRange: &csi.CapacityRange{RequiredBytes: size.Value()},
	}
	for _, mode := range options.PVC.Spec.AccessModes {
		asked.VolumeCapabilities = append(asked.VolumeCapabilities, &csi.VolumeCapability{
			AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
			AccessMode: &csi.VolumeCapability_AccessMode{Mode: accessMode(mode)},
		})
	}
	made, err := p.CSI.CreateVolume(ctx, asked)
	if err != nil {
		// The driver may have begun; the next try has the same name.
		return nil, controller.ProvisioningInBackground, err
	}
	return p.persistent(options, made.Volume), controller.ProvisioningFinished, nil
}

func (p *Provisioner) persistent(options controller.ProvisionOptions, made *csi.Volume) *core.PersistentVolume {
	return &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{Name: options.PVName},
		Spec: core.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *options.StorageClass.ReclaimPolicy,
			AccessModes:                   options.PVC.Spec.AccessModes,
			MountOptions:                  options.StorageClass.MountOptions,
			Capacity:                      core.ResourceList{core.ResourceStorage: *resource.NewQuantity(made.CapacityBytes, resource.BinarySI)},
			VolumeAttributesClassName:     options.PVC.Spec.VolumeAttributesClassName,
			PersistentVolumeSource: core.PersistentVolumeSource{CSI: &core.CSIPersistentVolumeSource{
				Driver: p.Driver, VolumeHandle: made.VolumeId, VolumeAttributes: made.VolumeContext,
			}},
		},
	}
}

// Delete removes the volume behind a PersistentVolume that nobody claims any more.
func (p *Provisioner) Delete(ctx context.Context, volume *core.PersistentVolume) error {
	if volume.Spec.CSI == nil || volume.Spec.CSI.Driver != p.Driver {
		return &controller.IgnoredError{Reason: "it is of another driver"}
	}
	_, err := p.CSI.DeleteVolume(ctx, &csi.DeleteVolumeRequest{VolumeId: volume.Spec.CSI.VolumeHandle})
	return err
}

func accessMode(mode core.PersistentVolumeAccessMode) csi.VolumeCapability_AccessMode_Mode {
	switch mode {
	case core.ReadWriteMany:
		return csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
	case core.ReadOnlyMany:
		return csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY
	default:
		return csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER
	}
}

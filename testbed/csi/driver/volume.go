package driver

import (
	"context"
	"errors"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"loopbreaker.dev/testbed/csi/volumes"
)

// Names are kept in file names.
const longestName = 128

// A volume for which no size is asked has this one.
const smallest = 1 << 20

func (d *Driver) CreateVolume(_ context.Context, asked *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	switch {
	case asked.Name == "":
		return nil, missing("a name")
	case len(asked.Name) > longestName:
		return nil, status.Errorf(codes.InvalidArgument, "the name has more than %d characters", longestName)
	case len(asked.VolumeCapabilities) == 0:
		return nil, missing("a capability")
	}
	for _, capability := range asked.VolumeCapabilities {
		if capability.GetBlock() != nil {
			return nil, status.Error(codes.InvalidArgument, "volumes are directories, not block devices")
		}
	}
	source, from, err := d.source(asked.VolumeContentSource)
	if err != nil {
		return nil, err
	}
	least, most := asked.CapacityRange.GetRequiredBytes(), asked.CapacityRange.GetLimitBytes()
	if asked.VolumeContentSource.GetSnapshot() != nil && least > 0 && least < source.Size && !source.Odd.NoSize {
		return nil, status.Errorf(codes.OutOfRange, "%d bytes are asked for, the snapshot has %d", least, source.Size)
	}
	size := max(least, source.Size, smallest)
	if most > 0 && size > most {
		return nil, status.Errorf(codes.OutOfRange, "%d bytes are needed, the limit is %d", size, most)
	}
	wanted := volumes.Record{Name: asked.Name, Source: source.ID, Size: size, Created: time.Now()}
	record, err := d.Store.Make(volumes.Volume, wanted, from, func(there *volumes.Record) bool {
		return there.Source == source.ID && there.Size >= least && (most == 0 || there.Size <= most)
	})
	if err != nil {
		return nil, failure(err)
	}
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{
		VolumeId: record.ID, CapacityBytes: record.Size, ContentSource: asked.VolumeContentSource,
	}}, nil
}

// source is the record and the directory that a new volume is copied from; zero ones for an empty volume.
func (d *Driver) source(asked *csi.VolumeContentSource) (volumes.Record, string, error) {
	kind, id := volumes.Kind(""), ""
	if snapshot := asked.GetSnapshot(); snapshot != nil {
		kind, id = volumes.Snapshot, snapshot.SnapshotId
	} else if volume := asked.GetVolume(); volume != nil {
		kind, id = volumes.Volume, volume.VolumeId
	} else {
		return volumes.Record{}, "", nil
	}
	record := d.Store.Find(kind, id)
	if record == nil {
		return volumes.Record{}, "", status.Errorf(codes.NotFound, "there is no %q among the %s", id, kind)
	}
	return *record, d.Store.Path(kind, id), nil
}

func (d *Driver) DeleteVolume(_ context.Context, asked *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	if asked.VolumeId == "" {
		return nil, missing("a volume ID")
	}
	if err := d.Store.Remove(volumes.Volume, asked.VolumeId); err != nil {
		return nil, failure(err)
	}
	return &csi.DeleteVolumeResponse{}, nil
}

func (d *Driver) ValidateVolumeCapabilities(_ context.Context, asked *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	switch {
	case asked.VolumeId == "":
		return nil, missing("a volume ID")
	case len(asked.VolumeCapabilities) == 0:
		return nil, missing("a capability")
	case d.Store.Find(volumes.Volume, asked.VolumeId) == nil:
		return nil, status.Errorf(codes.NotFound, "there is no volume %q", asked.VolumeId)
	}
	return &csi.ValidateVolumeCapabilitiesResponse{
		Confirmed: &csi.ValidateVolumeCapabilitiesResponse_Confirmed{VolumeCapabilities: asked.VolumeCapabilities},
	}, nil
}

// failure is a store's error with the code that the specification gives it.
func failure(err error) error {
	if errors.Is(err, volumes.ErrInUse) {
		return status.Error(codes.AlreadyExists, err.Error())
	}
	return status.Error(codes.Internal, err.Error())
}

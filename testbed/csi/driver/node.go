package driver

import (
	"context"
	"os"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"loopbreaker.dev/testbed/csi/volumes"
)

func (d *Driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: d.Node}, nil
}

func (d *Driver) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	stats := &csi.NodeServiceCapability_RPC{Type: csi.NodeServiceCapability_RPC_GET_VOLUME_STATS}
	return &csi.NodeGetCapabilitiesResponse{Capabilities: []*csi.NodeServiceCapability{
		{Type: &csi.NodeServiceCapability_Rpc{Rpc: stats}},
	}}, nil
}

func (d *Driver) NodePublishVolume(_ context.Context, asked *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	switch {
	case asked.VolumeId == "":
		return nil, missing("a volume ID")
	case asked.TargetPath == "":
		return nil, missing("a target path")
	case asked.VolumeCapability == nil:
		return nil, missing("a capability")
	case d.Store.Find(volumes.Volume, asked.VolumeId) == nil:
		return nil, status.Errorf(codes.NotFound, "there is no volume %q", asked.VolumeId)
	case mounted(asked.TargetPath):
		return &csi.NodePublishVolumeResponse{}, nil
	}
	if err := os.MkdirAll(asked.TargetPath, 0o750); err != nil {
		return nil, failure(err)
	}
	if err := unix.Mount(d.Store.Path(volumes.Volume, asked.VolumeId), asked.TargetPath, "", unix.MS_BIND, ""); err != nil {
		return nil, failure(err)
	}
	if asked.Readonly {
		// A bind mount takes this flag only when it is mounted once more.
		if err := unix.Mount("", asked.TargetPath, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			return nil, failure(err)
		}
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

func (d *Driver) NodeUnpublishVolume(_ context.Context, asked *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	switch {
	case asked.VolumeId == "":
		return nil, missing("a volume ID")
	case asked.TargetPath == "":
		return nil, missing("a target path")
	}
	for mounted(asked.TargetPath) {
		if err := unix.Unmount(asked.TargetPath, 0); err != nil {
			return nil, failure(err)
		}
	}
	if err := os.Remove(asked.TargetPath); err != nil && !os.IsNotExist(err) {
		return nil, failure(err)
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

func (d *Driver) NodeGetVolumeStats(_ context.Context, asked *csi.NodeGetVolumeStatsRequest) (*csi.NodeGetVolumeStatsResponse, error) {
	switch {
	case asked.VolumeId == "":
		return nil, missing("a volume ID")
	case asked.VolumePath == "":
		return nil, missing("a path")
	case d.Store.Find(volumes.Volume, asked.VolumeId) == nil:
		return nil, status.Errorf(codes.NotFound, "there is no volume %q", asked.VolumeId)
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(asked.VolumePath, &stat); err != nil {
		return nil, status.Error(codes.NotFound, err.Error())
	}
	block := int64(stat.Bsize)
	return &csi.NodeGetVolumeStatsResponse{Usage: []*csi.VolumeUsage{
		{
			Unit: csi.VolumeUsage_BYTES, Total: int64(stat.Blocks) * block, Available: int64(stat.Bavail) * block,
			Used: int64(stat.Blocks-stat.Bfree) * block,
		},
		{
			Unit: csi.VolumeUsage_INODES, Total: int64(stat.Files), Available: int64(stat.Ffree),
			Used: int64(stat.Files - stat.Ffree),
		},
	}}, nil
}

// mounted says whether something is mounted at a path.
func mounted(path string) bool {
	mounts, err := os.ReadFile("/proc/self/mounts")
	return err == nil && strings.Contains(string(mounts), " "+path+" ")
}

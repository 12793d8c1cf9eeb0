package driver

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"loopbreaker.dev/testbed/csi/volumes"
)

func opened(t *testing.T) *Driver {
	t.Helper()
	store, err := volumes.Open(t.TempDir(), volumes.Writers{})
	if err != nil {
		t.Fatal(err)
	}
	return &Driver{Name: "test", Node: "node", Store: store}
}

func volume(t *testing.T, d *Driver, name string, source *csi.VolumeContentSource, bytes int64) string {
	t.Helper()
	made, err := d.CreateVolume(context.Background(), &csi.CreateVolumeRequest{
		Name: name, VolumeContentSource: source, CapacityRange: &csi.CapacityRange{RequiredBytes: bytes},
		VolumeCapabilities: []*csi.VolumeCapability{{AccessType: &csi.VolumeCapability_Mount{}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.Volume.VolumeId
}

func taken(d *Driver, source string, parameters map[string]string) (*csi.Snapshot, error) {
	made, err := d.CreateSnapshot(context.Background(), &csi.CreateSnapshotRequest{Name: "s", SourceVolumeId: source, Parameters: parameters})
	return made.GetSnapshot(), err
}

func TestARestoredVolumeHasWhatTheSnapshotHad(t *testing.T) {
	d := opened(t)
	first := volume(t, d, "a", nil, 1<<30)
	file := filepath.Join(d.Store.Path(volumes.Volume, first), "height")
	if err := os.WriteFile(file, []byte("7"), 0o600); err != nil {
		t.Fatal(err)
	}
	snapshot, err := taken(d, first, nil)
	if err != nil || !snapshot.ReadyToUse || snapshot.SizeBytes != 1<<30 {
		t.Fatal(snapshot, err)
	}
	if err := os.WriteFile(file, []byte("8"), 0o600); err != nil {
		t.Fatal(err)
	}
	source := &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{
		Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: snapshot.SnapshotId},
	}}
	second := volume(t, d, "b", source, 2<<30)
	text, err := os.ReadFile(filepath.Join(d.Store.Path(volumes.Volume, second), "height"))
	if err != nil || string(text) != "7" {
		t.Fatalf("%q %v", text, err)
	}
}

func TestOddSnapshotClasses(t *testing.T) {
	for name, row := range map[string]struct {
		parameters map[string]string
		right      func(*csi.Snapshot, error) bool
	}{
		"never ready": {map[string]string{"neverReady": "true"}, func(s *csi.Snapshot, err error) bool { return err == nil && !s.ReadyToUse }},
		"late":        {map[string]string{"readyAfter": "1h"}, func(s *csi.Snapshot, err error) bool { return err == nil && !s.ReadyToUse }},
		"no size":     {map[string]string{"size": "0"}, func(s *csi.Snapshot, err error) bool { return err == nil && s.ReadyToUse && s.SizeBytes == 0 }},
		"fails":       {map[string]string{"fail": "on purpose"}, func(_ *csi.Snapshot, err error) bool { return status.Convert(err).Message() == "on purpose" }},
		"bad time":    {map[string]string{"readyAfter": "soon"}, func(_ *csi.Snapshot, err error) bool { return status.Code(err) == codes.InvalidArgument }},
	} {
		t.Run(name, func(t *testing.T) {
			d := opened(t)
			if snapshot, err := taken(d, volume(t, d, "a", nil, 1<<20), row.parameters); !row.right(snapshot, err) {
				t.Fatal(snapshot, err)
			}
		})
	}
}

func TestALateSnapshotBecomesReady(t *testing.T) {
	d := opened(t)
	source := volume(t, d, "a", nil, 1<<20)
	parameters := map[string]string{"readyAfter": "20ms"}
	first, err := taken(d, source, parameters)
	if err != nil || first.ReadyToUse {
		t.Fatal(first, err)
	}
	time.Sleep(30 * time.Millisecond)
	again, err := taken(d, source, parameters)
	if err != nil || !again.ReadyToUse || again.SnapshotId != first.SnapshotId {
		t.Fatal(again, err)
	}
}

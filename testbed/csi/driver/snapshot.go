package driver

import (
	"context"
	"strconv"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"loopbreaker.dev/testbed/csi/volumes"
)

// Parameters of a VolumeSnapshotClass that make its snapshots those of a slow or odd driver.
const (
	neverReady = "neverReady" // "true": the snapshot stays unready
	readyAfter = "readyAfter" // a duration: it becomes ready later
	size       = "size"       // "0": it says nothing about its size
	fail       = "fail"       // a message: taking it fails
)

func (d *Driver) CreateSnapshot(_ context.Context, asked *csi.CreateSnapshotRequest) (*csi.CreateSnapshotResponse, error) {
	switch {
	case asked.Name == "":
		return nil, missing("a name")
	case len(asked.Name) > longestName:
		return nil, status.Errorf(codes.InvalidArgument, "the name has more than %d characters", longestName)
	case asked.SourceVolumeId == "":
		return nil, missing("a source volume")
	case asked.Parameters[fail] != "":
		return nil, status.Error(codes.Internal, asked.Parameters[fail])
	}
	odd := volumes.Oddities{NeverReady: asked.Parameters[neverReady] == "true", NoSize: asked.Parameters[size] == "0"}
	if text := asked.Parameters[readyAfter]; text != "" {
		wait, err := time.ParseDuration(text)
		if err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "%s: %v", readyAfter, err)
		}
		odd.ReadyAt = time.Now().Add(wait)
	}
	volume := d.Store.Find(volumes.Volume, asked.SourceVolumeId)
	wanted := volumes.Record{Name: asked.Name, Source: asked.SourceVolumeId, Created: time.Now(), Odd: odd}
	if volume == nil {
		return nil, status.Errorf(codes.NotFound, "there is no volume %q", asked.SourceVolumeId)
	}
	wanted.Size = volume.Size
	record, err := d.Store.Make(volumes.Snapshot, wanted, d.Store.Path(volumes.Volume, volume.ID),
		func(there *volumes.Record) bool { return there.Source == asked.SourceVolumeId })
	if err != nil {
		return nil, failure(err)
	}
	return &csi.CreateSnapshotResponse{Snapshot: told(record)}, nil
}

func (d *Driver) DeleteSnapshot(_ context.Context, asked *csi.DeleteSnapshotRequest) (*csi.DeleteSnapshotResponse, error) {
	if asked.SnapshotId == "" {
		return nil, missing("a snapshot ID")
	}
	if err := d.Store.Remove(volumes.Snapshot, asked.SnapshotId); err != nil {
		return nil, failure(err)
	}
	return &csi.DeleteSnapshotResponse{}, nil
}

func (d *Driver) ListSnapshots(_ context.Context, asked *csi.ListSnapshotsRequest) (*csi.ListSnapshotsResponse, error) {
	var found []*csi.ListSnapshotsResponse_Entry
	for _, record := range d.Store.All(volumes.Snapshot) {
		if (asked.SnapshotId == "" || asked.SnapshotId == record.ID) &&
			(asked.SourceVolumeId == "" || asked.SourceVolumeId == record.Source) {
			found = append(found, &csi.ListSnapshotsResponse_Entry{Snapshot: told(record)})
		}
	}
	first := 0
	if asked.StartingToken != "" {
		number, err := strconv.Atoi(asked.StartingToken)
		if err != nil || number < 0 || number > len(found) {
			return nil, status.Errorf(codes.Aborted, "no list was broken off at %q", asked.StartingToken)
		}
		first = number
	}
	answer := &csi.ListSnapshotsResponse{Entries: found[first:]}
	if most := int(asked.MaxEntries); most > 0 && most < len(answer.Entries) {
		answer.Entries = answer.Entries[:most]
		answer.NextToken = strconv.Itoa(first + most)
	}
	return answer, nil
}

// told is what the CSI says of a snapshot.
func told(record *volumes.Record) *csi.Snapshot {
	snapshot := &csi.Snapshot{
		SnapshotId: record.ID, SourceVolumeId: record.Source, SizeBytes: record.Size,
		CreationTime: timestamppb.New(record.Created), ReadyToUse: record.Ready(time.Now()),
	}
	if record.Odd.NoSize {
		snapshot.SizeBytes = 0
	}
	return snapshot
}

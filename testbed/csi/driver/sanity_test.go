package driver

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubernetes-csi/csi-test/v5/pkg/sanity"
	"google.golang.org/grpc"

	"loopbreaker.dev/testbed/csi/volumes"
)

// The suite of the CSI project. It mounts, so it needs root.
func TestSanity(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("publishing a volume mounts it: run as root")
	}
	folder := t.TempDir()
	store, err := volumes.Open(filepath.Join(folder, "store"), volumes.Writers{})
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "csi.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	(&Driver{Name: "sanity.test", Node: "node", Store: store}).Register(server)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	config := sanity.NewTestConfig()
	config.Address = "unix://" + socket
	config.TargetPath = filepath.Join(folder, "target")
	config.StagingPath = filepath.Join(folder, "staging")
	sanity.Test(t, config)
}

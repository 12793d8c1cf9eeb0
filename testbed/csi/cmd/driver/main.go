// driver serves the CSI on one socket, and registers itself with the kubelet on another.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"loopbreaker.dev/testbed/csi/driver"
	"loopbreaker.dev/testbed/csi/volumes"
)

// plugin is what the kubelet asks a driver that it finds.
type plugin struct {
	registration.UnimplementedRegistrationServer
	name, endpoint string
}

func (p plugin) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{
		Type: registration.CSIPlugin, Name: p.name, Endpoint: p.endpoint, SupportedVersions: []string{"1.0.0"},
	}, nil
}

func (p plugin) NotifyRegistrationStatus(_ context.Context, told *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	log.Printf("registered: %v %s", told.PluginRegistered, told.Error)
	return &registration.RegistrationStatusResponse{}, nil
}

func main() {
	name := flag.String("name", "", "name of the driver")
	node := flag.String("node", "", "name of the node")
	root := flag.String("root", "", "folder of volumes and snapshots")
	pods := flag.String("pod-cgroups", "", "folder of the kubelet's cgroups for pods; empty: writers run on while they are copied")
	socket := flag.String("socket", "", "socket of the CSI")
	kubelet := flag.String("registration", "", "socket in the kubelet's plugins_registry")
	flag.Parse()
	store, err := volumes.Open(*root, volumes.Writers{Cgroups: *pods})
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(noted))
	(&driver.Driver{Name: *name, Node: *node, Store: store}).Register(server)
	if *kubelet != "" {
		registrar := grpc.NewServer()
		registration.RegisterRegistrationServer(registrar, plugin{name: *name, endpoint: *socket})
		go func() { log.Fatal(registrar.Serve(listen(*kubelet))) }()
	}
	log.Fatal(server.Serve(listen(*socket)))
}

// noted writes down every call but the frequent ones that change nothing.
func noted(ctx context.Context, asked any, info *grpc.UnaryServerInfo, answer grpc.UnaryHandler) (any, error) {
	given, err := answer(ctx, asked)
	switch filepath.Base(info.FullMethod) {
	case "Probe", "NodeGetVolumeStats", "NodeGetCapabilities", "ControllerGetCapabilities":
	default:
		log.Printf("%s %v: %v %v", info.FullMethod, asked, given, err)
	}
	return given, err
}

// listen opens a socket, over one that an earlier run left.
func listen(path string) net.Listener {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		log.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		log.Fatal(err)
	}
	return listener
}

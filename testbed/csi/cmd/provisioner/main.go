// provisioner makes PersistentVolumes for claims, and removes them, through the CSI socket of one driver.
package main

import (
	"context"
	"flag"
	"log"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"

	"loopbreaker.dev/testbed/csi/provisioner"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	socket := flag.String("socket", "", "socket of the CSI")
	name := flag.String("name", "", "name of the driver")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	config.QPS, config.Burst = 50, 100
	connection, err := grpc.NewClient("unix://"+*socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	kube := kubernetes.NewForConfigOrDie(config)
	asks := &provisioner.Provisioner{
		Driver: *name, CSI: csi.NewControllerClient(connection),
		Sources: provisioner.Sources{Driver: *name, Kube: kube, Dynamic: dynamic.NewForConfigOrDie(config)},
	}
	ctx := context.Background()
	controller.NewProvisionController(ctx, kube, *name, asks,
		controller.LeaderElection(false),
		controller.FailedProvisionThreshold(0), // never gives up
		controller.ResyncPeriod(time.Minute),
	).Run(ctx)
}

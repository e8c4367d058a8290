// Karpenter's core with the instances of a sandbox: what launches is a record that the sandbox turns into a Node.
//
// Scheduling, limits, disruption, drains and their messages are those of sigs.k8s.io/karpenter. The provider here takes
// the place of karpenter-provider-aws, for the same NodePools, NodeOverlays and EC2NodeClasses.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

const (
	core = "sigs.k8s.io/karpenter"
	// catalogs is the folder of what EC2 sells, controlPath the file in which a user refuses capacity.
	catalogs    = "SLIPWAY_EC2_CATALOGS"
	controlPath = "SLIPWAY_EC2_CONTROL"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(coreVersion())
		return
	}
	listenOnLoopback()
	ctx, op := operator.NewOperator()
	ec2 := NewEC2(&Catalogs{Directory: os.Getenv(catalogs)}, Control{Path: os.Getenv(controlPath)}, op.Clock)
	provider := NewProvider(op.GetClient(), ec2, op.InstanceTypeStore, op.EventRecorder)
	decorated := overlay.Decorate(provider, op.GetClient(), op.InstanceTypeStore)
	cluster := state.NewCluster(op.Clock, op.GetClient(), decorated)
	op.
		WithControllers(ctx, controllers.NewControllers(
			ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder, decorated, provider, cluster, op.InstanceTypeStore,
		)...).
		WithControllers(ctx, NewNodeClassController(op.GetClient(), op.EventRecorder), NewInterruptionController(op.GetClient(), ec2, op.EventRecorder)).
		Start(ctx)
}

// listenOnLoopback keeps the ports of metrics and health checks on this machine: the operator's options have ports only,
// which it opens on every interface (pkg/operator/operator.go, v1.14.1).
func listenOnLoopback() {
	ctrl.NewManager = func(config *rest.Config, options manager.Options) (manager.Manager, error) {
		options.Metrics.BindAddress = "127.0.0.1" + options.Metrics.BindAddress
		options.HealthProbeBindAddress = "127.0.0.1" + options.HealthProbeBindAddress
		return manager.New(config, options)
	}
}

func coreVersion() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == core {
			return module.Version
		}
	}
	return "unknown"
}

// Command mpi-operator runs the controller of Kubeflow's MPI Operator beside a cluster of the sandbox. Upstream's own
// command answers health checks on port 8080 of every interface; this one listens on the given address, and has no rivals
// to elect a leader among.
package main

import (
	"context"
	"flag"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app/options"
	jobs "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned"
	jobscheme "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/scheme"
	jobinformers "github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	plugins "sigs.k8s.io/scheduler-plugins/pkg/generated/clientset/versioned"
	volcano "volcano.sh/apis/pkg/client/clientset/versioned"
)

func main() {
	opts := options.NewServerOption()
	opts.AddFlags(flag.CommandLine)
	health := flag.String("health", "", "host and port of the health endpoint, on loopback")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, opts, *health); err != nil {
		klog.Fatal(err)
	}
}

func run(ctx context.Context, opts *options.ServerOption, health string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS, config.Burst = float32(opts.QPS), opts.Burst
	if err := jobscheme.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	mpi, err := jobs.NewForConfig(config)
	if err != nil {
		return err
	}
	gangs, groups, err := schedulers(config, opts.GangSchedulingName)
	if err != nil {
		return err
	}
	cluster := informers.NewSharedInformerFactory(core, 0)
	kubeflow := jobinformers.NewSharedInformerFactory(mpi, 0)
	operator, err := controller.NewMPIJobController(
		ctx, core, mpi, gangs, groups,
		cluster.Core().V1().ConfigMaps(), cluster.Core().V1().Secrets(), cluster.Core().V1().Services(),
		cluster.Batch().V1().Jobs(), cluster.Core().V1().Pods(), cluster.Scheduling().V1().PriorityClasses(),
		kubeflow.Kubeflow().V2beta1().MPIJobs(), opts,
	)
	if err != nil {
		return err
	}
	cluster.Start(ctx.Done())
	kubeflow.Start(ctx.Done())
	if operator.PodGroupCtrl != nil {
		operator.PodGroupCtrl.StartInformerFactory(ctx.Done())
	}
	failed := make(chan error, 1)
	go func() { failed <- http.ListenAndServe(health, answering()) }()
	go func() { failed <- operator.Run(opts.Threadiness, ctx.Done()) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// schedulers returns the client of the gang scheduler, of two kinds of which one is named.
func schedulers(config *rest.Config, name string) (volcano.Interface, plugins.Interface, error) {
	switch name {
	case "":
		return nil, nil, nil
	case options.GangSchedulerVolcano:
		clients, err := volcano.NewForConfig(config)
		return clients, nil, err
	default:
		clients, err := plugins.NewForConfig(config)
		return nil, clients, err
	}
}

func answering() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(answer http.ResponseWriter, _ *http.Request) { answer.WriteHeader(http.StatusOK) })
	return mux
}

// Command argo runs the workflow controller of Argo Workflows beside a cluster of the sandbox. Upstream's own command
// answers health checks on port 6060 and metrics on 9090 of every interface; this one listens on the given address, and has
// no rivals to elect a leader among.
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	clients "github.com/argoproj/argo-workflows/v4/pkg/client/clientset/versioned"
	"github.com/argoproj/argo-workflows/v4/util/logging"
	"github.com/argoproj/argo-workflows/v4/workflow/common"
	"github.com/argoproj/argo-workflows/v4/workflow/controller"
	"github.com/argoproj/argo-workflows/v4/workflow/metrics"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	health := flag.String("health", "", "host and port of the health endpoint, on loopback")
	configuration := flag.String("configmap", common.ConfigMapName, "ConfigMap with the configuration")
	image := flag.String("executor-image", "", "image of the containers init and wait of each step")
	pull := flag.String("executor-image-pull-policy", "", "when that image is pulled")
	level := flag.String("loglevel", "info", "level of the log")
	format := flag.String("log-format", "text", "format of the log")
	_ = flag.String("gloglevel", "0", "level of the client's log, which is not written here")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, *health, *configuration, *image, *pull, *level, *format); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, health, configuration, image, pull, level, format string) error {
	least, err := logging.ParseLevel(level)
	if err != nil {
		return err
	}
	kind, err := logging.TypeFromString(format)
	if err != nil {
		return err
	}
	logger := logging.NewSlogLogger(least, kind)
	ctx = logging.WithLogger(ctx, logger)
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 20, 30
	metrics.AddMetricsTransportWrapper(ctx, config)
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	workflows, err := clients.NewForConfig(config)
	if err != nil {
		return err
	}
	argo, err := controller.NewWorkflowController(
		ctx, config, core, workflows, os.Getenv("ARGO_NAMESPACE"), "", image, pull, format, configuration, false,
	)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/healthz", controller.LogMiddleware(logger, http.HandlerFunc(argo.Healthz)))
	failed := make(chan error, 1)
	go func() { failed <- http.ListenAndServe(health, mux) }()
	// The numbers of workers are upstream's.
	go argo.Run(ctx, 32, 4, 4, 8, 8)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

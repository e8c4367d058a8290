// Command training-operator runs the controllers and webhooks of Kubeflow's training operator beside a cluster of the
// sandbox. Upstream's own command serves webhooks on every interface, with a certificate from a fixed folder; this one
// listens on loopback and takes the certificate from the temporary directory. It has no rivals to elect a leader among.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"

	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/config"
	controllers "github.com/kubeflow/training-operator/pkg/controller.v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"github.com/kubeflow/training-operator/pkg/webhooks"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	plugins "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	volcanoapi "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	volcano "volcano.sh/apis/pkg/client/clientset/versioned"
)

type options struct {
	health  string
	webhook int
	gang    string
	kinds   controllers.EnabledSchemes
}

func main() {
	var opts options
	flag.StringVar(&opts.health, "health-probe-bind-address", "", "host and port of the health endpoints, on loopback")
	flag.IntVar(&opts.webhook, "webhook-server-port", 0, "port of the webhooks, on loopback")
	flag.StringVar(&opts.gang, "gang-scheduler-name", "", "volcano, or the name of a scheduler with the plugins of SIG Scheduling")
	flag.Var(&opts.kinds, "enable-scheme", "a kind of job to serve; by default all")
	flag.Bool("leader-elect", false, "ignored")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler(), opts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, opts options) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgo.AddToScheme, kubeflow.AddToScheme, volcanoapi.AddToScheme, plugins.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	host, _, err := net.SplitHostPort(opts.health)
	if err != nil {
		return err
	}
	client, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(client, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metrics.Options{BindAddress: "0"},
		HealthProbeBindAddress: opts.health,
		WebhookServer:          webhook.NewServer(webhook.Options{Host: host, Port: opts.webhook}),
	})
	if err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("readyz", manager.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	if err := serve(manager, opts); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// serve registers the controller and the webhook of each kind.
func serve(manager ctrl.Manager, opts options) error {
	config.Config.PyTorchInitContainerImage = config.PyTorchInitContainerImageDefault
	config.Config.PyTorchInitContainerTemplateFile = config.PyTorchInitContainerTemplateFileDefault
	config.Config.PyTorchInitContainerMaxTries = config.PyTorchInitContainerMaxTriesDefault
	config.Config.MPIKubectlDeliveryImage = config.MPIKubectlDeliveryImageDefault
	gang := common.GenNonGangSchedulerSetupFunc()
	switch {
	case strings.EqualFold(opts.gang, string(common.GangSchedulerVolcano)):
		clients, err := volcano.NewForConfig(manager.GetConfig())
		if err != nil {
			return err
		}
		gang = common.GenVolcanoSetupFunc(clients)
	case opts.gang != "":
		gang = common.GenSchedulerPluginsSetupFunc(manager.GetClient(), opts.gang)
	}
	if opts.kinds.Empty() {
		opts.kinds.FillAll()
	}
	for _, kind := range opts.kinds {
		if err := controllers.SupportedSchemeReconciler[kind](manager, gang, 1); err != nil {
			return fmt.Errorf("controller of %s: %w", kind, err)
		}
		if err := webhooks.SupportedSchemeWebhook[kind](manager); err != nil {
			return fmt.Errorf("webhook of %s: %w", kind, err)
		}
	}
	return nil
}

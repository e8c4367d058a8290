// Command manager runs KServe's controllers and webhooks beside a cluster of the sandbox. Upstream's own command serves
// webhooks on every interface; this one listens on loopback. It has no rivals to elect a leader among.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/kserve/kserve/pkg/apis/serving/v1alpha1"
	"github.com/kserve/kserve/pkg/apis/serving/v1beta1"
	"github.com/kserve/kserve/pkg/controller/v1alpha1/inferencegraph"
	"github.com/kserve/kserve/pkg/controller/v1alpha1/trainedmodel"
	"github.com/kserve/kserve/pkg/controller/v1alpha1/trainedmodel/reconcilers/modelconfig"
	"github.com/kserve/kserve/pkg/controller/v1beta1/inferenceservice"
	"github.com/kserve/kserve/pkg/scheme"
	"github.com/kserve/kserve/pkg/webhook/admission/pod"
	"github.com/kserve/kserve/pkg/webhook/admission/servingruntime"
	core "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func main() {
	health := flag.String("health-probe-addr", "", "host and port of the health endpoints, on loopback")
	port := flag.Int("webhook-port", 0, "port of the webhooks, on loopback")
	flag.String("metrics-addr", "", "ignored")
	flag.Bool("leader-elect", false, "ignored")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler(), *health, *port); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, health string, port int) error {
	host, _, err := net.SplitHostPort(health)
	if err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	cached, err := inferenceservice.NewCacheOptions()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Cache:                  cached,
		Metrics:                metrics.Options{BindAddress: "0"},
		HealthProbeBindAddress: health,
		WebhookServer:          webhook.NewServer(webhook.Options{Host: host, Port: port}),
	})
	if err != nil {
		return err
	}
	if err := scheme.AddAll(manager.GetScheme()); err != nil {
		return err
	}
	if err := reconcile(ctx, manager, clients); err != nil {
		return err
	}
	if err := admit(manager, clients); err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("readyz", manager.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// reconcile registers the controllers, with the settings of KServe's ConfigMap.
func reconcile(ctx context.Context, manager ctrl.Manager, clients kubernetes.Interface) error {
	settings, err := v1beta1.GetInferenceServiceConfigMap(ctx, clients)
	if err != nil {
		return err
	}
	deploy, err := v1beta1.NewDeployConfig(settings)
	if err != nil {
		return err
	}
	ingress, err := v1beta1.NewIngressConfig(settings)
	if err != nil {
		return err
	}
	// Registers the GPU resources that the settings name.
	if _, err := v1beta1.NewMultiNodeConfig(settings); err != nil {
		return err
	}
	events := record.NewBroadcaster()
	events.StartRecordingToSink(&typed.EventSinkImpl{Interface: clients.CoreV1().Events("")})
	recorder := events.NewRecorder(manager.GetScheme(), core.EventSource{Component: "v1beta1Controllers"})
	services := &inferenceservice.InferenceServiceReconciler{
		Client: manager.GetClient(), Clientset: clients, Scheme: manager.GetScheme(), Recorder: recorder,
		Log: ctrl.Log.WithName("InferenceService"),
	}
	if err := services.SetupWithManager(manager, deploy, ingress); err != nil {
		return fmt.Errorf("controller of InferenceService: %w", err)
	}
	models := &trainedmodel.TrainedModelReconciler{
		Client: manager.GetClient(), Scheme: manager.GetScheme(), Recorder: recorder, Log: ctrl.Log.WithName("TrainedModel"),
		ModelConfigReconciler: modelconfig.NewModelConfigReconciler(manager.GetClient(), clients, manager.GetScheme()),
	}
	if err := models.SetupWithManager(manager); err != nil {
		return fmt.Errorf("controller of TrainedModel: %w", err)
	}
	graphs := &inferencegraph.InferenceGraphReconciler{
		Client: manager.GetClient(), Clientset: clients, Scheme: manager.GetScheme(), Recorder: recorder,
		Log: ctrl.Log.WithName("InferenceGraph"),
	}
	if err := graphs.SetupWithManager(manager, deploy); err != nil {
		return fmt.Errorf("controller of InferenceGraph: %w", err)
	}
	return nil
}

// admit registers the webhooks.
func admit(manager ctrl.Manager, clients kubernetes.Interface) error {
	decoder := admission.NewDecoder(manager.GetScheme())
	for path, handler := range map[string]admission.Handler{
		"/mutate-pods": &pod.Mutator{Client: manager.GetClient(), Clientset: clients, Decoder: decoder},
		"/validate-serving-kserve-io-v1alpha1-clusterservingruntime": &servingruntime.ClusterServingRuntimeValidator{
			Client: manager.GetClient(), Decoder: decoder,
		},
		"/validate-serving-kserve-io-v1alpha1-servingruntime": &servingruntime.ServingRuntimeValidator{
			Client: manager.GetClient(), Decoder: decoder,
		},
	} {
		manager.GetWebhookServer().Register(path, &webhook.Admission{Handler: handler})
	}
	model := ctrl.NewWebhookManagedBy(manager).For(&v1alpha1.TrainedModel{})
	if err := model.WithValidator(&v1alpha1.TrainedModelValidator{}).Complete(); err != nil {
		return fmt.Errorf("webhook of TrainedModel: %w", err)
	}
	graph := ctrl.NewWebhookManagedBy(manager).For(&v1alpha1.InferenceGraph{})
	if err := graph.WithValidator(&v1alpha1.InferenceGraphValidator{}).Complete(); err != nil {
		return fmt.Errorf("webhook of InferenceGraph: %w", err)
	}
	service := ctrl.NewWebhookManagedBy(manager).For(&v1beta1.InferenceService{})
	service = service.WithDefaulter(&v1beta1.InferenceServiceDefaulter{}).WithValidator(&v1beta1.InferenceServiceValidator{})
	if err := service.Complete(); err != nil {
		return fmt.Errorf("webhook of InferenceService: %w", err)
	}
	return nil
}

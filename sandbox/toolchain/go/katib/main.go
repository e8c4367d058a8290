// Command katib runs Katib's controllers and webhooks beside a cluster of the sandbox. Upstream's own command serves
// webhooks on every interface, with a certificate from a fixed folder; this one listens on loopback and takes the
// certificate from the temporary directory. It has no rivals to elect a leader among.
//
// No pod runs in the sandbox, so what the controllers ask of pods is answered here, on loopback: every algorithm by
// Katib's own service of Goptuna, which draws at random where it does not know an algorithm; early stopping by no rule;
// and the metrics of a trial by the annotation sandbox.slipway/metrics of its pods, such as accuracy=0.9. Without one a
// trial has printed none.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	config "github.com/kubeflow/katib/pkg/apis/config/v1beta1"
	apis "github.com/kubeflow/katib/pkg/apis/controller"
	trials "github.com/kubeflow/katib/pkg/apis/controller/trials/v1beta1"
	api "github.com/kubeflow/katib/pkg/apis/manager/v1beta1"
	"github.com/kubeflow/katib/pkg/controller.v1beta1"
	"github.com/kubeflow/katib/pkg/controller.v1beta1/consts"
	goptuna "github.com/kubeflow/katib/pkg/suggestion/v1beta1/goptuna"
	"github.com/kubeflow/katib/pkg/util/v1beta1/katibconfig"
	hooks "github.com/kubeflow/katib/pkg/webhook/v1beta1"
	"github.com/spf13/viper"
	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const (
	certificates = "cert"
	reported     = "sandbox.slipway/metrics"
	scheme       = "sandbox"
)

func main() {
	health := flag.String("health", "", "host and port of the health endpoints, on loopback")
	port := flag.Int("webhook-port", 0, "port of the webhooks, on loopback")
	file := flag.String("katib-config", "", "configuration file")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler(), *health, *port, *file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, health string, port int, file string) error {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apis.AddToScheme, config.AddToScheme, clientgo.AddToScheme} {
		if err := add(known); err != nil {
			return err
		}
	}
	if err := configure(known, file); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(health)
	if err != nil {
		return err
	}
	access, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(access, ctrl.Options{
		Scheme:                 known,
		Metrics:                metrics.Options{BindAddress: "0"},
		HealthProbeBindAddress: health,
	})
	if err != nil {
		return err
	}
	answers, err := client.New(access, client.Options{Scheme: known})
	if err != nil {
		return err
	}
	if err := answer(host, &pods{client: answers}); err != nil {
		return err
	}
	if err := controller.AddToManager(manager); err != nil {
		return err
	}
	served := webhook.NewServer(webhook.Options{
		Host: host, Port: port, CertDir: filepath.Join(os.TempDir(), certificates),
	})
	if err := hooks.AddToManager(manager, served); err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("readyz", served.StartedChecker()); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// configure reads what upstream's command reads of its configuration, but addresses.
func configure(known *runtime.Scheme, file string) error {
	read, err := katibconfig.GetInitConfigData(known, file)
	if err != nil {
		return err
	}
	kinds, err := katibconfig.TrialResourcesToGVKs(read.ControllerConfig.TrialResources)
	if err != nil {
		return err
	}
	viper.Set(consts.ConfigExperimentSuggestionName, read.ControllerConfig.ExperimentSuggestionName)
	viper.Set(consts.ConfigInjectSecurityContext, read.ControllerConfig.InjectSecurityContext)
	viper.Set(consts.ConfigEnableGRPCProbeInSuggestion, read.ControllerConfig.EnableGRPCProbeInSuggestion)
	viper.Set(consts.ConfigTrialResources, kinds)
	return nil
}

// answer serves what pods would, and sends every call of the controllers there.
func answer(host string, asked *pods) error {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	api.RegisterSuggestionServer(server, &algorithms{studies: map[string]*goptuna.SuggestionService{}})
	api.RegisterEarlyStoppingServer(server, stopping{})
	api.RegisterDBManagerServer(server, asked)
	resolver.Register(here(listener.Addr().String()))
	resolver.SetDefaultScheme(scheme)
	go func() {
		if err := server.Serve(listener); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return nil
}

// here resolves every name to one address.
type here string

func (h here) Build(
	_ resolver.Target, connection resolver.ClientConn, _ resolver.BuildOptions,
) (resolver.Resolver, error) {
	return h, connection.UpdateState(resolver.State{Addresses: []resolver.Address{{Addr: string(h)}}})
}

func (here) Scheme() string                        { return scheme }
func (here) ResolveNow(resolver.ResolveNowOptions) {}
func (here) Close()                                {}

// algorithms has a study for each Experiment, as each has a pod of its own on a cluster.
type algorithms struct {
	api.UnimplementedSuggestionServer
	lock    sync.Mutex
	studies map[string]*goptuna.SuggestionService
}

func (a *algorithms) of(name string) *goptuna.SuggestionService {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.studies[name] == nil {
		a.studies[name] = goptuna.NewSuggestionService()
	}
	return a.studies[name]
}

func (a *algorithms) GetSuggestions(
	ctx context.Context, request *api.GetSuggestionsRequest,
) (*api.GetSuggestionsReply, error) {
	return a.of(request.GetExperiment().GetName()).GetSuggestions(ctx, request)
}

func (a *algorithms) ValidateAlgorithmSettings(
	context.Context, *api.ValidateAlgorithmSettingsRequest,
) (*api.ValidateAlgorithmSettingsReply, error) {
	return &api.ValidateAlgorithmSettingsReply{}, nil
}

type stopping struct {
	api.UnimplementedEarlyStoppingServer
}

func (stopping) GetEarlyStoppingRules(
	context.Context, *api.GetEarlyStoppingRulesRequest,
) (*api.GetEarlyStoppingRulesReply, error) {
	return &api.GetEarlyStoppingRulesReply{}, nil
}

func (stopping) ValidateEarlyStoppingSettings(
	context.Context, *api.ValidateEarlyStoppingSettingsRequest,
) (*api.ValidateEarlyStoppingSettingsReply, error) {
	return &api.ValidateEarlyStoppingSettingsReply{}, nil
}

// pods answers for the metrics of trials.
type pods struct {
	api.UnimplementedDBManagerServer
	client client.Client
}

func (*pods) ReportObservationLog(
	context.Context, *api.ReportObservationLogRequest,
) (*api.ReportObservationLogReply, error) {
	return &api.ReportObservationLogReply{}, nil
}

func (*pods) DeleteObservationLog(
	context.Context, *api.DeleteObservationLogRequest,
) (*api.DeleteObservationLogReply, error) {
	return &api.DeleteObservationLogReply{}, nil
}

func (p *pods) GetObservationLog(
	ctx context.Context, request *api.GetObservationLogRequest,
) (*api.GetObservationLogReply, error) {
	// The controller may read trials, and each has what it makes.
	var found trials.TrialList
	if err := p.client.List(ctx, &found); err != nil {
		return nil, err
	}
	value := consts.UnavailableMetricValue
	for _, trial := range found.Items {
		if trial.Name != request.GetTrialName() || trial.Spec.RunSpec == nil {
			continue
		}
		if one, err := metric(annotation(trial.Spec.RunSpec.Object), request.GetMetricName()); err == nil {
			value = one
		}
	}
	log := &api.MetricLog{
		TimeStamp: time.Now().UTC().Format(time.RFC3339),
		Metric:    &api.Metric{Name: request.GetMetricName(), Value: value},
	}
	return &api.GetObservationLogReply{ObservationLog: &api.ObservationLog{MetricLogs: []*api.MetricLog{log}}}, nil
}

// annotation is the text of the annotation, wherever in a manifest it is; empty if it is nowhere.
func annotation(part any) string {
	switch part := part.(type) {
	case map[string]any:
		if text, ok := part[reported].(string); ok {
			return text
		}
		for _, each := range part {
			if text := annotation(each); text != "" {
				return text
			}
		}
	case []any:
		for _, each := range part {
			if text := annotation(each); text != "" {
				return text
			}
		}
	}
	return ""
}

// metric is the value of a name in a text such as accuracy=0.9,loss=0.1.
func metric(text, name string) (string, error) {
	for _, each := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(each), "=")
		if key == name {
			_, err := strconv.ParseFloat(value, 64)
			return value, err
		}
	}
	return "", errors.New("not reported")
}

// Command hpa says what Kubernetes' controller of HorizontalPodAutoscalers does over time: one autoscaler, one external
// metric whose value is given for each moment, and a Deployment whose pods are there as soon as they are wanted. The clock
// is that of a testing/synctest bubble, so that an hour takes a moment.
//
// It reads a JSON document from stdin, and writes a JSON list of [second, replicas], one for each change.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	typedautoscaling "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	listersautoscaling "k8s.io/client-go/listers/autoscaling/v2"
	listerscore "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

// Defaults of kube-controller-manager (pkg/controller/podautoscaler/config/v1alpha1/defaults.go).
const (
	resync         = 15 * time.Second
	downscale      = 5 * time.Minute
	tolerance      = 0.1
	initialization = 5 * time.Minute
	readiness      = 30 * time.Second
)

type input struct {
	Autoscaler autoscalingv2.HorizontalPodAutoscaler `json:"autoscaler"`
	// Value of the metric, all pods together, from each second on.
	Load    [][2]int64 `json:"load"`
	Seconds int64      `json:"seconds"`
}

// world is what the controller asks and tells: the metric, the scale of the Deployment, the autoscaler.
type world struct {
	metrics.MetricsClient
	typedautoscaling.HorizontalPodAutoscalerInterface
	in       *input
	start    time.Time
	replicas int32
	changes  [][2]int64
	scalers  *source.FakeControllerSource
}

func (w *world) second() int64 { return int64(time.Since(w.start) / time.Second) }

func (w *world) GetExternalMetric(string, string, labels.Selector) ([]int64, time.Time, error) {
	var value int64
	for _, step := range w.in.Load {
		if step[0] <= w.second() {
			value = step[1]
		}
	}
	return []int64{value * 1000}, time.Now(), nil
}

func (w *world) Scales(string) scale.ScaleInterface { return scaler{w} }

func (w *world) HorizontalPodAutoscalers(string) typedautoscaling.HorizontalPodAutoscalerInterface {
	return w
}

func (w *world) UpdateStatus(
	_ context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, _ metav1.UpdateOptions,
) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	w.scalers.Modify(hpa.DeepCopy())
	return hpa, nil
}

type scaler struct{ w *world }

func (s scaler) Get(_ context.Context, _ schema.GroupResource, name string, _ metav1.GetOptions) (*autoscalingv1.Scale, error) {
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.w.in.Autoscaler.Namespace},
		Spec:       autoscalingv1.ScaleSpec{Replicas: s.w.replicas},
		Status:     autoscalingv1.ScaleStatus{Replicas: s.w.replicas, Selector: "app=" + name},
	}, nil
}

func (s scaler) Update(_ context.Context, _ schema.GroupResource, wanted *autoscalingv1.Scale, _ metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	s.w.replicas = wanted.Spec.Replicas
	s.w.changes = append(s.w.changes, [2]int64{s.w.second(), int64(s.w.replicas)})
	return wanted, nil
}

func (s scaler) Patch(
	context.Context, schema.GroupVersionResource, string, types.PatchType, []byte, metav1.PatchOptions,
) (*autoscalingv1.Scale, error) {
	return nil, fmt.Errorf("not patched")
}

// events are not kept.
type events struct{ typedcore.EventInterface }

func (events) Events(string) typedcore.EventInterface                              { return events{} }
func (events) CreateWithEventNamespace(event *corev1.Event) (*corev1.Event, error) { return event, nil }
func (events) PatchWithEventNamespace(event *corev1.Event, _ []byte) (*corev1.Event, error) {
	return event, nil
}

type scalers struct{ cache.SharedIndexInformer }

func (s scalers) Informer() cache.SharedIndexInformer { return s.SharedIndexInformer }
func (s scalers) Lister() listersautoscaling.HorizontalPodAutoscalerLister {
	return listersautoscaling.NewHorizontalPodAutoscalerLister(s.GetIndexer())
}

type pods struct{ cache.SharedIndexInformer }

func (p pods) Informer() cache.SharedIndexInformer { return p.SharedIndexInformer }
func (p pods) Lister() listerscore.PodLister       { return listerscore.NewPodLister(p.GetIndexer()) }

func run(in *input) [][2]int64 {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	w := &world{in: in, start: time.Now(), scalers: source.NewFakeControllerSource()}
	w.replicas = *in.Autoscaler.Spec.MinReplicas
	w.changes = [][2]int64{{0, int64(w.replicas)}}
	w.scalers.Add(in.Autoscaler.DeepCopy())
	namespaces := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	autoscalers := scalers{cache.NewSharedIndexInformer(w.scalers, &autoscalingv2.HorizontalPodAutoscaler{}, 0, namespaces)}
	none := pods{cache.NewSharedIndexInformer(source.NewFakeControllerSource(), &corev1.Pod{}, 0, namespaces)}
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{apps})
	mapper.Add(apps.WithKind("Deployment"), meta.RESTScopeNamespace)
	controller := podautoscaler.NewHorizontalController(
		ctx, events{}, w, w, mapper, w, autoscalers, none, resync, downscale, tolerance, initialization, readiness)
	go autoscalers.Run(ctx.Done())
	go none.Run(ctx.Done())
	go controller.Run(ctx, 1)
	time.Sleep(time.Duration(in.Seconds) * time.Second)
	return w.changes
}

func main() {
	testing.Init()
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "hpa", F: func(t *testing.T) {
		synctest.Test(t, func(*testing.T) {
			if err := json.NewEncoder(os.Stdout).Encode(run(&in)); err != nil {
				panic(err)
			}
			os.Exit(0) // goroutines of upstream that never end would make the end of the bubble a failure
		})
	}}}, nil, nil)
}

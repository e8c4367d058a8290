package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	kueueconfig "sigs.k8s.io/kueue/pkg/config"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/metrics"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	preemptexpectations "sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/fairsharing"
	"sigs.k8s.io/kueue/pkg/util/routine"
	utiltas "sigs.k8s.io/kueue/pkg/util/tas"
	"sigs.k8s.io/kueue/pkg/util/wait"
	"sigs.k8s.io/kueue/pkg/util/waitforpodsready"
	"sigs.k8s.io/kueue/pkg/workload"
)

// One scheduling cycle. The method is not exported; the empty linkname.s lets the compiler accept the declaration.
//
//go:linkname schedule sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).schedule
func schedule(s *scheduler.Scheduler, ctx context.Context) wait.SpeedSignal

// What the workload reconciler needs of WaitForPodsReady; its type is not exported.
//
//go:linkname waitForPodsReady sigs.k8s.io/kueue/pkg/controller/core.waitForPodsReady
func waitForPodsReady(cfg *config.WaitForPodsReady) unsafe.Pointer

// requeuePeriod is that of Kueue's requeuer of inadmissible workloads (pkg/cache/queue/inadmissible_workloads.go).
const requeuePeriod = time.Second

// control is Kueue: its queues, caches, scheduler and workload reconciler, wired as in its cmd/kueue/main.go.
type control struct {
	ctx        context.Context
	store      *store
	queues     *qcache.Manager
	cache      *schdcache.Cache
	scheduler  *scheduler.Scheduler
	reconciler *core.WorkloadReconciler
	heaps      []*qcache.ClusterQueue
	// empty is the cache without any workload, for what could never be admitted; info is how requests are read for it.
	empty      *schdcache.Snapshot
	info       []workload.InfoOption
	quotaCheck config.QuotaCheckStrategy
	cycles     int
	// settled is what a cycle without any effect has left: until that changes, another one would have none either.
	settled   settled
	topology  bool
	nodes     int // changes of nodes and of what other pods use of them, for topology
	podsReady bool
}

// inline runs admissions in the cycle that decides on them, and not beside it.
type inline struct{}

func (inline) Run(f func()) { f() }

// gates answers from a table what a feature gate looks up in two maps, by version: 12 % of a replay of 10,000 jobs (2026-11-28).
// A gate is a constant, so that its name mostly stands in one place of memory.
type gates struct {
	featuregate.FeatureGate
	known [1024]struct {
		name    featuregate.Feature
		enabled bool
	}
}

func slot(name featuregate.Feature) uintptr {
	return uintptr(unsafe.Pointer(unsafe.StringData(string(name)))) * 0x9e3779b1 >> 16 % 1024
}

// fixGates is for the time after all gates are set.
func fixGates() {
	g := &gates{FeatureGate: utilfeature.DefaultFeatureGate}
	for name := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		place := &g.known[slot(name)]
		place.name, place.enabled = name, g.FeatureGate.Enabled(name)
	}
	utilfeature.DefaultFeatureGate = g
}

func (g *gates) Enabled(name featuregate.Feature) bool {
	if known := &g.known[slot(name)]; unsafe.StringData(string(known.name)) == unsafe.StringData(string(name)) && len(known.name) == len(name) {
		return known.enabled
	}
	return g.FeatureGate.Enabled(name)
}

type noEvents struct{}

func (noEvents) Eventf(_ apiruntime.Object, _ apiruntime.Object, _, _, _, _ string, _ ...any) {}

func newControl(ctx context.Context, s *store, p *platform, cfg *config.Configuration) (*control, error) {
	if err := kueueconfig.LoadAndValidateFeatureGates("", cfg.FeatureGates).ToAggregate(); err != nil {
		return nil, fmt.Errorf("input: kueue.configuration.featureGates: %w", err)
	}
	timestamp := config.EvictionTimestamp
	ready := cfg.WaitForPodsReady
	if ready != nil && ready.RequeuingStrategy != nil && ready.RequeuingStrategy.Timestamp != nil {
		timestamp = *ready.RequeuingStrategy.Timestamp
	}
	c := &control{ctx: ctx, store: s, topology: len(p.topologies) > 0, podsReady: waitforpodsready.Enabled(ready)}
	block := c.podsReady && ready.BlockAdmission != nil && *ready.BlockAdmission
	// Nobody reads metrics here. To count what waits in a LocalQueue is a walk over its ClusterQueue, each time that a
	// workload is requeued: 9 % of a replay of 10,000 jobs on 1,000 nodes (2026-11-24).
	silent := &metrics.LocalQueueMetricsConfig{Enabled: false}
	cacheOptions := []schdcache.Option{schdcache.WithPodsReadyTracking(block), schdcache.WithLocalQueueMetrics(silent)}
	queueOptions := []qcache.Option{qcache.WithPodsReadyRequeuingTimestamp(timestamp), qcache.WithLocalQueueMetrics(silent)}
	quotaCheck := config.QuotaCheckBlockUndeclared
	if r := cfg.Resources; r != nil {
		cacheOptions = append(cacheOptions, schdcache.WithExcludedResourcePrefixes(r.ExcludeResourcePrefixes),
			schdcache.WithResourceTransformations(r.Transformations))
		queueOptions = append(queueOptions, qcache.WithExcludedResourcePrefixes(r.ExcludeResourcePrefixes),
			qcache.WithResourceTransformations(r.Transformations))
		c.info = []workload.InfoOption{workload.WithExcludedResourcePrefixes(r.ExcludeResourcePrefixes),
			workload.WithResourceTransformations(r.Transformations)}
		if features.Enabled(features.QuotaCheckStrategy) && r.QuotaCheckStrategy != nil {
			quotaCheck = *r.QuotaCheckStrategy
		}
	}
	if cfg.FairSharing != nil {
		cacheOptions = append(cacheOptions, schdcache.WithFairSharing(fairsharing.Enabled(cfg.FairSharing)))
	}
	if cfg.AdmissionFairSharing != nil {
		queueOptions = append(queueOptions, qcache.WithAdmissionFairSharing(cfg.AdmissionFairSharing))
		cacheOptions = append(cacheOptions, schdcache.WithAdmissionFairSharing(cfg.AdmissionFairSharing))
	}
	c.cache = schdcache.New(s, cacheOptions...)
	requeuer := qcache.NewRequeuer()
	expectations := preemptexpectations.New()
	c.queues = qcache.NewManager(s, c.cache, requeuer, append(queueOptions, qcache.WithPreemptionExpectations(expectations))...)
	routine.DefaultWrapper = inline{}
	c.scheduler = scheduler.New(c.queues, c.cache, s, noEvents{},
		scheduler.WithPodsReadyRequeuingTimestamp(timestamp), scheduler.WithFairSharing(cfg.FairSharing),
		scheduler.WithAdmissionFairSharing(cfg.AdmissionFairSharing), scheduler.WithQuotaCheckStrategy(quotaCheck),
		scheduler.WithPreemptionExpectations(expectations))
	c.reconciler = core.NewWorkloadReconciler(s, c.queues, c.cache, noEvents{},
		core.WithPreemptionExpectations(expectations), core.WithAdmissionFairSharing(cfg.AdmissionFairSharing))
	if value := waitForPodsReady(ready); value != nil { // core.WithWaitForPodsReady takes a type that is not exported
		field := reflect.ValueOf(c.reconciler).Elem().FieldByName("waitForPodsReady")
		reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.NewAt(field.Type().Elem(), value))
	}
	if err := c.add(p); err != nil {
		return nil, err
	}
	c.quotaCheck = quotaCheck
	var err error
	if c.empty, err = c.cache.Snapshot(ctx); err != nil {
		return nil, err
	}
	go func() { must(requeuer.Start(ctx)) }()
	go c.queues.CleanUpOnContext(ctx)
	go c.cache.CleanUpOnContext(ctx)
	return c, nil
}

// add hands the platform's objects to Kueue, in the place of its reconcilers of them.
func (c *control) add(p *platform) error {
	log := ctrl.LoggerFrom(c.ctx)
	for _, o := range p.namespaces {
		must(c.store.Create(c.ctx, o))
	}
	for _, o := range p.podLevels {
		must(c.store.Create(c.ctx, o))
	}
	for _, o := range p.workloadLevels {
		must(c.store.Create(c.ctx, o))
	}
	for _, o := range p.topologies {
		must(c.store.Create(c.ctx, o))
		c.cache.AddOrUpdateTopology(log, o)
	}
	for _, o := range p.flavors {
		must(c.store.Create(c.ctx, o))
		c.cache.AddOrUpdateResourceFlavor(log, o)
	}
	for _, o := range p.checks {
		meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active"})
		must(c.store.Create(c.ctx, o))
		c.cache.AddOrUpdateAdmissionCheck(log, o)
	}
	for _, o := range p.cohorts {
		must(c.store.Create(c.ctx, o))
		if err := c.cache.AddOrUpdateCohort(o); err != nil {
			return fmt.Errorf("cohort %s: %w", o.Name, err)
		}
		c.queues.AddOrUpdateCohort(c.ctx, o)
	}
	active := map[kueue.ClusterQueueReference]bool{}
	for _, o := range p.clusterQueues {
		if err := c.cache.AddClusterQueue(c.ctx, o); err != nil {
			return fmt.Errorf("ClusterQueue %s: %w", o.Name, err)
		}
		name := kueue.ClusterQueueReference(o.Name)
		status, reason, message := c.cache.ClusterQueueReadiness(name)
		meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: kueue.ClusterQueueActive, Status: status, Reason: reason, Message: message})
		active[name] = status == metav1.ConditionTrue
		must(c.store.Create(c.ctx, o))
		if err := c.queues.AddClusterQueue(c.ctx, o); err != nil {
			return fmt.Errorf("ClusterQueue %s: %w", o.Name, err)
		}
	}
	added := sets.New[kueue.ClusterQueueReference]()
	for _, o := range p.localQueues {
		status := metav1.ConditionFalse
		if active[o.Spec.ClusterQueue] {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: kueue.LocalQueueActive, Status: status, Reason: "Ready"})
		must(c.store.Create(c.ctx, o))
		if err := c.queues.AddLocalQueue(c.ctx, o); err != nil {
			return fmt.Errorf("LocalQueue %s/%s: %w", o.Namespace, o.Name, err)
		}
		if err := c.cache.AddLocalQueue(o); err != nil {
			return fmt.Errorf("LocalQueue %s/%s: %w", o.Namespace, o.Name, err)
		}
		if added.Has(o.Spec.ClusterQueue) {
			continue
		}
		added.Insert(o.Spec.ClusterQueue)
		probe := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace}, Spec: kueue.WorkloadSpec{QueueName: kueue.LocalQueueName(o.Name)}}
		if heap := c.queues.ClusterQueueForWorkloadWithoutLock(probe); heap != nil {
			c.heaps = append(c.heaps, heap)
		}
	}
	return nil
}

// waiting counts the workloads that the next cycle would try: without any, it would block.
func (c *control) waiting() int {
	second := reflect.ValueOf(c.queues).Elem().FieldByName("secondPassQueue").Elem()
	count := second.FieldByName("queued").Len()
	for _, heap := range c.heaps {
		if c.cache.ClusterQueueActive(heap.GetName()) {
			active, _ := heap.Pending()
			count += active
		}
	}
	return count
}

// settled says what a cycle goes by.
type settled struct{ waiting, decisions, nodes int }

func (c *control) state() settled {
	return settled{c.waiting(), c.store.decisions(), c.nodes}
}

// standing is what the next cycle begins with if a workload that it would try has flavors left, so that a cycle that decides
// nothing isn't the last: all workloads, each with the flavors that it has tried.
func (c *control) standing() (text string, left bool) {
	var infos []*workload.Info
	for _, heap := range c.heaps {
		keys, _ := heap.Dump()
		for _, key := range keys {
			info := heap.Info(key)
			infos = append(infos, info)
			left = left || info.LastAssignment.PendingFlavors()
		}
	}
	if !left {
		return "", false
	}
	lines := make([]string, 0, len(infos))
	for _, info := range infos {
		line := string(info.Obj.UID)
		if info.LastAssignment != nil {
			line += fmt.Sprint(info.LastAssignment.LastTriedFlavorIdx)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), true
}

// deliver hands the changes of Workloads to the reconciler's own event handlers, in the order of their names, and runs
// its Reconcile. seen gets each change, later each wish to be called again.
func (c *control) deliver(seen func(change), again func(client.ObjectKey, time.Duration)) bool {
	delivered := false
	for {
		changes := c.store.take()
		if len(changes) == 0 {
			return delivered
		}
		delivered = true
		sort.SliceStable(changes, func(a, b int) bool { return changes[a].new.UID < changes[b].new.UID })
		var last client.ObjectKey
		var keys []client.ObjectKey
		for _, one := range changes {
			if one.old == nil {
				c.reconciler.Create(ctrlevent.TypedCreateEvent[*kueue.Workload]{Object: one.new})
			} else {
				c.reconciler.Update(ctrlevent.TypedUpdateEvent[*kueue.Workload]{ObjectOld: one.old, ObjectNew: one.new})
			}
			seen(one)
			if key := client.ObjectKeyFromObject(one.new); key != last {
				keys, last = append(keys, key), key
			}
			if workload.NeedsSecondPass(one.new) {
				again(client.ObjectKeyFromObject(one.new), time.Second)
			}
		}
		for _, key := range keys {
			c.reconcile(key, again)
		}
	}
}

// never says, in the words of Kueue's flavor assigner, why a workload has no flavors even where nothing else runs: each one
// of a resource group doesn't match it, or has less than it requests with all that can be borrowed. It is empty if one
// may do. Room in a topology is left out: nodes come and go. Nothing is preempted, so no oracle is asked.
func (c *control) never(w *kueue.Workload) string {
	info := workload.NewInfo(w, c.info...)
	name, found := c.queues.ClusterQueueForWorkload(w)
	queue := c.empty.ClusterQueue(name)
	if !found || queue == nil {
		return ""
	}
	info.ClusterQueue = name
	assigner := flavorassigner.New(info, queue, c.empty.ResourceFlavors, false, nil, nil, c.quotaCheck, resources.NewResourceFormatter(), 0)
	assignment := assigner.Assign(c.ctx, nil)
	for _, set := range assignment.PodSets {
		if len(set.Flavors) == 0 && len(set.Requests) > 0 {
			return assignment.Message()
		}
	}
	return ""
}

// cycle runs one scheduling cycle.
func (c *control) cycle() {
	c.cycles++
	schedule(c.scheduler, c.ctx)
}

func (c *control) reconcile(key client.ObjectKey, again func(client.ObjectKey, time.Duration)) {
	result, err := c.reconciler.Reconcile(c.ctx, ctrl.Request{NamespacedName: key})
	must(err)
	if result.RequeueAfter > 0 {
		again(key, result.RequeueAfter)
	}
}

// nodeChanged tells the caches of topology-aware scheduling about a node of a flavor with a topology, as Kueue's nodeHandler
// does (pkg/controller/tas/resource_flavor.go); those that are gone are removed. Of others its snapshots would read nothing.
func (c *control) nodeChanged(node *corev1.Node, gone bool) {
	if !c.topology || !c.inTopology(node) {
		return
	}
	c.nodes++
	if gone {
		c.cache.TASCache().DeleteNodeByName(node.Name)
		return
	}
	c.cache.TASCache().SyncNode(node)
	c.retryAll() // room for what was inadmissible
}

func (c *control) inTopology(node *corev1.Node) bool {
	for _, flavor := range c.cache.CloneTASCache() {
		if utiltas.NodeMatchesFlavor(node.Labels, flavor.NodeLabels(), flavor.TopologyLevels()) {
			return true
		}
	}
	return false
}

// retryAll moves inadmissible workloads of all ClusterQueues back to their heaps, after Kueue's own period.
func (c *control) retryAll() {
	names := sets.New[kueue.ClusterQueueReference]()
	for _, heap := range c.heaps {
		names.Insert(heap.GetName())
	}
	qcache.NotifyRetryInadmissible(c.queues, names)
}

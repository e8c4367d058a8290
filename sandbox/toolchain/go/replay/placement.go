package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

var logger = logr.Discard()

// left are plugins of the default profile that are left out: pods of a replay have no volumes and no claims, images are
// on no node, nothing is bound through an API server, and who is preempted is Kueue's decision.
var left = []string{names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone,
	names.DynamicResources, names.ImageLocality, names.DefaultPreemption, names.NodeDeclaredFeatures}

// placement is kube-scheduler's framework with the plugins of its default profile, over the nodes of the cluster.
type placement struct {
	ctx       context.Context
	framework framework.Framework
	cluster   *cluster
	strategy  config.ScoringStrategyType
	// next is where the search goes on, so that all nodes have their turn (schedule_one.go).
	next int
}

func newPlacement(ctx context.Context, c *cluster, configuration []byte) (*placement, error) {
	metrics.InitMetrics()
	// Nodes of a replay have no DeviceClasses, of which a scoring strategy would ask for each extended resource.
	if err := utilfeature.DefaultMutableFeatureGate.Set("DRAExtendedResource=false"); err != nil {
		return nil, err
	}
	decoded, _, err := scheme.Codecs.UniversalDecoder().Decode(configuration, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("input: cluster.scheduler: %w", err)
	}
	settings, ok := decoded.(*config.KubeSchedulerConfiguration)
	if !ok || len(settings.Profiles) == 0 {
		return nil, fmt.Errorf("input: cluster.scheduler: it is no KubeSchedulerConfiguration with a profile")
	}
	profile := settings.Profiles[0]
	enabled := slices.Clone(profile.Plugins.MultiPoint.Enabled)
	profile.Plugins.MultiPoint.Enabled = slices.DeleteFunc(enabled, func(p config.Plugin) bool { return slices.Contains(left, p.Name) })
	// Listers of objects that a replay doesn't have (Services, for spreading): never started, so they are empty.
	factory := informers.NewSharedInformerFactory(nil, 0)
	// With this its recorder of metrics ends at once; nothing else of it goes by a context.
	constructed, cancel := context.WithCancel(ctx)
	defer cancel()
	made, err := frameworkruntime.NewFramework(constructed, plugins.NewInTreeRegistry(), &profile,
		frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithSnapshotSharedLister(lister{c}),
		frameworkruntime.WithLogger(logger), frameworkruntime.WithParallelism(1))
	if err != nil {
		return nil, fmt.Errorf("kube-scheduler's framework: %w", err)
	}
	return &placement{ctx: ctx, framework: made, cluster: c, strategy: strategyOf(profile)}, nil
}

// strategyOf is how a profile ranks nodes by what is requested of them.
func strategyOf(profile config.KubeSchedulerProfile) config.ScoringStrategyType {
	for _, plugin := range profile.PluginConfig {
		if fit, ok := plugin.Args.(*config.NodeResourcesFitArgs); ok && fit.ScoringStrategy != nil {
			return fit.ScoringStrategy.Type
		}
	}
	return config.LeastAllocated
}

func (c *cluster) schedulerName() string {
	if c.place.strategy != config.LeastAllocated {
		return fmt.Sprintf("%s, %s", versionOf("k8s.io/kubernetes"), c.place.strategy)
	}
	return versionOf("k8s.io/kubernetes")
}

func podRequests(p *corev1.Pod) corev1.ResourceList {
	return resource.PodRequests(p, resource.PodResourcesOptions{})
}

// find is kube-scheduler's search (pkg/scheduler/schedule_one.go, findNodesThatFitPod and prioritizeNodes) one node after
// the other, for a node or the scheduler's own sentence why there is none. Of nodes with the same score it takes the
// first; upstream draws one.
func (s *placement) find(p *pod) (*node, string) {
	nodes := s.cluster.infos
	if len(nodes) == 0 {
		return nil, "no nodes available to schedule pods"
	}
	state := framework.NewCycleState()
	_, status, _ := s.framework.RunPreFilterPlugins(s.ctx, state, p.object)
	if !status.IsSuccess() {
		return nil, s.sentence(p, nil, status, false)
	}
	var feasible []fwk.NodeInfo
	wanted, looked := s.enough(len(nodes)), 0
	for ; looked < len(nodes) && len(feasible) < wanted; looked++ {
		at := (s.next + looked) % len(nodes)
		info := nodes[at]
		if s.cluster.nodes[at].hasRoom(p.kind) && s.framework.RunFilterPlugins(s.ctx, state, p.object, info).IsSuccess() {
			feasible = append(feasible, info)
		}
	}
	s.next = (s.next + looked) % len(nodes)
	switch len(feasible) {
	case 0:
		if p.job.message != "" {
			return nil, "" // said before, in the words of that moment
		}
		return nil, s.sentence(p, nodes, nil, !p.topology)
	case 1:
		return s.cluster.byName[feasible[0].Node().Name], ""
	}
	if status := s.framework.RunPreScorePlugins(s.ctx, state, p.object, feasible); !status.IsSuccess() {
		panic(status.AsError())
	}
	scores, status := s.framework.RunScorePlugins(s.ctx, state, p.object, feasible)
	if !status.IsSuccess() {
		panic(status.AsError())
	}
	best, score := "", int64(math.MinInt64)
	for _, one := range scores {
		if one.TotalScore > score {
			best, score = one.Name, one.TotalScore
		}
	}
	return s.cluster.byName[best], ""
}

// enough is how many feasible nodes are scored (schedule_one.go, numFeasibleNodesToFind, with the default percentage).
func (s *placement) enough(nodes int) int {
	const least, leastPercent = 100, 5
	if nodes < least {
		return nodes
	}
	return max(nodes*max(50-nodes/125, leastPercent)/100, least)
}

// fits says whether the filters let a pod onto a node as it is planned.
func (s *placement) fits(p *pod, info *framework.NodeInfo) bool {
	state := framework.NewCycleState()
	if _, status, _ := s.framework.RunPreFilterPlugins(s.ctx, state, p.object); !status.IsSuccess() {
		return false
	}
	return s.framework.RunFilterPlugins(s.ctx, state, p.object, info).IsSuccess()
}

// sentence is what kube-scheduler says of a pod that fits none of these nodes. Of nodes of the cluster that are alike one
// is asked.
func (s *placement) sentence(p *pod, nodes []fwk.NodeInfo, rejected *fwk.Status, alike bool) string {
	statuses := framework.NewDefaultNodeToStatus()
	state := framework.NewCycleState()
	_, before, _ := s.framework.RunPreFilterPlugins(s.ctx, state, p.object)
	if rejected == nil && !before.IsSuccess() {
		rejected = before
	}
	diagnosis := framework.Diagnosis{NodeToStatus: statuses}
	if rejected != nil {
		statuses.SetAbsentNodesStatus(rejected)
		diagnosis.PreFilterMsg = rejected.Message()
	} else {
		asked := map[string]*fwk.Status{}
		for i, info := range nodes {
			key := info.Node().Name
			if alike {
				key = s.cluster.nodes[i].alike()
			}
			if _, ok := asked[key]; !ok {
				asked[key] = s.framework.RunFilterPlugins(s.ctx, state, p.object, info)
			}
			statuses.Set(info.Node().Name, asked[key])
		}
	}
	fit := &framework.FitError{Pod: p.object, NumAllNodes: len(nodes), Diagnosis: diagnosis}
	return fit.Error()
}

// lister is the scheduler's view of the ready nodes.
type lister struct{ cluster *cluster }

func (l lister) NodeInfos() fwk.NodeInfoLister           { return l }
func (l lister) StorageInfos() fwk.StorageInfoLister     { return l }
func (l lister) PodGroupStates() fwk.PodGroupStateLister { return nil }
func (l lister) IsPVCUsedByPods(string) bool             { return false }
func (l lister) List() ([]fwk.NodeInfo, error)           { return l.cluster.infos, nil }

// Pods of a replay have no affinity to other pods.
func (l lister) HavePodsWithAffinityList() ([]fwk.NodeInfo, error)             { return nil, nil }
func (l lister) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) { return nil, nil }

func (l lister) Get(name string) (fwk.NodeInfo, error) {
	n, ok := l.cluster.byName[name]
	if !ok {
		return nil, fmt.Errorf("node %s: there is none of this name", name)
	}
	return n.info, nil
}

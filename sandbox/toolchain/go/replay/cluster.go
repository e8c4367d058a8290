package main

import (
	"fmt"
	"slices"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kind is what pods of one podSet of a job, in one topology domain, have in common: the scheduler answers all the same.
type kind struct {
	// triedRoom and triedPools say what was known when no node, and no new node, was found for it.
	triedRoom  int
	triedPools int
	needs      framework.Resource
	// fits has the answers for nodes that don't exist yet, by offering.
	fits map[*offering]bool
}

type pod struct {
	object *corev1.Pod
	info   *framework.PodInfo
	job    *job
	kind   *kind
	number int
	gone   bool
	// topology says that Kueue's topology-aware scheduling chose its domain.
	topology bool
	node     *node
	// planned is the node on its way that is to have this pod.
	planned *node
}

type node struct {
	name     string
	pool     *pool
	offering *offering
	object   *corev1.Node
	info     *framework.NodeInfo
	// plan is info with the pods that wait for this node.
	plan  *framework.NodeInfo
	ready bool
	gone  bool
	// expired nodes get no more pods, and are removed with their last one.
	expired bool
	// quiet numbers the changes of its pods, so that a removal that was planned before one is dropped.
	quiet int
}

// cluster has the nodes and pods. Where a pod goes is decided by kube-scheduler's plugins (placement.go), which nodes
// exist by pools.go.
type cluster struct {
	run     *run
	pools   []*pool
	place   *placement
	nodes   []*node          // ready, in the order in which they became it
	infos   []fwk.NodeInfo   // the same
	byName  map[string]*node // the same
	coming  []*node
	waiting []*pod
	number  int
	// room has the nodes on which something became free, one entry each time; poolsChanged numbers the changes of pools.
	room         []*node
	poolsChanged int
	dirty        bool
}

func newCluster(r *run, pools []*pool) (*cluster, error) {
	c := &cluster{run: r, pools: pools, byName: map[string]*node{}}
	var err error
	if c.place, err = newPlacement(r.ctx, c); err != nil {
		return nil, err
	}
	return c, c.readPools()
}

// podsOf makes the pods of one part of a podSet.
func (c *cluster) podsOf(j *job, set string, template *corev1.PodTemplateSpec, part domain) []*pod {
	same := &kind{triedRoom: -1, triedPools: -1, fits: map[*offering]bool{}}
	made := make([]*pod, 0, part.count)
	for range part.count {
		c.number++
		name := fmt.Sprintf("%s-%s-%d", j.spec.Name, set, c.number)
		object := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: j.spec.Namespace, UID: types.UID(name),
				Labels: template.Labels, Annotations: template.Annotations, CreationTimestamp: metav1.NewTime(time.Now())},
			Spec: template.Spec,
		}
		if len(part.labels) > 0 {
			selector := map[string]string{}
			for _, labels := range []map[string]string{template.Spec.NodeSelector, part.labels} {
				for key, value := range labels {
					selector[key] = value
				}
			}
			object.Spec.NodeSelector = selector
		}
		info, err := framework.NewPodInfo(object)
		must(err)
		same.needs = *framework.NewResource(podRequests(object))
		made = append(made, &pod{object: object, info: info, job: j, kind: same, number: c.number, topology: len(part.labels) > 0})
	}
	return made
}

// add has pods scheduled. They are tried in the order of kube-scheduler's queue: priority, then time.
func (c *cluster) add(pods []*pod) {
	c.waiting = append(c.waiting, pods...)
	sort.SliceStable(c.waiting, func(a, b int) bool {
		x, y := c.waiting[a], c.waiting[b]
		if *x.object.Spec.Priority != *y.object.Spec.Priority {
			return *x.object.Spec.Priority > *y.object.Spec.Priority
		}
		return x.number < y.number
	})
	c.dirty = true
}

// forget ends pods that wait for a node.
func (c *cluster) forget(pods []*pod) {
	waited := false
	for _, p := range pods {
		if p.planned != nil {
			must(p.planned.plan.RemovePod(logger, p.object))
			p.planned = nil
		}
		if p.node == nil {
			p.gone, waited = true, true
		}
	}
	if waited {
		c.waiting = slices.DeleteFunc(c.waiting, func(p *pod) bool { return p.gone })
	}
}

// remove ends pods, and frees what they had.
func (c *cluster) remove(pods []*pod) {
	c.forget(pods)
	for _, p := range pods {
		if p.node == nil || p.gone || p.node.gone {
			continue
		}
		p.gone = true
		must(p.node.info.RemovePod(logger, p.object))
		c.countForTopology(p, false)
		c.freed(p.node)
	}
	c.dirty = true
}

func (c *cluster) freed(n *node) {
	c.room = append(c.room, n)
	n.quiet++
	switch {
	case len(n.info.Pods) > 0:
	case n.expired:
		c.retire(n)
	default:
		c.empty(n)
	}
}

// countForTopology tells topology-aware scheduling what pods it has not placed itself use.
func (c *cluster) countForTopology(p *pod, bound bool) {
	if !c.run.control.topology || p.topology {
		return
	}
	if bound {
		c.run.control.cache.TASCache().Update(p.object, logger)
	} else {
		c.run.control.cache.TASCache().DeletePodByKey(client.ObjectKeyFromObject(p.object), logger)
		c.run.control.retryAll()
	}
}

// round places pods, then has nodes launched for those that are left. It says whether Kueue may have to look again.
func (c *cluster) round() bool {
	if !c.dirty {
		return false
	}
	c.dirty = false
	changed := false
	left := c.waiting[:0:0]
	for _, p := range c.waiting {
		if p.gone || p.node != nil {
			continue
		}
		if !c.tryAgain(p.kind) {
			left = append(left, p)
			continue
		}
		n, why := c.place.find(p)
		if n == nil {
			p.kind.triedRoom = len(c.room)
			c.run.waits(p.job, "placement", why)
			left = append(left, p)
			continue
		}
		c.bind(p, n)
		changed = true
	}
	c.waiting = left
	c.provision()
	return changed
}

// tryAgain says whether a node has more room than when none was found for these pods; all others have less.
func (c *cluster) tryAgain(k *kind) bool {
	if k.triedRoom < 0 {
		return true
	}
	for _, n := range c.room[k.triedRoom:] {
		if !n.gone && n.ready && roomFor(&k.needs, n.info) {
			return true
		}
	}
	k.triedRoom = len(c.room)
	return false
}

func (c *cluster) bind(p *pod, n *node) {
	if p.planned != nil {
		must(p.planned.plan.RemovePod(logger, p.object))
		p.planned = nil
	}
	p.node = n
	p.object.Spec.NodeName = n.name
	n.info.AddPodInfo(p.info)
	n.quiet++
	c.countForTopology(p, true)
	c.run.placed(p.job)
}

// roomFor says whether a node has the resources; it only spares the plugins nodes that NodeResourcesFit would refuse.
func roomFor(needs *framework.Resource, info *framework.NodeInfo) bool {
	allocatable, requested := info.Allocatable, info.Requested
	if len(info.Pods)+1 > allocatable.AllowedPodNumber || needs.MilliCPU > allocatable.MilliCPU-requested.MilliCPU ||
		needs.Memory > allocatable.Memory-requested.Memory {
		return false
	}
	for name, value := range needs.ScalarResources {
		if value > allocatable.ScalarResources[name]-requested.ScalarResources[name] {
			return false
		}
	}
	return true
}

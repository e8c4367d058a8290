package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// amounts are of pods, CPU, memory, then of cluster.devices.
type amounts []int64

// kind is what pods of one podSet of a job, in one topology domain, have in common: the scheduler answers all the same.
type kind struct {
	// triedRoom and triedPools say what was known when no node, and no new node, was found for it.
	triedRoom  int
	triedPools int
	needs      amounts
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
	// free is what its pods leave. A search looks at that of every node: upstream's maps made it four times slower.
	free amounts
	// planned counts the pods that wait for this node; of Cluster Autoscaler's, plan is info with them.
	planned int
	plan    *framework.NodeInfo
	ready   bool
	gone    bool
	// expired nodes get no more pods, and are removed with their last one.
	expired bool
	// quiet numbers the changes of its pods, so that a removal that was planned before one is dropped; idle is that after
	// which it was empty for as long as its pool waits.
	quiet, idle int
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
	// karpenter is nil where it scales no pool.
	karpenter *karpenter
	// devices are the extended resources that nodes of the pools have.
	devices []corev1.ResourceName
	// room has the nodes on which something became free, one entry each time; poolsChanged numbers the changes of pools.
	room         []*node
	poolsChanged int
	dirty        bool
}

func newCluster(r *run, pools []*pool, rendered map[string]*karpv1.NodePool) (*cluster, error) {
	c := &cluster{run: r, pools: pools, byName: map[string]*node{}}
	var err error
	if c.place, err = newPlacement(r.ctx, c, r.in.Cluster.Scheduler); err != nil {
		return nil, err
	}
	if err = c.readPools(); err != nil {
		return nil, err
	}
	c.karpenter = newKarpenter(r.ctx, c, rendered)
	return c, nil
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
		if same.needs == nil {
			same.needs = c.needs(object)
		}
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
		c.release(p)
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
		p.node.free = c.left(p.node.info)
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
	c.run.control.nodes++
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
		if !n.gone && n.ready && n.hasRoom(k) {
			return true
		}
	}
	k.triedRoom = len(c.room)
	return false
}

func (c *cluster) bind(p *pod, n *node) {
	c.release(p)
	p.node = n
	p.object.Spec.NodeName = n.name
	n.info.AddPodInfo(p.info)
	n.free = c.left(n.info)
	n.quiet++
	c.countForTopology(p, true)
	c.run.placed(p.job)
}

// needs are the requests of a pod; of a device that no pool has, more than any node has left.
func (c *cluster) needs(p *corev1.Pod) amounts {
	requests := framework.NewResource(podRequests(p))
	found := amounts{1, requests.MilliCPU, requests.Memory}
	for _, name := range c.devices {
		found = append(found, requests.ScalarResources[name])
		delete(requests.ScalarResources, name)
	}
	for _, value := range requests.ScalarResources {
		if value > 0 {
			found[0] = math.MaxInt64
		}
	}
	return found
}

func (c *cluster) left(info *framework.NodeInfo) amounts {
	has, used := info.Allocatable, info.Requested
	found := amounts{int64(has.AllowedPodNumber - len(info.Pods)), has.MilliCPU - used.MilliCPU, has.Memory - used.Memory}
	for _, name := range c.devices {
		found = append(found, has.ScalarResources[name]-used.ScalarResources[name])
	}
	return found
}

// hasRoom says whether a node has the resources; it only spares the plugins nodes that NodeResourcesFit would refuse.
func (n *node) hasRoom(k *kind) bool {
	for i, value := range k.needs {
		if value > n.free[i] {
			return false
		}
	}
	return true
}

// alike is equal for nodes of which the filters say the same to a pod that doesn't select nodes by name.
func (n *node) alike() string {
	key := fmt.Appendf(nil, "%p %t", n.offering, n.expired)
	for _, value := range n.free {
		key = binary.AppendVarint(key, value)
	}
	return string(key)
}

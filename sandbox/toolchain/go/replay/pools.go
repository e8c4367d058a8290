package main

import (
	"fmt"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

const nodesModel = "model: EC2 always has capacity, and launches the cheapest offering of a NodeClaim; nodes are ready after " +
	"launchSeconds; a node that is empty for consolidateAfterSeconds goes with the next look of the disruption controller; " +
	"after expireAfterSeconds nodes get no more pods, and are removed with their last one; Cluster Autoscaler's groups: for " +
	"each pod that waits, the cheapest offering that fits"

// pool is a group of nodes that are launched when pods wait, up to a maximum.
type pool struct {
	Name                    string              `json:"name"`
	Scaler                  string              `json:"scaler"`
	Labels                  map[string]string   `json:"labels"`
	Taints                  []corev1.Taint      `json:"taints"`
	Min                     int                 `json:"min"`
	Max                     *int                `json:"max"`
	Limits                  corev1.ResourceList `json:"limits"`
	Weight                  int                 `json:"weight"`
	LaunchSeconds           float64             `json:"launchSeconds"`
	ConsolidateAfterSeconds *float64            `json:"consolidateAfterSeconds"`
	// ConsolidationPolicy makes no difference: jobs have karpenter.sh/do-not-disrupt, so that of the nodes that Karpenter
	// finds underutilized it removes the empty ones (karpenter.sh/docs, "Disruption").
	ConsolidationPolicy string      `json:"consolidationPolicy"`
	ExpireAfterSeconds  *float64    `json:"expireAfterSeconds"`
	WarmNodes           int         `json:"warmNodes"`
	Offerings           []*offering `json:"offerings"`

	nodes    int // launched and not removed
	launched int // ever
	used     corev1.ResourceList
}

// offering is an instance type in a zone, as it is sold.
type offering struct {
	InstanceType string              `json:"instanceType"`
	Zone         string              `json:"zone"`
	CapacityType string              `json:"capacityType"`
	USDPerHour   float64             `json:"usdPerHour"`
	Allocatable  corev1.ResourceList `json:"allocatable"`
	// Capacity is what limits count; without it, the same as Allocatable.
	Capacity corev1.ResourceList `json:"capacity"`
	Labels   map[string]string   `json:"labels"`

	template *framework.NodeInfo // a node of it without pods
}

func (c *cluster) readPools() error {
	names := map[string]bool{}
	for i, p := range c.pools {
		at := fmt.Sprintf("input: pools[%d] (%s)", i, p.Name)
		switch {
		case p.Name == "" || names[p.Name]:
			return fmt.Errorf("%s: the name is empty or not unique", at)
		case !slices.Contains([]string{"karpenter", "clusterAutoscaler", "static"}, p.Scaler):
			return fmt.Errorf("%s: scaler %q: give karpenter, clusterAutoscaler or static", at, p.Scaler)
		case len(p.Offerings) == 0:
			return fmt.Errorf("%s: it has no offerings", at)
		case p.ExpireAfterSeconds != nil && *p.ExpireAfterSeconds <= 0:
			return fmt.Errorf("%s: expireAfterSeconds %g: give a positive number of seconds, or null", at, *p.ExpireAfterSeconds)
		case !slices.Contains([]string{"", "WhenEmpty", "WhenEmptyOrUnderutilized"}, p.ConsolidationPolicy):
			return fmt.Errorf("%s: consolidationPolicy %q: give WhenEmpty or WhenEmptyOrUnderutilized", at, p.ConsolidationPolicy)
		case p.Max != nil && p.Min > *p.Max:
			return fmt.Errorf("%s: min %d is more than max %d", at, p.Min, *p.Max)
		}
		names[p.Name] = true
		p.used = corev1.ResourceList{}
		sort.SliceStable(p.Offerings, func(a, b int) bool { return p.Offerings[a].USDPerHour < p.Offerings[b].USDPerHour })
		for _, o := range p.Offerings {
			if _, ok := o.Allocatable[corev1.ResourcePods]; !ok {
				o.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(110, resource.DecimalSI)
			}
			if o.Capacity == nil {
				o.Capacity = o.Allocatable
			}
			o.Capacity[corev1.ResourcePods] = o.Allocatable[corev1.ResourcePods]
			o.template = framework.NewNodeInfo()
			o.template.SetNode(p.object(o, p.Name+"-"+o.InstanceType))
			for name := range o.template.Allocatable.ScalarResources {
				if !slices.Contains(c.devices, name) {
					c.devices = append(c.devices, name)
				}
			}
		}
	}
	slices.Sort(c.devices)
	// As Karpenter's: the most weight first, then by name (pkg/utils/nodepool, OrderByWeight).
	sort.SliceStable(c.pools, func(a, b int) bool {
		if c.pools[a].Weight != c.pools[b].Weight {
			return c.pools[a].Weight > c.pools[b].Weight
		}
		return c.pools[a].Name < c.pools[b].Name
	})
	return nil
}

// object is a node of an offering, with the labels that a cloud's controllers set.
func (p *pool) object(o *offering, name string) *corev1.Node {
	labels := map[string]string{
		corev1.LabelHostname: name, corev1.LabelInstanceTypeStable: o.InstanceType, corev1.LabelTopologyZone: o.Zone,
		corev1.LabelOSStable: "linux", "karpenter.sh/capacity-type": o.CapacityType,
	}
	if p.Scaler == "karpenter" {
		labels["karpenter.sh/nodepool"] = p.Name
	}
	for _, more := range []map[string]string{p.Labels, o.Labels} {
		for key, value := range more {
			labels[key] = value
		}
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.NodeSpec{Taints: p.Taints},
		Status: corev1.NodeStatus{Allocatable: o.Allocatable, Capacity: o.Allocatable,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// begin launches what is there before the first job: these nodes are ready at once.
func (c *cluster) begin() {
	for _, p := range c.pools {
		for i := range p.Min {
			o := p.Offerings[0]
			if p.Scaler == "static" { // a fixed fleet has what is listed, one after the other
				o = p.Offerings[i%len(p.Offerings)]
			}
			c.arrive(c.launch(p, o, "min"))
		}
	}
	c.dirty = true
}

// full says why a pool can't have another node of this kind; empty if it can.
func (p *pool) full(o *offering) string {
	if p.Scaler == "static" {
		return fmt.Sprintf("pool %s is static with %d nodes", p.Name, p.Min)
	}
	if p.Max != nil && p.nodes >= *p.Max {
		return fmt.Sprintf("pool %s has its maximum of %d nodes", p.Name, *p.Max)
	}
	for _, name := range sortedNames(p.Limits) {
		limit, then := p.Limits[name], p.used[name].DeepCopy()
		then.Add(o.Capacity[name])
		if then.Cmp(limit) > 0 {
			return fmt.Sprintf("pool %s would exceed its limit of %s %s", p.Name, limit.String(), name)
		}
	}
	return ""
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// one is what a node counts for the limits of its pool.
func one(o *offering) corev1.ResourceList {
	counted := o.Capacity.DeepCopy()
	counted[resources.Node] = *resource.NewQuantity(1, resource.DecimalSI)
	return counted
}

func (p *pool) count(o *offering, sign int) {
	p.nodes += sign
	for name, value := range one(o) {
		sum := p.used[name].DeepCopy()
		if sign > 0 {
			sum.Add(value)
		} else {
			sum.Sub(value)
		}
		p.used[name] = sum
	}
}

func (c *cluster) launch(p *pool, o *offering, reason string) *node {
	p.launched++
	p.count(o, 1)
	n := &node{name: fmt.Sprintf("%s-%04d", p.Name, p.launched), pool: p, offering: o, info: framework.NewNodeInfo()}
	n.object = p.object(o, n.name)
	n.info.SetNode(n.object)
	if p.Scaler != "karpenter" {
		n.plan = n.info.SnapshotConcrete()
	}
	c.sayNode(n, "launched", reason)
	if p.ExpireAfterSeconds != nil && p.Scaler == "karpenter" {
		c.run.after(seconds(*p.ExpireAfterSeconds), func() { c.expire(n) })
	}
	return n
}

func (c *cluster) sayNode(n *node, state, reason string) {
	o := n.offering
	c.run.say(event{Kind: "node", Node: n.name, Pool: n.pool.Name, InstanceType: o.InstanceType, Zone: o.Zone,
		CapacityType: o.CapacityType, USDPerHour: ptr.To(o.USDPerHour), State: state, Reason: reason})
}

// arrive makes a node ready.
func (c *cluster) arrive(n *node) {
	n.ready, n.free, n.planned = true, c.left(n.info), 0
	for _, p := range c.waiting {
		if p.planned == n {
			p.planned = nil
		}
	}
	c.coming = slices.DeleteFunc(c.coming, func(other *node) bool { return other == n })
	c.nodes = append(c.nodes, n)
	c.infos = append(c.infos, n.info)
	c.byName[n.name] = n
	c.sayNode(n, "ready", "")
	c.run.control.nodeChanged(n.object, false)
	c.poolsChanged++
	c.freed(n)
	c.dirty = true
}

// empty has a node removed if it stays without pods for as long as its pool waits.
func (c *cluster) empty(n *node) {
	after := n.pool.ConsolidateAfterSeconds
	if after == nil || n.pool.Scaler == "static" {
		return
	}
	quiet := n.quiet
	c.run.after(seconds(*after), func() {
		if n.quiet != quiet || n.gone || !c.spares(n, 0) {
			return
		}
		if n.pool.Scaler == "karpenter" {
			n.idle = quiet
			c.karpenter.consolidatable(n)
		} else {
			c.drop(n, "empty")
		}
	})
}

// spares says whether a pool can do without an empty node and some others.
func (c *cluster) spares(n *node, others int) bool {
	p := n.pool
	return p.nodes-others > p.Min && (p.WarmNodes == 0 || c.spare(p)-others > p.WarmNodes)
}

// disrupted is the taint that Karpenter sets on a node before it drains it (pkg/apis/v1/taints.go).
var disrupted = corev1.Taint{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule}

// expire ends a node by its age. As Karpenter's drain, it waits for pods with do-not-disrupt, which jobs have.
func (c *cluster) expire(n *node) {
	if n.gone || !n.ready {
		return // one that is still on its way has a launch longer than its life: it stays
	}
	n.expired = true
	n.object = n.object.DeepCopy()
	n.object.Spec.Taints = append(n.object.Spec.Taints, disrupted)
	n.info.SetNode(n.object)
	c.run.control.nodeChanged(n.object, false)
	if len(n.info.Pods) == 0 {
		c.retire(n)
	}
}

// retire removes a node that has expired, and launches another where the pool would have too few.
func (c *cluster) retire(n *node) {
	c.drop(n, "expired")
	if n.pool.nodes < n.pool.Min {
		c.order(n.pool, n.pool.Offerings[0], "min")
	}
}

// spare counts the nodes of a pool without pods.
func (c *cluster) spare(p *pool) int {
	count := 0
	for _, n := range c.nodes {
		if n.pool == p && !n.expired && len(n.info.Pods) == 0 {
			count++
		}
	}
	for _, n := range c.coming {
		if n.pool == p && n.planned == 0 {
			count++
		}
	}
	return count
}

func (c *cluster) drop(n *node, reason string) {
	n.gone, n.ready = true, false
	n.pool.count(n.offering, -1)
	at := slices.Index(c.nodes, n)
	c.nodes = slices.Delete(c.nodes, at, at+1)
	c.infos = slices.Delete(c.infos, at, at+1)
	delete(c.byName, n.name)
	c.sayNode(n, "removed", reason)
	c.run.control.nodeChanged(n.object, true)
	c.poolsChanged++
	c.dirty = true
}

// provision has nodes launched for pods that wait: Cluster Autoscaler's at once, Karpenter's at the end of its batch.
func (c *cluster) provision() {
	for _, p := range c.waiting {
		if p.planned != nil || p.kind.triedPools == c.poolsChanged {
			continue
		}
		switch {
		case c.autoscale(p):
		case c.karpenter != nil:
			c.karpenter.trigger(p)
		default:
			c.explain(p)
		}
	}
	if c.karpenter != nil && c.karpenter.due {
		c.karpenter.provision()
	}
	for _, p := range c.pools {
		for p.WarmNodes > 0 && c.spare(p) < p.WarmNodes && p.full(p.Offerings[0]) == "" {
			c.order(p, p.Offerings[0], "warm")
		}
	}
}

// autoscale plans a node of Cluster Autoscaler's groups: one that is on its way, or a new one.
func (c *cluster) autoscale(p *pod) bool {
	for _, n := range c.coming {
		if n.pool.Scaler != "karpenter" && c.place.fits(p, n.plan) {
			c.assign(p, n)
			return true
		}
	}
	for _, one := range c.pools {
		for _, o := range one.Offerings {
			if one.Scaler == "clusterAutoscaler" && c.couldHave(p, o) && one.full(o) == "" {
				c.assign(p, c.order(one, o, "pods wait"))
				return true
			}
		}
	}
	return false
}

// couldHave says whether an offering's nodes would take a pod.
func (c *cluster) couldHave(p *pod, o *offering) bool {
	fits, known := p.kind.fits[o]
	if !known {
		fits = c.place.fits(p, o.template)
		p.kind.fits[o] = fits
	}
	return fits
}

// explain says why a pod gets no node now; one that no pool can ever have a node for is refused.
func (c *cluster) explain(p *pod) {
	p.kind.triedPools = c.poolsChanged
	var templates []fwk.NodeInfo
	for _, one := range c.pools {
		for _, o := range one.Offerings {
			if c.couldHave(p, o) {
				if why := one.full(o); why != "" {
					p.job.held = why
					c.run.waits(p.job, "node", why)
				}
				return
			}
			templates = append(templates, o.template)
		}
	}
	c.run.refuse(p.job, "no pool has a node for it: "+c.place.sentence(p, templates, nil, false))
}

func (c *cluster) assign(p *pod, n *node) {
	p.planned = n
	n.planned++
	if n.pool.Scaler != "karpenter" {
		n.plan.AddPodInfo(p.info)
	}
	c.run.waits(p.job, "node", fmt.Sprintf("waits for node %s", n.name))
}

// release takes a pod from the node that was planned for it.
func (c *cluster) release(p *pod) {
	if p.planned == nil {
		return
	}
	p.planned.planned--
	if p.planned.pool.Scaler != "karpenter" {
		must(p.planned.plan.RemovePod(logger, p.object))
	}
	p.planned = nil
}

func (c *cluster) order(p *pool, o *offering, reason string) *node {
	n := c.launch(p, o, reason)
	c.coming = append(c.coming, n)
	c.run.after(seconds(p.LaunchSeconds), func() { c.arrive(n) })
	return n
}

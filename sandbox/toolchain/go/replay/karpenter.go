package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	karpstate "sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/nodepool"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

// Karpenter's defaults and constants: pods are provisioned for together once none came for batchIdle, and after batchMax
// at the latest (pkg/operator/options); the disruption controller looks each pollingPeriod, and again after validation
// before it acts (pkg/controllers/disruption).
const (
	batchIdle     = time.Second
	batchMax      = 10 * time.Second
	pollingPeriod = 10 * time.Second
	validation    = 15 * time.Second
)

// karpenter is Karpenter's own scheduling simulation (pkg/controllers/provisioning/scheduling), which decides for which
// NodePool and instance types NodeClaims are made, and its budgets, which decide how many empty nodes go at once. Around
// them is what its provisioner and its disruption controller do with a cluster: batches, polls and the second look.
type karpenter struct {
	ctx     context.Context
	cluster *cluster
	state   *karpstate.Cluster // has no nodes: the simulation gets those on which there can be room
	pools   []*karpv1.NodePool
	of      map[string]*pool
	types   map[string][]*cloudprovider.InstanceType

	batch        map[*pod]bool
	began, ends  time.Time
	due          bool
	disrupting   bool
	consolidates []*node
}

type silent struct{}

func (silent) Publish(...events.Event) {}

// newKarpenter takes the pools that Karpenter scales; nil if there are none.
func newKarpenter(ctx context.Context, c *cluster, rendered map[string]*karpv1.NodePool) *karpenter {
	settings := &options.Options{CPURequests: 1000, PreferencePolicy: options.PreferencePolicyRespect,
		MinValuesPolicy: options.MinValuesPolicyStrict, IgnoreDRARequests: true}
	k := &karpenter{ctx: settings.ToContext(ctx), cluster: c, of: map[string]*pool{},
		types: map[string][]*cloudprovider.InstanceType{},
		state: karpstate.NewCluster(clock.RealClock{}, c.run.control.store, nil)}
	for _, p := range c.pools {
		if p.Scaler == "karpenter" {
			k.pools = append(k.pools, p.nodePool(rendered[p.Name]))
			k.of[p.Name] = p
			k.types[p.Name] = p.instanceTypes()
		}
	}
	if len(k.pools) == 0 {
		return nil
	}
	nodepool.OrderByWeight(k.pools)
	return k
}

// nodePool is the pool as the stack renders it; of a baseline, which has none, what its fields say.
func (p *pool) nodePool(rendered *karpv1.NodePool) *karpv1.NodePool {
	made := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: p.Name}}
	if rendered != nil {
		made = rendered.DeepCopy()
	} else {
		made.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "10%"}} // the CRD's default
		made.Spec.Limits = karpv1.Limits(p.Limits)
		if p.Weight > 0 {
			made.Spec.Weight = ptr.To(int32(p.Weight))
		}
		made.Spec.Template.Labels = p.Labels
		made.Spec.Template.Spec.Taints = p.Taints
		made.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: p.Name}
	}
	limits := corev1.ResourceList(made.Spec.Limits).DeepCopy()
	if p.Max != nil {
		if limits == nil {
			limits = corev1.ResourceList{}
		}
		limits[resources.Node] = *resource.NewQuantity(int64(*p.Max), resource.DecimalSI)
	}
	made.Spec.Limits = karpv1.Limits(limits)
	return made
}

// instanceTypes are the offerings of a pool as a cloud provider describes them.
func (p *pool) instanceTypes() []*cloudprovider.InstanceType {
	var found []*cloudprovider.InstanceType
	byName := map[string]*cloudprovider.InstanceType{}
	for _, o := range p.Offerings {
		kind, ok := byName[o.InstanceType]
		if !ok {
			overhead := resources.Subtract(o.Capacity, o.Allocatable)
			kind = &cloudprovider.InstanceType{Name: o.InstanceType, Capacity: o.Capacity,
				Overhead: &cloudprovider.InstanceTypeOverhead{KubeReserved: overhead},
				Requirements: requirements.NewRequirements(oneOf(corev1.LabelInstanceTypeStable, o.InstanceType),
					oneOf(corev1.LabelArchStable, "amd64", "arm64"), oneOf(corev1.LabelOSStable, "linux"))}
			byName[o.InstanceType] = kind
			found = append(found, kind)
		}
		labels := map[string]string{corev1.LabelTopologyZone: o.Zone, karpv1.CapacityTypeLabelKey: o.CapacityType}
		sold := requirements.NewLabelRequirements(labels)
		for key, value := range labels {
			values := []string{value}
			if kind.Requirements.Has(key) {
				values = append(values, kind.Requirements.Get(key).Values()...)
			}
			kind.Requirements[key] = oneOf(key, values...)
		}
		kind.Offerings = append(kind.Offerings, &cloudprovider.Offering{Requirements: sold, Price: o.USDPerHour, Available: true})
	}
	return found
}

func oneOf(label string, values ...string) *requirements.Requirement {
	return requirements.NewRequirement(label, corev1.NodeSelectorOpIn, values...)
}

// trigger adds a pod that waits to the batch.
func (k *karpenter) trigger(p *pod) {
	if k.batch[p] {
		return
	}
	now := time.Now()
	if k.batch == nil {
		k.batch, k.began = map[*pod]bool{}, now
	}
	k.batch[p] = true
	k.ends = now.Add(batchIdle)
	if last := k.began.Add(batchMax); k.ends.After(last) {
		k.ends = last
	}
	k.cluster.run.after(k.ends.Sub(now), func() {
		if k.batch != nil && !time.Now().Before(k.ends) {
			k.due, k.cluster.dirty = true, true
		}
	})
}

// provision simulates all pods that wait on the nodes on their way and on new ones, as each round of the provisioner does,
// and launches what it finds. Ready nodes are left out: kube-scheduler has just found no room on them.
func (k *karpenter) provision() {
	k.batch, k.due = nil, false
	c := k.cluster
	waiting := map[string]*pod{}
	var objects []*corev1.Pod
	for _, p := range c.waiting {
		if p.planned == nil || p.planned.pool.Scaler == "karpenter" {
			c.release(p)
			waiting[string(p.object.UID)] = p
			objects = append(objects, p.object)
		}
	}
	coming := map[string]*node{}
	ready := map[string]corev1.ResourceList{}
	for name, p := range k.of {
		ready[name] = p.used.DeepCopy() // resources.Subtract changes what it is given
	}
	var nodes []*karpstate.StateNode
	for _, n := range c.coming {
		if n.pool.Scaler == "karpenter" {
			coming[n.name] = n
			nodes = append(nodes, stateOf(n))
			ready[n.pool.Name] = resources.Subtract(ready[n.pool.Name], one(n.offering))
		}
	}
	pools := make([]*karpv1.NodePool, len(k.pools))
	for i, given := range k.pools {
		left := *given
		if limits := corev1.ResourceList(given.Spec.Limits).DeepCopy(); limits != nil {
			left.Spec.Limits = karpv1.Limits(resources.Subtract(limits, ready[given.Name]))
		}
		pools[i] = &left
	}
	topology, err := scheduling.NewTopology(k.ctx, c.run.control.store, k.state, nodes, pools, k.types, objects)
	must(err)
	simulation := scheduling.NewScheduler(k.ctx, c.run.control.store, pools, k.state, nodes, topology, k.types, nil, silent{},
		clock.RealClock{}, nil, nil, scheduling.MinValuesPolicy(options.MinValuesPolicyStrict))
	results, err := simulation.Solve(k.ctx, objects)
	must(err)
	results = results.TruncateInstanceTypes(k.ctx, scheduling.MaxInstanceTypes)
	for _, existing := range results.ExistingNodes {
		for _, object := range existing.Pods {
			c.assign(waiting[string(object.UID)], coming[existing.Name()])
		}
	}
	for _, claim := range results.NewNodeClaims {
		p := k.of[claim.NodePoolName]
		n := c.order(p, p.cheapest(claim), "pods wait")
		for _, object := range claim.Pods {
			c.assign(waiting[string(object.UID)], n)
		}
	}
	for _, p := range c.waiting {
		if p.planned == nil {
			c.explain(p)
		}
	}
}

// cheapest is what EC2 launches for a NodeClaim: of its instance types and offerings the one with the lowest price.
func (p *pool) cheapest(claim *scheduling.NodeClaim) *offering {
	for _, o := range p.Offerings { // by price
		for _, kind := range claim.InstanceTypeOptions {
			if kind.Name != o.InstanceType {
				continue
			}
			for _, sold := range kind.Offerings.Compatible(claim.Requirements) {
				if sold.Zone() == o.Zone && sold.CapacityType() == o.CapacityType {
					return o
				}
			}
		}
	}
	panic(fmt.Sprintf("pool %s has no offering of the NodeClaim's", p.Name))
}

// stateOf is a node on its way: a NodeClaim that has been launched, without its Node.
func stateOf(n *node) *karpstate.StateNode {
	made := karpstate.NewNode()
	made.NodeClaim = &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: n.object.Labels},
		Spec:       karpv1.NodeClaimSpec{Taints: n.object.Spec.Taints},
		Status:     karpv1.NodeClaimStatus{ProviderID: n.name, Capacity: n.offering.Capacity, Allocatable: n.offering.Allocatable},
	}
	return made
}

// consolidatable has an empty node removed with the disruption controller's next look.
func (k *karpenter) consolidatable(n *node) {
	k.consolidates = append(k.consolidates, n)
	if !k.disrupting {
		k.disrupting = true
		passed := time.Since(k.cluster.run.epoch) % pollingPeriod
		k.cluster.run.after((pollingPeriod-passed)%pollingPeriod, k.disrupt)
	}
}

// disrupt is one look of the disruption controller: it takes as many empty nodes as the budgets allow, waits, and
// removes those of them that are still empty.
func (k *karpenter) disrupt() {
	chosen, left := k.empties(k.consolidates)
	k.consolidates = left
	switch {
	case len(chosen) > 0:
		k.cluster.run.after(validation, func() {
			still, others := k.empties(chosen)
			for _, n := range still {
				k.cluster.drop(n, "empty")
			}
			k.consolidates = append(k.consolidates, others...)
			k.disrupt()
		})
	case len(left) > 0:
		k.cluster.run.after(pollingPeriod, k.disrupt)
	default:
		k.disrupting = false
	}
}

// empties are those of some nodes that are empty and may be removed now by the budgets of their NodePools, and those
// that may be later.
func (k *karpenter) empties(nodes []*node) (now, later []*node) {
	allowed := map[string]int{}
	for _, one := range k.pools {
		allowed[one.Name] = one.MustGetAllowedDisruptions(clock.RealClock{}, k.of[one.Name].nodes, karpv1.DisruptionReasonEmpty)
	}
	removed := map[*pool]int{}
	for _, n := range nodes {
		switch {
		case n.gone || n.idle != n.quiet || !k.cluster.spares(n, removed[n.pool]):
		case allowed[n.pool.Name] > 0:
			allowed[n.pool.Name]--
			removed[n.pool]++
			now = append(now, n)
		default:
			later = append(later, n)
		}
	}
	return now, later
}

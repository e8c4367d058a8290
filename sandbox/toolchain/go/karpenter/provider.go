package main

import (
	"context"
	"fmt"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/nodeclaim"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

const (
	classHashAnnotation = group + "/ec2nodeclass-hash"
	imageHashAnnotation = "sandbox.slipway/ami-hash"
)

// Provider implements Karpenter's CloudProvider for EC2NodeClasses.
type Provider struct {
	client   client.Client
	ec2      *EC2
	overlays *nodeoverlay.InstanceTypeStore
	recorder events.Recorder
}

// NewProvider is a provider that launches in an EC2.
func NewProvider(kube client.Client, ec2 *EC2, overlays *nodeoverlay.InstanceTypeStore, recorder events.Recorder) *Provider {
	return &Provider{client: kube, ec2: ec2, overlays: overlays, recorder: recorder}
}

// Name implements CloudProvider.
func (p *Provider) Name() string { return "aws" }

// GetSupportedNodeClasses implements CloudProvider.
func (p *Provider) GetSupportedNodeClasses() []status.Object { return []status.Object{&EC2NodeClass{}} }

// RepairPolicies implements CloudProvider with those of karpenter-provider-aws v1.14.1.
func (p *Provider) RepairPolicies() []cloudprovider.RepairPolicy {
	half := 30 * time.Minute
	return []cloudprovider.RepairPolicy{
		{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionFalse, TolerationDuration: half},
		{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionUnknown, TolerationDuration: half},
		{ConditionType: "AcceleratedHardwareReady", ConditionStatus: corev1.ConditionFalse, TolerationDuration: 10 * time.Minute},
		{ConditionType: "StorageReady", ConditionStatus: corev1.ConditionFalse, TolerationDuration: half},
		{ConditionType: "NetworkingReady", ConditionStatus: corev1.ConditionFalse, TolerationDuration: half},
		{ConditionType: "KernelReady", ConditionStatus: corev1.ConditionFalse, TolerationDuration: half},
		{ConditionType: "ContainerRuntimeReady", ConditionStatus: corev1.ConditionFalse, TolerationDuration: half},
	}
}

// GetInstanceTypes implements CloudProvider: none for a pool whose node class does not exist.
func (p *Provider) GetInstanceTypes(ctx context.Context, pool *karpv1.NodePool) ([]*cloudprovider.InstanceType, error) {
	class, err := p.class(ctx, pool.Spec.Template.Spec.NodeClassRef)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return p.typesOf(class)
}

// Create implements CloudProvider.
func (p *Provider) Create(ctx context.Context, claim *karpv1.NodeClaim) (*karpv1.NodeClaim, error) {
	class, err := p.class(ctx, claim.Spec.NodeClassRef)
	if errors.IsNotFound(err) {
		return nil, cloudprovider.NewInsufficientCapacityError(fmt.Errorf("resolving nodeclass, %w", err))
	}
	if err != nil {
		return nil, fmt.Errorf("resolving nodeclass, %w", err)
	}
	if ready := class.StatusConditions().Get(status.ConditionReady); !ready.IsTrue() || ready.ObservedGeneration != class.Generation {
		return nil, cloudprovider.NewNodeClassNotReadyError(fmt.Errorf("nodeclass status has not been reconciled against the latest spec"))
	}
	found, err := p.typesOf(class)
	if err != nil {
		return nil, err
	}
	if name, ok := claim.Labels[karpv1.NodePoolLabelKey]; ok && options.FromContext(ctx).FeatureGates.NodeOverlay {
		if found, err = p.overlays.ApplyAll(name, found); err != nil {
			return nil, fmt.Errorf("creating instance, %w", err)
		}
	}
	requirements := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	fitting := lo.Filter(found, func(kind *cloudprovider.InstanceType, _ int) bool {
		return requirements.Compatible(kind.Requirements, scheduling.AllowUndefinedWellKnownLabels) == nil &&
			resources.Fits(claim.Spec.Resources.Requests, kind.Allocatable())
	})
	kind, offering, id, err := p.ec2.Launch(claim, fitting)
	if err != nil {
		return nil, fmt.Errorf("creating instance, %w", err)
	}
	return launched(class, kind, offering, id, claim)
}

func launched(class *EC2NodeClass, kind *cloudprovider.InstanceType, offering *cloudprovider.Offering, id string, claim *karpv1.NodeClaim) (*karpv1.NodeClaim, error) {
	classHash, imageHash, err := class.hashes()
	if err != nil {
		return nil, err
	}
	labels := map[string]string{}
	for _, requirement := range kind.Requirements {
		if requirement.Operator() == corev1.NodeSelectorOpIn && requirement.Len() == 1 {
			labels[requirement.Key] = requirement.Any()
		}
	}
	for _, label := range []string{corev1.LabelTopologyZone, zoneIDLabel, karpv1.CapacityTypeLabelKey} {
		labels[label] = offering.Requirements.Get(label).Any()
	}
	has := func(name corev1.ResourceName, quantity resource.Quantity) bool {
		_, requested := claim.Spec.Resources.Requests[efaResource]
		settings, _ := class.settings()
		return !quantity.IsZero() && (name != efaResource || requested || settings.EFA != nil)
	}
	return &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Labels:      labels,
			Annotations: map[string]string{classHashAnnotation: classHash, imageHashAnnotation: imageHash},
		},
		Status: karpv1.NodeClaimStatus{
			ProviderID:  fmt.Sprintf("aws:///%s/%s", offering.Zone(), id),
			Capacity:    lo.PickBy(kind.Capacity, has),
			Allocatable: lo.PickBy(kind.Allocatable(), has),
		},
	}, nil
}

// Delete implements CloudProvider: the first call ends the instance, the next finds none.
func (p *Provider) Delete(ctx context.Context, claim *karpv1.NodeClaim) error {
	id := claim.Status.ProviderID
	if gone, err := p.gone(ctx, id); err != nil || (!gone && p.ec2.Terminate(id)) {
		return err
	}
	return cloudprovider.NewNodeClaimNotFoundError(fmt.Errorf("instance %s is terminated", id))
}

// Get implements CloudProvider.
func (p *Provider) Get(ctx context.Context, id string) (*karpv1.NodeClaim, error) {
	claims := &karpv1.NodeClaimList{}
	if err := p.client.List(ctx, claims, nodeclaim.ForProviderID(id)); err != nil {
		return nil, fmt.Errorf("listing nodeclaims, %w", err)
	}
	gone, err := p.gone(ctx, id)
	if err != nil {
		return nil, err
	}
	if gone || len(claims.Items) == 0 {
		return nil, cloudprovider.NewNodeClaimNotFoundError(fmt.Errorf("no instance %s", id))
	}
	return &claims.Items[0], nil
}

// List implements CloudProvider.
func (p *Provider) List(ctx context.Context) ([]*karpv1.NodeClaim, error) {
	claims, err := nodeclaim.ListManaged(ctx, p.client, p)
	if err != nil {
		return nil, err
	}
	running := []*karpv1.NodeClaim{}
	for _, claim := range claims {
		gone, err := p.gone(ctx, claim.Status.ProviderID)
		if err != nil {
			return nil, err
		}
		if claim.Status.ProviderID != "" && !gone {
			// What is listed is the instance: a claim that is being deleted still has one.
			instance := claim.DeepCopy()
			instance.DeletionTimestamp = nil
			running = append(running, instance)
		}
	}
	return running, nil
}

// IsDrifted implements CloudProvider, with the reasons of karpenter-provider-aws (pkg/cloudprovider/drift.go).
func (p *Provider) IsDrifted(ctx context.Context, claim *karpv1.NodeClaim) (cloudprovider.DriftReason, error) {
	class, err := p.class(ctx, claim.Spec.NodeClassRef)
	if err != nil {
		return "", client.IgnoreNotFound(err)
	}
	classHash, imageHash, err := class.hashes()
	switch {
	case err != nil:
		return "", err
	case claim.Annotations[imageHashAnnotation] != imageHash:
		return "AMIDrift", nil
	case claim.Annotations[classHashAnnotation] != classHash:
		return "NodeClassDrift", nil
	}
	return "", nil
}

// gone says whether an instance is terminated: by Karpenter, or by EC2 after the notice of an interruption.
func (p *Provider) gone(ctx context.Context, id string) (bool, error) {
	if p.ec2.Terminated(id) {
		return true, nil
	}
	nodes := &corev1.NodeList{}
	if err := p.client.List(ctx, nodes, client.MatchingFields{"spec.providerID": id}); err != nil {
		return false, fmt.Errorf("listing nodes, %w", err)
	}
	return lo.SomeBy(nodes.Items, func(node corev1.Node) bool {
		deadline, ok := interruption(&node)
		return ok && !p.ec2.clock.Now().Before(deadline)
	}), nil
}

// class is a node class; one that is being deleted is not found, as for AWS's provider.
func (p *Provider) class(ctx context.Context, reference *karpv1.NodeClassReference) (*EC2NodeClass, error) {
	class := &EC2NodeClass{}
	if err := p.client.Get(ctx, types.NamespacedName{Name: reference.Name}, class); err != nil {
		return nil, err
	}
	if !class.DeletionTimestamp.IsZero() {
		return nil, errors.NewNotFound(schema.GroupResource{Group: group, Resource: "ec2nodeclasses"}, class.Name)
	}
	return class, nil
}

func (p *Provider) typesOf(class *EC2NodeClass) ([]*cloudprovider.InstanceType, error) {
	settings, err := class.settings()
	if err != nil {
		return nil, err
	}
	return p.ec2.InstanceTypes(settings)
}

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/awslabs/operatorpkg/controller"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/utils/nodeclaim"
)

const (
	terminationFinalizer = group + "/termination"
	// interruptionAnnotation of a Node has the time at which EC2 takes back its Spot instance (slipway sandbox reclaim).
	interruptionAnnotation = "sandbox.slipway/spot-interruption"
)

// NodeClassController makes a node class ready once its subnets are found, and keeps it until its nodes are gone. What
// else it selects in AWS is not looked up.
type NodeClassController struct {
	client   client.Client
	recorder events.Recorder
}

// NewNodeClassController is the controller of EC2NodeClasses.
func NewNodeClassController(kube client.Client, recorder events.Recorder) controller.Controller {
	return &NodeClassController{client: kube, recorder: recorder}
}

// Reconcile implements the controller.
func (c *NodeClassController) Reconcile(ctx context.Context, class *EC2NodeClass) (reconcile.Result, error) {
	stored := class.DeepCopyObject().(*EC2NodeClass)
	if !class.DeletionTimestamp.IsZero() {
		return c.release(ctx, class, stored)
	}
	if controllerutil.AddFinalizer(class, terminationFinalizer) {
		patch := client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{})
		return reconcile.Result{}, client.IgnoreNotFound(c.client.Patch(ctx, class, patch))
	}
	for _, condition := range nodeClassConditions {
		class.StatusConditions().SetTrue(condition)
	}
	if len(class.Status.Subnets) == 0 {
		class.StatusConditions().SetFalse("SubnetsReady", "SubnetsNotFound", "SubnetSelector did not match any Subnets")
	}
	if equality.Semantic.DeepEqual(stored, class) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(c.client.Status().Patch(ctx, class, client.MergeFrom(stored)))
}

func (c *NodeClassController) release(ctx context.Context, class, stored *EC2NodeClass) (reconcile.Result, error) {
	claims := &karpv1.NodeClaimList{}
	if err := c.client.List(ctx, claims, nodeclaim.ForNodeClass(class)); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing nodeclaims that are using nodeclass, %w", err)
	}
	if len(claims.Items) > 0 {
		c.recorder.Publish(events.Event{
			InvolvedObject: class,
			Type:           corev1.EventTypeNormal,
			Reason:         "WaitingOnNodeClaimTermination",
			Message:        fmt.Sprintf("Waiting on NodeClaim termination for %d NodeClaims", len(claims.Items)),
			DedupeValues:   []string{string(class.UID)},
		})
		return reconcile.Result{RequeueAfter: 10 * time.Minute}, nil
	}
	if !controllerutil.RemoveFinalizer(class, terminationFinalizer) {
		return reconcile.Result{}, nil
	}
	patch := client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{})
	return reconcile.Result{}, client.IgnoreNotFound(c.client.Patch(ctx, class, patch))
}

// Register implements the controller.
func (c *NodeClassController) Register(_ context.Context, m manager.Manager) error {
	deletions := predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(event.UpdateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return true },
	}
	ofClaim := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, claim client.Object) []reconcile.Request {
		reference := claim.(*karpv1.NodeClaim).Spec.NodeClassRef
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: reference.Name}}}
	})
	return ctrl.NewControllerManagedBy(m).
		Named("nodeclass").
		For(&EC2NodeClass{}).
		Watches(&karpv1.NodeClaim{}, ofClaim, builder.WithPredicates(deletions)).
		Complete(reconcile.AsReconciler(m.GetClient(), c))
}

// InterruptionController does what karpenter-provider-aws does for a message in the interruption queue: it deletes the
// NodeClaim, so that the node drains, and launches nothing on that offering for a while.
type InterruptionController struct {
	client   client.Client
	ec2      *EC2
	recorder events.Recorder
}

// NewInterruptionController is the controller of Spot interruptions.
func NewInterruptionController(kube client.Client, ec2 *EC2, recorder events.Recorder) controller.Controller {
	return &InterruptionController{client: kube, ec2: ec2, recorder: recorder}
}

// Reconcile implements the controller.
func (c *InterruptionController) Reconcile(ctx context.Context, node *corev1.Node) (reconcile.Result, error) {
	if _, ok := interruption(node); !ok {
		return reconcile.Result{}, nil
	}
	claims := &karpv1.NodeClaimList{}
	if err := c.client.List(ctx, claims, nodeclaim.ForProviderID(node.Spec.ProviderID)); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing nodeclaims, %w", err)
	}
	for i := range claims.Items {
		claim := &claims.Items[i]
		if !claim.DeletionTimestamp.IsZero() {
			continue
		}
		for _, object := range []client.Object{claim, node} {
			c.recorder.Publish(events.Event{
				InvolvedObject: object,
				Type:           corev1.EventTypeWarning,
				Reason:         "SpotInterrupted",
				Message:        "Spot interruption warning was triggered",
				DedupeValues:   []string{string(object.GetUID())},
			})
		}
		// An instance of another market that ends says nothing about EC2's capacity.
		if claim.Labels[karpv1.CapacityTypeLabelKey] == karpv1.CapacityTypeSpot {
			c.ec2.MarkUnavailable(claim.Labels[corev1.LabelInstanceTypeStable], Offer{
				Zone:         claim.Labels[corev1.LabelTopologyZone],
				CapacityType: karpv1.CapacityTypeSpot,
			})
		}
		if err := c.client.Delete(ctx, claim); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("deleting nodeclaim, %w", err)
		}
	}
	return reconcile.Result{}, nil
}

// Register implements the controller.
func (c *InterruptionController) Register(_ context.Context, m manager.Manager) error {
	interrupted := predicate.NewPredicateFuncs(func(node client.Object) bool {
		_, ok := interruption(node)
		return ok
	})
	return ctrl.NewControllerManagedBy(m).
		Named("interruption").
		For(&corev1.Node{}, builder.WithPredicates(interrupted)).
		Complete(reconcile.AsReconciler(m.GetClient(), c))
}

// interruption is the time at which a node's instance is taken back, if it is.
func interruption(node client.Object) (time.Time, bool) {
	deadline, err := time.Parse(time.RFC3339, node.GetAnnotations()[interruptionAnnotation])
	return deadline, err == nil
}

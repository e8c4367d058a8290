package main

import (
	"context"
	"fmt"
	"reflect"
	"sort"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// change is what a watch of Workloads would have said; old is nil for a new one.
type change struct{ old, new *kueue.Workload }

// store is the API server's stand-in: a client over maps. Objects in it are never changed in place. A write of a
// Workload is kept in changes until the driver delivers it, as an informer would.
//
// An apply of a Workload's status replaces the status: Kueue's admission is its one owner here, and its patch carries
// all of its conditions. controller-runtime's fake client does the same 40 times slower (2026-11-23).
type store struct {
	client.Client // nil: a call of a method that isn't below is an error of this program
	scheme        *runtime.Scheme
	mu            sync.RWMutex
	objects       map[reflect.Type]map[client.ObjectKey]client.Object
	changes       []change
	version       int
	decided       int // writes of Workloads that change more than what they say
	priorities    map[int32]*int32
}

func newStore(scheme *runtime.Scheme) *store {
	return &store{scheme: scheme, objects: map[reflect.Type]map[client.ObjectKey]client.Object{}, priorities: map[int32]*int32{}}
}

func (s *store) Scheme() *runtime.Scheme { return s.scheme }

func missing(o client.Object, key client.ObjectKey) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: reflect.TypeOf(o).Elem().Name()}, key.String())
}

// Get copies the object, unless the caller says that it only reads.
func (s *store) Get(_ context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	asked := client.GetOptions{}
	asked.ApplyOptions(options)
	s.mu.RLock()
	found, ok := s.objects[reflect.TypeOf(into)][key]
	s.mu.RUnlock()
	if !ok {
		return missing(into, key)
	}
	if !ptr.Deref(asked.UnsafeDisableDeepCopy, false) {
		found = copyOf(found)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found).Elem())
	return nil
}

// copyOf copies all but the pods' templates of a Workload: a job's don't change, and Kueue adjusts none to limits, overhead or
// LimitRanges, which jobs of a trace don't have. It takes a quarter from a week of stack prod (2026-11-28).
func copyOf(o client.Object) client.Object {
	w, ok := o.(*kueue.Workload)
	if !ok {
		return o.DeepCopyObject().(client.Object)
	}
	copied := &kueue.Workload{TypeMeta: w.TypeMeta, Spec: w.Spec}
	w.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	w.Status.DeepCopyInto(&copied.Status)
	return copied
}

// List returns the objects of a kind, by name. Kueue asks by index while its own objects are added, when there are no
// LocalQueues and Workloads yet, and for LimitRanges: an index is therefore answered with nothing.
func (s *store) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(options)
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []client.Object
	for key, o := range s.objects[reflect.PointerTo(items.Type().Elem())] {
		if asked.Namespace != "" && key.Namespace != asked.Namespace {
			continue
		}
		if asked.FieldSelector != nil && !asked.FieldSelector.Empty() {
			return fmt.Errorf("list of %T by %s: the engine has no such index", list, asked.FieldSelector)
		}
		if asked.LabelSelector != nil && !asked.LabelSelector.Matches(labels.Set(o.GetLabels())) {
			continue
		}
		found = append(found, o)
	}
	sort.Slice(found, func(a, b int) bool {
		return client.ObjectKeyFromObject(found[a]).String() < client.ObjectKeyFromObject(found[b]).String()
	})
	objects := make([]runtime.Object, len(found))
	for i, o := range found {
		objects[i] = o.DeepCopyObject()
	}
	return meta.SetList(list, objects)
}

func (s *store) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.SetGeneration(1)
	s.put(o.DeepCopyObject().(client.Object))
	return nil
}

// put replaces an object and numbers it; a Workload's change is kept for delivery.
func (s *store) put(o client.Object) {
	s.version++
	o.SetResourceVersion(fmt.Sprint(s.version))
	kind := reflect.TypeOf(o)
	if s.objects[kind] == nil {
		s.objects[kind] = map[client.ObjectKey]client.Object{}
	}
	if w, ok := o.(*kueue.Workload); ok {
		s.share(w)
		old, _ := s.objects[kind][client.ObjectKeyFromObject(o)].(*kueue.Workload)
		s.changes = append(s.changes, change{old, w})
		if old == nil || decides(old, w) {
			s.decided++
		}
	}
	s.objects[kind][client.ObjectKeyFromObject(o)] = o
}

// share has a Workload's priority stand where that of others with the same one stands. A search for preemptions reads that
// of all: each from memory of its own took 5 % of a replay of 10,000 jobs (2026-11-28).
func (s *store) share(w *kueue.Workload) {
	if w.Spec.Priority == nil {
		return
	}
	if _, ok := s.priorities[*w.Spec.Priority]; !ok {
		s.priorities[*w.Spec.Priority] = w.Spec.Priority
	}
	w.Spec.Priority = s.priorities[*w.Spec.Priority]
}

// write replaces what edit changes of the object as it is stored, unless another write came first.
func (s *store) write(o client.Object, edit func(stored client.Object)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.objects[reflect.TypeOf(o)][client.ObjectKeyFromObject(o)]
	if !ok {
		return missing(o, client.ObjectKeyFromObject(o))
	}
	if o.GetResourceVersion() != "" && o.GetResourceVersion() != old.GetResourceVersion() {
		return apierrors.NewConflict(schema.GroupResource{Resource: reflect.TypeOf(o).Elem().Name()}, o.GetName(),
			fmt.Errorf("resourceVersion %s is not %s", o.GetResourceVersion(), old.GetResourceVersion()))
	}
	fresh := copyOf(old)
	edit(fresh)
	s.put(fresh)
	reflect.ValueOf(o).Elem().Set(reflect.ValueOf(copyOf(fresh)).Elem())
	return nil
}

// Update writes all but the status.
func (s *store) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	w, ok := o.(*kueue.Workload)
	if !ok {
		return fmt.Errorf("update of %T", o)
	}
	return s.write(o, func(stored client.Object) {
		fresh := stored.(*kueue.Workload)
		if !equality.Semantic.DeepEqual(fresh.Spec, w.Spec) {
			fresh.Generation++
		}
		fresh.Labels, fresh.Annotations, fresh.Finalizers = w.Labels, w.Annotations, w.Finalizers
		w.Spec.DeepCopyInto(&fresh.Spec)
	})
}

func (s *store) Status() client.SubResourceWriter { return statusWriter{store: s} }

type statusWriter struct {
	client.SubResourceWriter
	store *store
}

func (w statusWriter) set(o client.Object) error {
	from, ok := o.(*kueue.Workload)
	if !ok {
		return fmt.Errorf("status of %T", o)
	}
	return w.store.write(o, func(stored client.Object) {
		fresh := stored.(*kueue.Workload)
		reclaimable := fresh.Status.ReclaimablePods
		from.Status.DeepCopyInto(&fresh.Status)
		fresh.Status.ReclaimablePods = reclaimable
	})
}

func (w statusWriter) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	return w.set(o)
}

func (w statusWriter) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	return w.set(o)
}

// take returns the changes since the last call.
func (s *store) take() []change {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.changes
	s.changes = nil
	return taken
}

// decides says whether a write changes what Kueue goes by: a message or a time of a condition is no decision.
func decides(old, now *kueue.Workload) bool {
	was, is := &old.Status, &now.Status
	return holding(old) != holding(now) || !equality.Semantic.DeepEqual(was.Admission, is.Admission) ||
		!equality.Semantic.DeepEqual(was.RequeueState, is.RequeueState) ||
		!equality.Semantic.DeepEqual(was.AdmissionChecks, is.AdmissionChecks) || !equality.Semantic.DeepEqual(old.Spec, now.Spec)
}

// holding has the types of the conditions that are true.
func holding(w *kueue.Workload) string {
	types := ""
	for _, one := range w.Status.Conditions { // conditions are only appended
		if one.Status == metav1.ConditionTrue {
			types += one.Type + " "
		}
	}
	return types
}

// decisions counts those writes so far.
func (s *store) decisions() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.decided
}

func (s *store) workload(key client.ObjectKey) *kueue.Workload {
	w := &kueue.Workload{}
	must(s.Get(context.Background(), key, w))
	return w
}

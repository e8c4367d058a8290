package main

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	controllerconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/kueue/pkg/podset"
	"sigs.k8s.io/kueue/pkg/util/priority"
	utiltas "sigs.k8s.io/kueue/pkg/util/tas"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
	workloadpatching "sigs.k8s.io/kueue/pkg/workload/patching"
)

const jobsModel = "model: all pods run for the given duration; checks of admission are ready at once"

// deletion is the least time from an eviction until the quota is free: the job's controller suspends it, and says so.
// Without it two workloads that preempt each other would do so for ever at one moment.
const deletion = time.Second

type state int

const (
	future state = iota
	queued
	starting
	running
	stopping
	finished
)

// job is a submitted job with its Workload; it takes the place of the job's controller and of the kubelets.
type job struct {
	spec     *jobSpec
	key      client.ObjectKey
	workload *kueue.Workload // as it is created
	state    state
	refused  bool
	judged   bool   // whether it was asked if it could ever be admitted
	message  string // the last one that said why it waits
	held     string // why its pods last got no new node
	// life numbers the times at which it was stopped, so that what was planned before is dropped.
	life    int
	started time.Time
	// kept is the work that the last checkpoint has.
	kept  time.Duration
	pods  []*pod
	bound int
}

func (r *run) readJobs() error {
	for i := range r.in.Jobs {
		spec := &r.in.Jobs[i]
		j := &job{spec: spec, key: client.ObjectKey{Namespace: spec.Namespace, Name: spec.Name}}
		w, err := r.newWorkload(spec, i)
		if err != nil {
			return fmt.Errorf("input: jobs[%d] (%s): %w", i, spec.Name, err)
		}
		j.workload = w
		r.jobs = append(r.jobs, j)
		r.byKey[j.key] = j
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: spec.Namespace,
			Labels: map[string]string{corev1.LabelMetadataName: spec.Namespace}}}
		if r.control.store.Get(r.ctx, client.ObjectKeyFromObject(namespace), &corev1.Namespace{}) != nil {
			must(r.control.store.Create(r.ctx, namespace))
		}
	}
	return nil
}

// newWorkload is what Kueue's job controllers make of a job. Its UID orders jobs as the input does.
func (r *run) newWorkload(spec *jobSpec, number int) (*kueue.Workload, error) {
	id := fmt.Sprintf("%08d", number)
	w := &kueue.Workload{
		TypeMeta: metav1.TypeMeta{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload"},
		ObjectMeta: metav1.ObjectMeta{
			Name: spec.Name, Namespace: spec.Namespace, UID: types.UID("workload-" + id),
			Labels: map[string]string{controllerconstants.JobUIDLabel: "job-" + id},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: spec.Name,
				UID: types.UID("job-" + id), Controller: ptr.To(true)}},
		},
		Spec: kueue.WorkloadSpec{QueueName: kueue.LocalQueueName(spec.Queue)},
	}
	reference, level, err := priority.GetPriorityFromWorkloadPriorityClass(r.ctx, r.control.store, spec.PriorityClass)
	if err != nil {
		reference, level, err = priority.GetPriorityFromPriorityClass(r.ctx, r.control.store, spec.PriorityClass)
	}
	if err != nil {
		return nil, fmt.Errorf("priorityClass %s: no WorkloadPriorityClass or PriorityClass has this name", spec.PriorityClass)
	}
	w.Spec.PriorityClassRef, w.Spec.Priority = reference, ptr.To(level)
	_, podLevel, err := priority.GetPriorityFromPriorityClass(r.ctx, r.control.store, spec.PriorityClass)
	if err != nil { // a WorkloadPriorityClass: its name says nothing about pods
		_, podLevel, _ = priority.GetPriorityFromPriorityClass(r.ctx, r.control.store, "")
	}
	for _, set := range spec.PodSets {
		asked := kueue.PodSet{
			Name: kueue.PodSetReference(set.Name), Count: set.Count,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, SchedulerName: corev1.DefaultSchedulerName,
				NodeSelector: set.NodeSelector, Affinity: set.Affinity, Tolerations: set.Tolerations, Priority: ptr.To(podLevel),
				Containers: []corev1.Container{{Name: "main", Image: "none", Resources: corev1.ResourceRequirements{Requests: set.Requests}}},
			}},
		}
		if t := set.TopologyRequest; t.Required != nil || t.Preferred != nil {
			asked.TopologyRequest = &kueue.PodSetTopologyRequest{Required: t.Required, Preferred: t.Preferred}
		}
		w.Spec.PodSets = append(w.Spec.PodSets, asked)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w)
	if err != nil {
		return nil, err
	}
	withDefaults("Workload", content)
	filled := &kueue.Workload{}
	return filled, runtime.DefaultUnstructuredConverter.FromUnstructured(content, filled)
}

// submit creates the Workload. Equal creation times are ordered by a map in Kueue: a microsecond keeps them apart.
func (r *run) submit(j *job) {
	j.state = queued
	r.counts.Submitted++
	r.tell(j, event{Kind: "submitted"})
	w := j.workload.DeepCopy()
	w.CreationTimestamp = metav1.NewTime(time.Now().Add(time.Duration(r.counts.Submitted%1e6) * time.Microsecond))
	must(r.control.store.Create(r.ctx, w))
	r.new = append(r.new, j)
}

// observe follows a change of a Workload, as the controller of its job would.
func (r *run) observe(c change) {
	j := r.byKey[client.ObjectKeyFromObject(c.new)]
	was := c.old != nil && workload.IsAdmitted(c.old)
	evicted := c.old != nil && !workloadevict.IsEvicted(c.old) && workloadevict.IsEvicted(c.new)
	switch {
	case evicted && workload.HasQuotaReservation(c.new):
		r.evict(j, c.new)
	case !was && workload.IsAdmitted(c.new):
		r.start(j, c.new)
	case workload.HasQuotaReservation(c.new) && !workload.IsAdmitted(c.new) && !workload.HasAllChecksReady(c.new):
		r.answerChecks(c.new)
	case !workload.HasQuotaReservation(c.new):
		if condition := meta.FindStatusCondition(c.new.Status.Conditions, kueue.WorkloadQuotaReserved); condition != nil && j.state == queued {
			r.waits(j, "queue", condition.Message)
			r.said[j.shape()] = condition.Message
			r.mayRefuse(j, c.new, condition)
		}
	}
}

// mayRefuse says so when a job can't be admitted, whatever ends. It stays in its queue, where it is in the way of others
// as it is in a cluster. Kueue's message doesn't decide: a cycle that goes on where the last one ended names only the
// flavors that were left.
func (r *run) mayRefuse(j *job, w *kueue.Workload, condition *metav1.Condition) {
	if condition.Reason == kueue.WorkloadInadmissible {
		r.refuse(j, condition.Message)
	} else if !workload.IsActive(w) {
		r.refuse(j, strings.TrimPrefix(j.held+": "+condition.Message, ": "))
	} else if !j.judged {
		j.judged = true
		if why := r.control.never(w); why != "" {
			r.refuse(j, why)
		}
	}
}

// refuse says that a job can never run. It is the last event of the job, which stays in the way of others all the same:
// one that another flavor has run after all is counted no second time.
func (r *run) refuse(j *job, message string) {
	if j.refused {
		return
	}
	r.tell(j, event{Kind: "refused", Message: message})
	j.refused = true
	r.counts.Refused++
}

// count changes a count of jobs, unless the job is among those that were refused.
func (r *run) count(j *job, which *int, by int) {
	if !j.refused {
		*which += by
	}
}

// shape is equal for jobs that Kueue answers in the same way at the same moment (its SchedulingEquivalenceHashing).
func (j *job) shape() string {
	return fmt.Sprint(j.spec.Namespace, j.spec.Queue, j.spec.PriorityClass, j.spec.PodSets)
}

// echo says why jobs wait that Kueue has set aside together with one of the same shape, without a word of their own.
func (r *run) echo() {
	for _, j := range r.new {
		if j.state == queued && j.message == "" {
			r.waits(j, "queue", r.said[j.shape()])
		}
	}
	r.new = nil
}

// tell writes an event of a job.
func (r *run) tell(j *job, e event) {
	if !j.refused {
		e.Job = j.spec.Name
		r.say(e)
	}
}

// waits says why a job waits, when that changes.
func (r *run) waits(j *job, layer, message string) {
	if message != "" && message != j.message && j.state != running {
		j.message = message
		r.tell(j, event{Kind: "pending", Layer: layer, Message: message})
	}
}

// answerChecks takes the place of the controllers of admission checks: they are ready at once.
func (r *run) answerChecks(w *kueue.Workload) {
	fresh := r.control.store.workload(client.ObjectKeyFromObject(w))
	for _, check := range fresh.Status.AdmissionChecks {
		check.State, check.Message = kueue.CheckStateReady, ""
		workloadpatching.SetAdmissionCheckState(&fresh.Status.AdmissionChecks, check, clock.RealClock{})
	}
	must(r.control.store.Status().Update(r.ctx, fresh))
}

// start makes the pods of an admitted job, with what its flavors add to them.
func (r *run) start(j *job, w *kueue.Workload) {
	j.state, j.message, j.bound, j.pods = starting, "", 0, nil
	flavors := map[string]map[string]string{}
	for i := range w.Status.Admission.PodSetAssignments {
		assignment := &w.Status.Admission.PodSetAssignments[i]
		flavors[string(assignment.Name)] = map[string]string{}
		for name, flavor := range assignment.Flavors {
			flavors[string(assignment.Name)][string(name)] = string(flavor)
		}
	}
	r.tell(j, event{Kind: "admitted", Flavors: flavors})
	for i := range w.Status.Admission.PodSetAssignments {
		assignment := &w.Status.Admission.PodSetAssignments[i]
		set := &w.Spec.PodSets[i]
		template := set.Template.DeepCopy()
		info, err := podset.FromAssignment(r.ctx, r.control.store, assignment, set)
		must(err)
		if err := podset.Merge(logr.Discard(), &template.ObjectMeta, &template.Spec, info); err != nil {
			// As the job's controller does with an error that stays (podset.IsPermanent).
			r.refuse(j, err.Error())
			j.state = finished
			must(workloadfinish.Finish(r.ctx, r.control.store, r.control.store.workload(j.key), "FailedToStart", err.Error(), clock.RealClock{}))
			return
		}
		template.Spec.SchedulingGates = nil
		for _, part := range domains(assignment, info.Count) {
			j.pods = append(j.pods, r.cluster.podsOf(j, string(set.Name), template, part)...)
		}
	}
	r.ready(j, false)
	r.cluster.add(j.pods)
}

// domain is a number of pods on nodes with these labels.
type domain struct {
	labels map[string]string
	count  int32
}

// domains are where Kueue's topology-aware scheduling wants the pods; without it, one of all nodes.
func domains(assignment *kueue.PodSetAssignment, count int32) []domain {
	topology := utiltas.InternalFrom(assignment.TopologyAssignment)
	if topology == nil {
		return []domain{{nil, count}}
	}
	var found []domain
	for _, one := range topology.Domains {
		found = append(found, domain{utiltas.NodeLabelsFromKeysAndValues(topology.Levels, one.Values), one.Count})
	}
	return found
}

// placed is called when a pod is on a ready node; with the last one the job runs.
func (r *run) placed(j *job) {
	if j.bound++; j.bound < len(j.pods) {
		return
	}
	j.state, j.started = running, time.Now()
	r.count(j, &r.counts.Running, 1)
	names := make([]string, len(j.pods))
	for i, p := range j.pods {
		names[i] = p.node.name
	}
	r.tell(j, event{Kind: "running", Nodes: names})
	r.ready(j, true)
	life := j.life
	r.after(seconds(j.spec.Duration)-j.kept, func() {
		if j.life == life && j.state == running {
			r.finish(j)
		}
	})
}

// ready writes the condition that Kueue's waitForPodsReady goes by, as its job controllers do.
func (r *run) ready(j *job, all bool) {
	if !r.control.podsReady {
		return
	}
	condition := metav1.Condition{Type: kueue.WorkloadPodsReady, Status: metav1.ConditionFalse, Reason: kueue.WorkloadWaitForStart,
		Message: "Not all pods are ready or succeeded"}
	if all {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, kueue.WorkloadStarted, "All pods reached readiness and the workload is running"
	}
	w := r.control.store.workload(j.key)
	if meta.SetStatusCondition(&w.Status.Conditions, condition) {
		must(r.control.store.Status().Update(r.ctx, w))
	}
}

func (r *run) finish(j *job) {
	w := r.control.store.workload(j.key)
	if workloadevict.IsEvicted(w) { // an eviction of this moment came first
		return
	}
	j.state = finished
	j.life++
	r.count(j, &r.counts.Running, -1)
	r.count(j, &r.counts.Finished, 1)
	r.tell(j, event{Kind: "finished"})
	r.cluster.remove(j.pods)
	must(workloadfinish.Finish(r.ctx, r.control.store, w, kueue.WorkloadFinishedReasonSucceeded, "Job finished successfully", clock.RealClock{}))
}

// interrupt ends what a job does, and returns the seconds of work that are lost with it.
func (r *run) interrupt(j *job) float64 {
	lost := time.Duration(0)
	if j.state == running {
		r.count(j, &r.counts.Running, -1)
		done := j.kept + time.Since(j.started)
		lost, j.kept = done, 0
		if every := j.spec.CheckpointEvery; every != nil {
			j.kept = time.Duration(math.Floor(done.Seconds()/(*every)) * float64(seconds(*every)))
			lost = done - j.kept
		}
	}
	j.state, j.message = stopping, ""
	j.life++
	if !j.refused {
		r.evictions++
	}
	return round(lost.Seconds(), 6)
}

var preemptor = regexp.MustCompile(`\(UID: workload-(\d+),`)

// evict follows an eviction by Kueue: pods get their grace period, then the quota is free.
func (r *run) evict(j *job, w *kueue.Workload) {
	condition := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
	e := event{Kind: "evicted", Reason: condition.Reason, Message: condition.Message}
	if preempted := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadPreempted); preempted != nil && condition.Reason == kueue.WorkloadEvictedByPreemption {
		e.Cause = preempted.Reason
	}
	if found := preemptor.FindStringSubmatch(condition.Message); found != nil {
		var number int
		_, err := fmt.Sscanf(found[1], "%d", &number)
		must(err)
		e.By = &r.jobs[number].spec.Name
	}
	e.LostSeconds = ptr.To(r.interrupt(j))
	r.tell(j, e)
	// Pods that wait are gone with the next look of their controller, those that run after their grace period.
	grace := deletion
	for _, p := range j.pods {
		if p.node != nil {
			grace = max(deletion, seconds(j.spec.GracePeriod))
		}
	}
	r.cluster.forget(j.pods)
	life := j.life
	r.after(grace, func() {
		if j.life == life {
			r.vacate(j)
		}
	})
}

// vacate is step 6 of Kueue's jobframework (pkg/controller/jobframework/reconciler.go), once the pods are gone.
func (r *run) vacate(j *job) {
	r.cluster.remove(j.pods)
	j.pods, j.state = nil, queued
	w := r.control.store.workload(j.key)
	must(workloadpatching.PatchAdmissionStatus(r.ctx, r.control.store, w, clock.RealClock{}, func(w *kueue.Workload) (bool, error) {
		evicted := meta.FindStatusCondition(w.Status.Conditions, kueue.WorkloadEvicted)
		requeue := evicted.Reason == kueue.WorkloadEvictedByPreemption || evicted.Reason == kueue.WorkloadEvictedDueToNodeFailures
		workload.SetRequeuedCondition(w, evicted.Reason, evicted.Message, requeue)
		reason := workload.UnadmittedWorkloadReasonWithFallback(kueue.WorkloadQuotaReservedReasonPendingEvaluation, kueue.WorkloadPending)
		workload.UnsetQuotaReservationWithCondition(w, reason, evicted.Message, time.Now())
		return true, nil
	}))
}

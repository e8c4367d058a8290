package main

import (
	"container/heap"
	"context"
	"sort"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// timed is something that happens at a time of the replay.
type timed struct {
	at     time.Time
	number int
	do     func()
}

type agenda []*timed

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	if !a[i].at.Equal(a[j].at) {
		return a[i].at.Before(a[j].at)
	}
	return a[i].number < a[j].number
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*timed)) }
func (a *agenda) Pop() any     { o := *a; x := o[len(o)-1]; *a = o[:len(o)-1]; return x }

// run is one replay: what is to happen, Kueue, the cluster, the jobs.
type run struct {
	ctx       context.Context
	in        *input
	out       *writer
	epoch     time.Time
	until     time.Time
	agenda    agenda
	number    int
	control   *control
	cluster   *cluster
	jobs      []*job
	byKey     map[client.ObjectKey]*job
	counts    counts
	evictions int
	requeuing bool
	new       []*job            // submitted at this moment
	said      map[string]string // Kueue's last message, by shape of job
	reason    *string
}

func newRun(ctx context.Context, in *input) (*run, error) {
	scheme := newScheme()
	p, err := readPlatform(scheme, in)
	if err != nil {
		return nil, err
	}
	cfg, err := configuration(scheme, in.Kueue.Configuration)
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, in: in, out: newWriter(), byKey: map[client.ObjectKey]*job{}, said: map[string]string{}}
	if r.control, err = newControl(ctx, newStore(scheme), p, cfg); err != nil {
		return nil, err
	}
	if r.cluster, err = newCluster(r, in.Pools, p.nodePools); err != nil {
		return nil, err
	}
	fixGates()
	return r, r.readJobs()
}

func (r *run) since(t time.Time) float64 { return round(t.Sub(r.epoch).Seconds(), 6) }

func (r *run) say(e event) {
	e.T = r.since(time.Now())
	r.out.line(e)
}

// after has something done when this much time has passed.
func (r *run) after(delay time.Duration, do func()) {
	r.number++
	heap.Push(&r.agenda, &timed{time.Now().Add(delay), r.number, do})
}

func (r *run) begin() {
	r.epoch = time.Now()
	r.say(event{Kind: "engine", Engine: &engine{
		Kueue:     versionOf("sigs.k8s.io/kueue"),
		Scheduler: r.cluster.schedulerName(),
		Karpenter: versionOf("sigs.k8s.io/karpenter"),
		Nodes:     nodesModel,
		Jobs:      jobsModel,
	}})
	if r.in.Until != nil {
		r.until = r.epoch.Add(seconds(*r.in.Until))
	}
	r.cluster.begin()
	order := make([]*job, len(r.jobs))
	copy(order, r.jobs)
	sort.SliceStable(order, func(a, b int) bool { return order[a].spec.Submitted < order[b].spec.Submitted })
	for _, j := range order {
		r.after(seconds(j.spec.Submitted), func() { r.submit(j) })
	}
	r.settle()
}

// loop lets one moment after the other pass, until nothing is left to happen.
func (r *run) loop() {
	for len(r.agenda) > 0 && r.counts.Finished+r.counts.Refused < len(r.jobs) {
		if reason := cut.Load(); reason != nil {
			r.reason = reason
			return
		}
		next := r.agenda[0].at
		if !r.until.IsZero() && next.After(r.until) {
			time.Sleep(r.until.Sub(time.Now()))
			planned := "until"
			r.reason = &planned
			return
		}
		if wait := next.Sub(time.Now()); wait > 0 {
			time.Sleep(wait)
		}
		for len(r.agenda) > 0 && !r.agenda[0].at.After(next) {
			heap.Pop(&r.agenda).(*timed).do()
		}
		r.settle()
		r.out.progress(r.since(time.Now()), r.tally(), len(r.jobs))
	}
}

// settle lets Kueue, the scheduler and the pools act until none of them changes anything at this moment.
func (r *run) settle() {
	synctest.Wait()
	for cut.Load() == nil {
		changed := r.deliver()
		if r.cycles() {
			changed = true
		}
		if r.cluster.round() {
			changed = true
		}
		if !changed {
			r.echo()
			return
		}
	}
}

func (r *run) deliver() bool {
	delivered := r.control.deliver(r.observe, func(key client.ObjectKey, delay time.Duration) {
		r.after(delay, func() { r.control.reconcile(key, r.again) })
	})
	if delivered {
		r.wake()
	}
	return delivered
}

func (r *run) again(key client.ObjectKey, delay time.Duration) {
	r.after(delay, func() { r.control.reconcile(key, r.again) })
}

// wake has the run look again when Kueue's requeuer has moved inadmissible workloads back, one period after a change.
func (r *run) wake() {
	if r.requeuing {
		return
	}
	r.requeuing = true
	r.after(requeuePeriod, func() { r.requeuing = false })
}

// cycles runs Kueue's scheduling cycles until one has no effect. One that only says something else about what waits has
// none: while victims of a preemption end, two workloads can get each other's message in turn, as often as they are tried.
func (r *run) cycles() bool {
	changed := false
	before, seen := r.control.state(), map[string]bool{}
	for before.waiting > 0 && before != r.control.settled && cut.Load() == nil {
		r.control.cycle()
		r.deliver()
		now := r.control.state()
		if now != before {
			changed = true
			clear(seen)
		} else if standing, left := r.control.standing(); !left || seen[standing] {
			r.control.settled = now
		} else {
			seen[standing] = true
		}
		before = now
	}
	return changed
}

// end writes the summary, also of a replay that was cut.
func (r *run) end() {
	r.out.line(summary{
		T: r.since(time.Now()), Kind: "summary", Cut: cut.Load() != nil, Reason: r.reason,
		WallSeconds: round(r.out.elapsed(), 3), Jobs: r.tally(), Cycles: r.control.cycles, Evictions: r.evictions,
	})
	r.out.flush()
}

func (r *run) tally() counts {
	c := r.counts
	c.Pending = c.Submitted - c.Finished - c.Running - c.Refused
	return c
}

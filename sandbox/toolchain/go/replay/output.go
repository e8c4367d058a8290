package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"
)

// event is one line of the output. Fields that a kind doesn't have are left out.
type event struct {
	T            float64                      `json:"t"`
	Kind         string                       `json:"kind"`
	Engine       *engine                      `json:"engine,omitempty"`
	Job          string                       `json:"job,omitempty"`
	Layer        string                       `json:"layer,omitempty"`
	Flavors      map[string]map[string]string `json:"flavors,omitempty"`
	Nodes        []string                     `json:"nodes,omitempty"`
	By           *string                      `json:"by,omitempty"`
	Node         string                       `json:"node,omitempty"`
	Pool         string                       `json:"pool,omitempty"`
	InstanceType string                       `json:"instanceType,omitempty"`
	Zone         string                       `json:"zone,omitempty"`
	CapacityType string                       `json:"capacityType,omitempty"`
	USDPerHour   *float64                     `json:"usdPerHour,omitempty"`
	State        string                       `json:"state,omitempty"`
	Reason       string                       `json:"reason,omitempty"`
	Cause        string                       `json:"cause,omitempty"`
	Message      string                       `json:"message,omitempty"`
	LostSeconds  *float64                     `json:"lostSeconds,omitempty"`
}

// engine names what decided: a version of upstream, or a model of ours.
type engine struct {
	Kueue     string `json:"kueue"`
	Scheduler string `json:"scheduler"`
	Karpenter string `json:"karpenter"`
	Nodes     string `json:"nodes"`
	Jobs      string `json:"jobs"`
}

// summary is the last line. WallSeconds alone differs between two runs of one input.
type summary struct {
	T           float64 `json:"t"`
	Kind        string  `json:"kind"`
	Cut         bool    `json:"cut"`
	Reason      *string `json:"reason"`
	WallSeconds float64 `json:"wallSeconds"`
	Jobs        counts  `json:"jobs"`
	Cycles      int     `json:"cycles"`
	Evictions   int     `json:"evictions"`
}

type counts struct {
	Submitted int `json:"submitted"`
	Finished  int `json:"finished"`
	Running   int `json:"running"`
	Pending   int `json:"pending"`
	Refused   int `json:"refused"`
}

// writer writes lines of JSON; progress goes to stderr, at most one line a second.
type writer struct {
	out      *bufio.Writer
	began    time.Duration
	reported time.Duration
}

func newWriter() *writer {
	return &writer{out: bufio.NewWriterSize(os.Stdout, 1<<16), began: realClock()}
}

// realClock is the machine's clock, which a bubble has not replaced.
func realClock() time.Duration {
	var now syscall.Timeval
	if err := syscall.Gettimeofday(&now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}

func (w *writer) elapsed() float64 {
	return (realClock() - w.began).Seconds()
}

func (w *writer) line(value any) {
	content, err := json.Marshal(value)
	must(err)
	_, err = w.out.Write(append(content, '\n'))
	must(err)
}

func (w *writer) flush() {
	must(w.out.Flush())
}

// progress says how far the replay is, as one line of JSON.
func (w *writer) progress(t float64, c counts, of int) {
	now := realClock()
	if now-w.reported < time.Second {
		return
	}
	w.reported = now
	content, err := json.Marshal(map[string]any{"t": t, "wallSeconds": round(w.elapsed(), 1), "jobs": c, "of": of})
	must(err)
	fmt.Fprintln(os.Stderr, string(content))
	w.flush()
}

// round cuts what binary fractions add.
func round(f float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(f*scale) / scale
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

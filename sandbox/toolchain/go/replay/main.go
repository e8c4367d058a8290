// Replays jobs in virtual time, by the decisions of Kueue and kube-scheduler themselves.
//
// One JSON document on stdin (input.go), one event a line on stdout (output.go), progress on stderr. The clock of
// everything below is that of a testing/synctest bubble: it jumps to the next event once all goroutines wait.
//
//go:debug randautoseed=0
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// cut is why the replay must end before its time; nil while it needn't.
var cut atomic.Pointer[string]

func stop(reason string) { cut.CompareAndSwap(nil, &reason) }

func main() {
	testing.Init()
	flag.Parse()
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	// Most of what is allocated is a snapshot that a cycle drops.
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(3 << 30)
	in, err := read(os.Stdin)
	if err != nil {
		refuse(err)
	}
	if in.MaxWallSeconds > 0 {
		time.AfterFunc(seconds(in.MaxWallSeconds), func() { stop("wall time") })
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		stop("signal")
		<-signals
		os.Exit(130)
	}()
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "replay", F: func(t *testing.T) {
		synctest.Test(t, func(*testing.T) {
			replay(in)
			os.Exit(0) // goroutines of upstream that never end would make the end of the bubble a failure
		})
	}}}, nil, nil)
}

// refuse says what is wrong with the input.
func refuse(err error) {
	content, _ := json.Marshal(map[string]string{"error": err.Error()})
	fmt.Fprintln(os.Stderr, string(content))
	os.Exit(2)
}

func replay(in *input) {
	ctx, cancel := context.WithCancel(ctrl.LoggerInto(context.Background(), logr.Discard()))
	defer cancel()
	// A bubble begins in the year 2000. Before anything else, which would act once a second on the way.
	if delay := in.Start.Sub(time.Now()); delay > 0 {
		time.Sleep(delay)
	}
	r, err := newRun(ctx, in)
	if err != nil {
		refuse(err)
	}
	r.begin()
	r.loop()
	r.end()
}

// versionOf is the version of a module that is built in, and whether it is as released.
func versionOf(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			if dependency.Replace != nil {
				return dependency.Version + ", patched for speed"
			}
			return dependency.Version
		}
	}
	return "unknown"
}

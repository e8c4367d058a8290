// Command yunikorn runs YuniKorn's scheduler beside a cluster of the sandbox. Upstream's own command serves its REST API on
// port 9080 of every interface; this one answers health checks on the given address alone.
package main

import (
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/apache/yunikorn-core/pkg/entrypoint"
	corelog "github.com/apache/yunikorn-core/pkg/log"
	"github.com/apache/yunikorn-k8shim/pkg/client"
	"github.com/apache/yunikorn-k8shim/pkg/conf"
	shimlog "github.com/apache/yunikorn-k8shim/pkg/log"
	"github.com/apache/yunikorn-k8shim/pkg/plugin/predicates"
	"github.com/apache/yunikorn-k8shim/pkg/shim"
)

func main() {
	health := flag.String("health", "", "host and port of the health endpoint, on loopback")
	flag.Parse()
	var ready atomic.Bool
	failed := make(chan error, 1)
	go func() { failed <- http.ListenAndServe(*health, answering(&ready)) }()
	stop, err := run()
	if err != nil {
		log.Fatal(err)
	}
	ready.Store(true)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	select {
	case err := <-failed:
		log.Fatal(err)
	case <-signals:
		stop()
	}
}

// run starts the scheduler with the ConfigMaps of its namespace; it returns what ends it.
func run() (func(), error) {
	predicates.EnableOptionalKubernetesFeatureGates()
	maps, err := client.LoadBootstrapConfigMaps()
	if err != nil {
		return nil, err
	}
	if err := conf.UpdateConfigMaps(maps, true); err != nil {
		return nil, err
	}
	corelog.InitializeLogger(shimlog.RootLogger(), shimlog.GetZapConfigs())
	services := entrypoint.StartAllServicesWithParams(false, false)
	scheduler := shim.NewShimScheduler(services.RMProxy, conf.GetSchedulerConf(), maps)
	if err := scheduler.Run(); err != nil {
		return nil, err
	}
	return scheduler.Stop, nil
}

func answering(ready *atomic.Bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(answer http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			answer.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	return mux
}

// Command device-plugin says which resources NVIDIA's device plugin advertises on nodes that it is given: the GPUs, their
// MIG instances, and the plugin's configuration. The plugin's own packages read the configuration, find the devices,
// register with a kubelet and answer it; its `main` alone is not run. What stands in: NVIDIA's mock of NVML, here with
// handles of MIG devices, which it lacks; a kubelet that keeps what registers; `cat` as the control of the MPS daemon.
// A node may be `real`: then NVML is that of this machine, which is read and not changed.
//
// It reads a JSON map of nodes from stdin and writes one of answers. The plugin's paths below /var/lib/kubelet and
// /proc/driver are constants, so that it runs in a user and mount namespace of its own, where both are empty: Linux only.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/NVIDIA/go-nvlib/pkg/nvlib/device"
	"github.com/NVIDIA/go-nvlib/pkg/nvlib/info"
	spec "github.com/NVIDIA/k8s-device-plugin/api/config/v1"
	"github.com/NVIDIA/k8s-device-plugin/internal/plugin"
	"github.com/NVIDIA/k8s-device-plugin/internal/rm"
	"github.com/urfave/cli/v2"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const inside = "SLIPWAY_DEVICE_PLUGIN_NODE"

// Node is one machine, as the caller gives it.
type Node struct {
	Real      bool       `json:"real"`
	Count     int        `json:"count"`
	MemoryMiB uint64     `json:"memoryMiB"`
	MIG       bool       `json:"mig"`
	Instances []Instance `json:"instances"`
	Config    string     `json:"config"`
}

// Instance is a MIG instance of each GPU: its profile, and the memory slice at which it starts.
type Instance struct {
	Profile string `json:"profile"`
	Start   uint32 `json:"start"`
}

// Answer is what a kubelet knows of a node, or why the plugin does not start.
type Answer struct {
	Resources map[string]int `json:"resources,omitempty"`
	// Largest of 1 and 2 that a container gets when it requests so many.
	Granted map[string]int `json:"granted,omitempty"`
	Error   string         `json:"error,omitempty"`
}

func main() {
	if os.Getenv(inside) == "" {
		os.Exit(isolated())
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// isolated runs this program again, in namespaces in which it may mount, and returns its exit status.
func isolated() int {
	again := exec.Command("/proc/self/exe")
	again.Env = append(os.Environ(), inside+"=1", "DP_DISABLE_HEALTHCHECKS=all")
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	if err := again.Run(); err != nil {
		if again.ProcessState == nil {
			fmt.Fprintln(os.Stderr, "no user namespace:", err)
			return 2
		}
		return again.ProcessState.ExitCode()
	}
	return 0
}

func run() error {
	var nodes map[string]Node
	if err := json.NewDecoder(os.Stdin).Decode(&nodes); err != nil {
		return err
	}
	real := false
	for _, node := range nodes {
		real = real || node.Real
	}
	if err := prepare(real); err != nil {
		return fmt.Errorf("no mount namespace: %w", err)
	}
	kubelet, err := listen()
	if err != nil {
		return err
	}
	answers := make(map[string]Answer, len(nodes))
	for name, node := range nodes {
		answer, err := ask(node, kubelet)
		if err != nil {
			answer = Answer{Error: err.Error()}
		}
		answers[name] = answer
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}

// prepare makes the directories and files that the plugin expects of a node; a real one has those of its driver.
func prepare(real bool) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	hidden := []string{"/var/lib", "/proc/driver"}
	if real {
		hidden = hidden[:1]
	}
	for _, directory := range hidden {
		if err := syscall.Mount("tmpfs", directory, "tmpfs", 0, ""); err != nil {
			return fmt.Errorf("%s: %w", directory, err)
		}
	}
	// As NVIDIA's driver lists the minor number of each MIG instance's device.
	var minors strings.Builder
	for gpu := range 16 {
		for instance := range 8 {
			fmt.Fprintf(&minors, "gpu%d/gi%d/access %d\n", gpu, instance, minors.Len())
			fmt.Fprintf(&minors, "gpu%d/gi%d/ci0/access %d\n", gpu, instance, minors.Len())
		}
	}
	for _, directory := range []string{pluginapi.DevicePluginPath, "/var/lib/bin"} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return err
		}
	}
	if !real {
		if err := os.Mkdir("/proc/driver/nvidia-caps", 0o755); err != nil {
			return err
		}
		if err := os.WriteFile("/proc/driver/nvidia-caps/mig-minors", []byte(minors.String()), 0o644); err != nil {
			return err
		}
	}
	cat, err := exec.LookPath("cat")
	if err != nil {
		return err
	}
	os.Setenv("PATH", "/var/lib/bin:"+os.Getenv("PATH"))
	return os.Symlink(cat, "/var/lib/bin/nvidia-cuda-mps-control")
}

// ask starts the plugin on a node and returns what the kubelet got to know.
func ask(node Node, kubelet *kubelet) (Answer, error) {
	driver, err := machine(node)
	if err != nil {
		return Answer{}, err
	}
	devices := device.New(driver)
	platform := info.New(
		info.WithNvmlLib(driver), info.WithDeviceLib(devices), info.WithPlatform(info.PlatformNVML),
		info.WithPropertyExtractor(&info.PropertyExtractorMock{
			HasNvmlFunc: func() (bool, string) { return true, "as the node says" },
		}),
	)
	config, err := read(node.Config)
	if err != nil {
		return Answer{}, err
	}
	if err := rm.AddDefaultResourcesToConfig(platform, driver, devices, config); err != nil {
		return Answer{}, err
	}
	// The plugin takes the first pattern that matches. v0.20.0 matches whole names (NVIDIA/k8s-device-plugin#1807), and
	// no proxy of Go modules has it (2026-11-25): v0.19.3 finds `1g.5gb` in `1g.5gb+me`, so the longer ones go first.
	slices.SortStableFunc(config.Resources.MIGs, func(a, b spec.Resource) int {
		return len(b.Pattern) - len(a.Pattern)
	})
	strategies, err := spec.NewDeviceListStrategies(*config.Flags.Plugin.DeviceListStrategy)
	if err != nil {
		return Answer{}, err
	}
	plugins, err := plugin.New(context.Background(), platform, driver, devices,
		plugin.WithConfig(config), plugin.WithDeviceListStrategies(strategies),
		plugin.WithFailOnInitError(true), plugin.WithDeviceDiscoveryStrategy("nvml"))
	if err != nil {
		return Answer{}, err
	}
	kubelet.forget()
	for _, each := range plugins {
		if err := each.Start(pluginapi.KubeletSocket); err != nil {
			return Answer{}, err
		}
		defer each.Stop()
	}
	return kubelet.answer()
}

// read has the plugin read its configuration, with the flags that it and the operator's DaemonSet set by default.
func read(text string) (*spec.Config, error) {
	path := filepath.Join(pluginapi.DevicePluginPath, "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	var config *spec.Config
	app := cli.NewApp()
	app.Flags = []cli.Flag{
		&cli.StringFlag{Name: "config-file"},
		&cli.StringFlag{Name: "mig-strategy", Value: spec.MigStrategyNone},
		&cli.BoolFlag{Name: "fail-on-init-error", Value: true},
		&cli.StringFlag{Name: "nvidia-driver-root", Value: "/"},
		&cli.BoolFlag{Name: "pass-device-specs"},
		&cli.StringSliceFlag{Name: "device-list-strategy", Value: cli.NewStringSlice(spec.DeviceListStrategyEnvVar)},
		&cli.StringFlag{Name: "device-id-strategy", Value: spec.DeviceIDStrategyUUID},
		&cli.StringFlag{Name: "cdi-annotation-prefix", Value: spec.DefaultCDIAnnotationPrefix},
		&cli.StringFlag{Name: "mps-root", Value: "/run/nvidia/mps"},
		&cli.StringFlag{Name: "device-discovery-strategy", Value: "auto"},
	}
	app.Action = func(c *cli.Context) (err error) {
		config, err = spec.NewConfig(c, app.Flags)
		return err
	}
	if err := app.Run([]string{"device-plugin", "--config-file", path}); err != nil {
		return nil, err
	}
	spec.DisableResourceNamingInConfig(config)
	return config, nil
}

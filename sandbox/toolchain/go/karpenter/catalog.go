package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// Catalogs are what EC2 sells, in a file for each region, as the sandbox writes them (sandbox/nodes/offerings.py).
type Catalogs struct {
	Directory string

	mutex sync.Mutex
	read  map[string][]Type
}

// Type is one instance type. Sizes are those that Karpenter computes for its nodes.
type Type struct {
	Name string `json:"name"`
	// Labels describe the type; a well-known label that is not here is absent from its nodes.
	Labels    map[string]string `json:"labels"`
	CPU       int64             `json:"cpu"`
	MemoryMiB int64             `json:"memoryMiB"`
	// MaxPods applies where the node class names no maximum.
	MaxPods     int64 `json:"maxPods"`
	NVMeGB      int64 `json:"nvmeGB"`
	GPUs        int64 `json:"gpus"`
	EFA         int64 `json:"efa"`
	KubeCPU     int64 `json:"kubeReservedMillis"`
	KubeMiB     int64 `json:"kubeReservedMiB"`
	KubeMiBPod  int64 `json:"kubeReservedMiBPerPod"`
	EvictionMiB int64 `json:"evictionMiB"`
	// Prices are USD an hour by capacity type.
	Prices map[string]float64 `json:"prices"`
}

// Offer is a type's capacity in one zone.
type Offer struct {
	Zone         string
	CapacityType string
}

// Region has the types of a region; each file is read once.
func (c *Catalogs) Region(region string) ([]Type, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if types, ok := c.read[region]; ok {
		return types, nil
	}
	path := filepath.Join(c.Directory, region+".json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	types := []Type{}
	if err := json.Unmarshal(text, &types); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c.read == nil {
		c.read = map[string][]Type{}
	}
	c.read[region] = types
	return types, nil
}

// instanceType is the type as Karpenter schedules on it, with the settings of a node class.
func (t Type) instanceType(settings Settings, available func(Offer) bool) *cloudprovider.InstanceType {
	pods := lo.Ternary(settings.MaxPods > 0, settings.MaxPods, t.MaxPods)
	scratch := resource.MustParse(lo.Ternary(settings.RAID0 && t.NVMeGB > 0, fmt.Sprintf("%dG", t.NVMeGB), settings.Disk))
	return &cloudprovider.InstanceType{
		Name:         t.Name,
		Requirements: t.requirements(settings),
		Offerings:    t.offerings(settings, available),
		Capacity: corev1.ResourceList{
			corev1.ResourceCPU:              *resource.NewQuantity(t.CPU, resource.DecimalSI),
			corev1.ResourceMemory:           mebibytes(t.MemoryMiB),
			corev1.ResourceEphemeralStorage: scratch,
			corev1.ResourcePods:             *resource.NewQuantity(pods, resource.DecimalSI),
			gpuResource:                     *resource.NewQuantity(t.GPUs, resource.DecimalSI),
			efaResource:                     *resource.NewQuantity(lo.FromPtrOr(settings.EFA, t.EFA), resource.DecimalSI),
		},
		Overhead: &cloudprovider.InstanceTypeOverhead{
			KubeReserved: corev1.ResourceList{
				corev1.ResourceCPU:              *resource.NewMilliQuantity(t.KubeCPU, resource.DecimalSI),
				corev1.ResourceMemory:           mebibytes(t.KubeMiB + t.KubeMiBPod*pods),
				corev1.ResourceEphemeralStorage: resource.MustParse("1Gi"),
			},
			EvictionThreshold: corev1.ResourceList{
				corev1.ResourceMemory:           mebibytes(t.EvictionMiB),
				corev1.ResourceEphemeralStorage: *resource.NewQuantity(scratch.Value()/10, resource.BinarySI),
			},
		},
	}
}

func (t Type) offerings(settings Settings, available func(Offer) bool) cloudprovider.Offerings {
	offerings := cloudprovider.Offerings{}
	for _, subnet := range settings.Subnets {
		for capacity, price := range t.Prices {
			offerings = append(offerings, &cloudprovider.Offering{
				Requirements: offerRequirements(subnet, capacity),
				Price:        price,
				Available:    available(Offer{Zone: subnet.Zone, CapacityType: capacity}),
			})
		}
	}
	return offerings
}

func (t Type) requirements(settings Settings) scheduling.Requirements {
	requirements := scheduling.NewRequirements(
		in(corev1.LabelTopologyZone, lo.Map(settings.Subnets, func(one Subnet, _ int) string { return one.Zone })...),
		in(corev1.LabelTopologyRegion, settings.Region),
		in(zoneIDLabel, lo.Map(settings.Subnets, func(one Subnet, _ int) string { return one.ZoneID })...),
		in(karpv1.CapacityTypeLabelKey, lo.Keys(t.Prices)...),
		absent(corev1.LabelWindowsBuild),
	)
	for _, label := range append(instanceLabels, reservationLabels...) {
		if _, ok := t.Labels[label]; !ok {
			requirements.Add(absent(label))
		}
	}
	for label, value := range t.Labels {
		requirements.Add(in(label, value))
	}
	return requirements
}

func offerRequirements(subnet Subnet, capacity string) scheduling.Requirements {
	requirements := scheduling.NewRequirements(
		in(corev1.LabelTopologyZone, subnet.Zone), in(zoneIDLabel, subnet.ZoneID), in(karpv1.CapacityTypeLabelKey, capacity),
	)
	for _, label := range reservationLabels {
		requirements.Add(absent(label))
	}
	return requirements
}

func in(label string, values ...string) *scheduling.Requirement {
	return scheduling.NewRequirement(label, corev1.NodeSelectorOpIn, values...)
}

func absent(label string) *scheduling.Requirement {
	return scheduling.NewRequirement(label, corev1.NodeSelectorOpDoesNotExist)
}

func mebibytes(count int64) resource.Quantity {
	return *resource.NewQuantity(count<<20, resource.BinarySI)
}

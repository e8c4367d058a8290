package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// Catalog is what EC2 sells in a region, as the sandbox writes it (slipway/sandbox/nodes/catalog.py).
type Catalog struct {
	Region string `json:"region"`
	// Zones are the zones' IDs by name.
	Zones         map[string]string `json:"zones"`
	InstanceTypes []Type            `json:"instanceTypes"`
}

// Type is one instance type. Sizes are those that Karpenter computes for its nodes.
type Type struct {
	Name string `json:"name"`
	// Labels describe the type; a well-known label that is not here is absent from its nodes.
	Labels    map[string]string `json:"labels"`
	CPU       int64             `json:"cpu"`
	MemoryMiB int64             `json:"memoryMiB"`
	// MaxPods applies where the node class names no maximum.
	MaxPods     int64   `json:"maxPods"`
	NVMeGB      int64   `json:"nvmeGB"`
	GPUs        int64   `json:"gpus"`
	EFA         int64   `json:"efa"`
	KubeCPU     int64   `json:"kubeReservedMillis"`
	KubeMiB     int64   `json:"kubeReservedMiB"`
	KubeMiBPod  int64   `json:"kubeReservedMiBPerPod"`
	EvictionMiB int64   `json:"evictionMiB"`
	Offers      []Offer `json:"offerings"`
}

// Offer is a type in one zone, on demand or Spot, for USD an hour.
type Offer struct {
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
}

// ReadCatalog reads the file of a catalog.
func ReadCatalog(path string) (*Catalog, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	catalog := &Catalog{}
	if err := json.Unmarshal(text, catalog); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return catalog, nil
}

// instanceType is the type as Karpenter schedules on it, with the settings of a node class.
func (t Type) instanceType(catalog *Catalog, settings Settings, available func(Offer) bool) *cloudprovider.InstanceType {
	pods := lo.Ternary(settings.MaxPods > 0, settings.MaxPods, t.MaxPods)
	scratch := resource.MustParse(lo.Ternary(settings.RAID0 && t.NVMeGB > 0, fmt.Sprintf("%dG", t.NVMeGB), settings.Disk))
	return &cloudprovider.InstanceType{
		Name:         t.Name,
		Requirements: t.requirements(catalog),
		Offerings: lo.Map(t.Offers, func(offer Offer, _ int) *cloudprovider.Offering {
			return &cloudprovider.Offering{
				Requirements: offerRequirements(offer, catalog.Zones[offer.Zone]),
				Price:        offer.Price,
				Available:    available(offer),
			}
		}),
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

func (t Type) requirements(catalog *Catalog) scheduling.Requirements {
	zones := lo.Uniq(lo.Map(t.Offers, func(offer Offer, _ int) string { return offer.Zone }))
	requirements := scheduling.NewRequirements(
		in(corev1.LabelTopologyZone, zones...),
		in(corev1.LabelTopologyRegion, catalog.Region),
		in(zoneIDLabel, lo.Map(zones, func(zone string, _ int) string { return catalog.Zones[zone] })...),
		in(karpv1.CapacityTypeLabelKey, lo.Uniq(lo.Map(t.Offers, func(offer Offer, _ int) string { return offer.CapacityType }))...),
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

func offerRequirements(offer Offer, zoneID string) scheduling.Requirements {
	requirements := scheduling.NewRequirements(
		in(corev1.LabelTopologyZone, offer.Zone), in(zoneIDLabel, zoneID), in(karpv1.CapacityTypeLabelKey, offer.CapacityType),
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

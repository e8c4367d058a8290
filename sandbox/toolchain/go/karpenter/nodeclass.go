package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"

	"github.com/awslabs/operatorpkg/status"
	"github.com/samber/lo"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// EC2NodeClass is the part of karpenter.k8s.aws/v1 that Karpenter's core needs: an object with conditions. Its spec is
// kept as it is, and read by settings.
type EC2NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   runtime.RawExtension `json:"spec,omitempty"`
	Status EC2NodeClassStatus   `json:"status,omitempty"`
}

// EC2NodeClassStatus is what the sandbox looks up in its AWS, and the conditions.
type EC2NodeClassStatus struct {
	Subnets    []Subnet           `json:"subnets,omitempty"`
	Conditions []status.Condition `json:"conditions,omitempty"`
}

// Subnet is one that a class selects. The sandbox writes it (sandbox/nodes/nodeclasses.py).
type Subnet struct {
	ID     string `json:"id"`
	Zone   string `json:"zone"`
	ZoneID string `json:"zoneID,omitempty"`
}

// EC2NodeClassList is a list of them.
type EC2NodeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []EC2NodeClass `json:"items"`
}

// Settings are what a node class says about its nodes.
type Settings struct {
	Region string
	// Subnets has one for each zone.
	Subnets []Subnet
	MaxPods int64
	Disk    string
	RAID0   bool
	// EFA interfaces, where the class names its network interfaces.
	EFA *int64
}

// defaultDisk is the root volume where a class maps no device (karpenter-provider-aws v1.14.1, amifamily.DefaultEBS).
const defaultDisk = "20Gi"

// nodeClassConditions are the dependents of Ready (karpenter-provider-aws v1.14.1, pkg/apis/v1/ec2nodeclass_status.go).
var nodeClassConditions = []string{
	"AMIsReady", "InstanceProfileReady", "SecurityGroupsReady", "SubnetsReady", "ValidationSucceeded",
}

// notDrift are the fields whose change does not make a node drift by itself (same source, `hash:"ignore"`): what they
// select is compared instead, which for a sandbox never changes. The AMI has a reason of its own.
var notDrift = []string{
	"amiSelectorTerms", "capacityReservationSelectorTerms", "securityGroupSelectorTerms", "subnetSelectorTerms",
}

func init() {
	version := schema.GroupVersion{Group: group, Version: "v1"}
	metav1.AddToGroupVersion(scheme.Scheme, version)
	scheme.Scheme.AddKnownTypes(version, &EC2NodeClass{}, &EC2NodeClassList{})
}

// GetConditions implements status.Object.
func (c *EC2NodeClass) GetConditions() []status.Condition { return c.Status.Conditions }

// SetConditions implements status.Object.
func (c *EC2NodeClass) SetConditions(conditions []status.Condition) { c.Status.Conditions = conditions }

// StatusConditions implements status.Object.
func (c *EC2NodeClass) StatusConditions(options ...status.ForOption) status.ConditionSet {
	return status.NewReadyConditions(nodeClassConditions...).For(c, options...)
}

// DeepCopyObject implements runtime.Object.
func (c *EC2NodeClass) DeepCopyObject() runtime.Object {
	out := &EC2NodeClass{TypeMeta: c.TypeMeta, ObjectMeta: *c.ObjectMeta.DeepCopy(), Spec: *c.Spec.DeepCopy()}
	out.Status.Subnets = append([]Subnet(nil), c.Status.Subnets...)
	out.Status.Conditions = lo.Map(c.Status.Conditions, func(one status.Condition, _ int) status.Condition { return one })
	return out
}

// DeepCopyObject implements runtime.Object.
func (l *EC2NodeClassList) DeepCopyObject() runtime.Object {
	return &EC2NodeClassList{
		TypeMeta: l.TypeMeta,
		ListMeta: *l.ListMeta.DeepCopy(),
		Items:    lo.Map(l.Items, func(one EC2NodeClass, _ int) EC2NodeClass { return *one.DeepCopyObject().(*EC2NodeClass) }),
	}
}

// settings reads the spec.
func (c *EC2NodeClass) settings() (Settings, error) {
	spec := struct {
		Kubelet struct {
			MaxPods int64 `json:"maxPods"`
		} `json:"kubelet"`
		InstanceStorePolicy string `json:"instanceStorePolicy"`
		BlockDeviceMappings []struct {
			RootVolume bool `json:"rootVolume"`
			EBS        struct {
				VolumeSize string `json:"volumeSize"`
			} `json:"ebs"`
		} `json:"blockDeviceMappings"`
		NetworkInterfaces []struct {
			InterfaceType string `json:"interfaceType"`
		} `json:"networkInterfaces"`
	}{}
	if err := json.Unmarshal(c.Spec.Raw, &spec); err != nil {
		return Settings{}, fmt.Errorf("reading the spec of EC2NodeClass %s, %w", c.Name, err)
	}
	settings := Settings{
		Subnets: lo.UniqBy(c.Status.Subnets, func(one Subnet) string { return one.Zone }),
		MaxPods: spec.Kubelet.MaxPods,
		Disk:    defaultDisk,
		RAID0:   spec.InstanceStorePolicy == "RAID0",
	}
	if len(settings.Subnets) > 0 {
		// A zone's name is its region's name and one letter.
		settings.Region = settings.Subnets[0].Zone[:len(settings.Subnets[0].Zone)-1]
	}
	for index, device := range spec.BlockDeviceMappings {
		if device.EBS.VolumeSize != "" && (index == 0 || device.RootVolume) {
			settings.Disk = device.EBS.VolumeSize
		}
	}
	if len(spec.NetworkInterfaces) > 0 {
		settings.EFA = new(int64)
		for _, one := range spec.NetworkInterfaces {
			*settings.EFA += lo.Ternary[int64](one.InterfaceType == "efa-only", 1, 0)
		}
	}
	return settings, nil
}

// hashes are of the fields whose change replaces nodes, and of the AMIs that are selected.
func (c *EC2NodeClass) hashes() (string, string, error) {
	spec := map[string]any{}
	if err := json.Unmarshal(c.Spec.Raw, &spec); err != nil {
		return "", "", fmt.Errorf("reading the spec of EC2NodeClass %s, %w", c.Name, err)
	}
	images := spec["amiSelectorTerms"]
	return hash(lo.OmitByKeys(spec, notDrift)), hash(images), nil
}

func hash(value any) string {
	sum := fnv.New64a()
	// Encoding sorts keys, and what was decoded from JSON can be encoded.
	_ = json.NewEncoder(sum).Encode(value)
	return fmt.Sprint(sum.Sum64())
}

var _ status.Object = &EC2NodeClass{}

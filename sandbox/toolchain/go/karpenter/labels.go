package main

import (
	corev1 "k8s.io/api/core/v1"

	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

const (
	group       = "karpenter.k8s.aws"
	zoneIDLabel = "topology.k8s.aws/zone-id"
	efaResource = corev1.ResourceName("vpc.amazonaws.com/efa")
	gpuResource = corev1.ResourceName("nvidia.com/gpu")
)

// instanceLabels are the labels that describe an instance type, or are absent from it (karpenter.sh, "Scheduling",
// well-known labels, v1.14).
var instanceLabels = []string{
	group + "/instance-accelerator-count",
	group + "/instance-accelerator-manufacturer",
	group + "/instance-accelerator-name",
	group + "/instance-capability-flex",
	group + "/instance-category",
	group + "/instance-cpu",
	group + "/instance-cpu-manufacturer",
	group + "/instance-cpu-sustained-clock-speed-mhz",
	group + "/instance-ebs-bandwidth",
	group + "/instance-encryption-in-transit-supported",
	group + "/instance-family",
	group + "/instance-generation",
	group + "/instance-gpu-count",
	group + "/instance-gpu-manufacturer",
	group + "/instance-gpu-memory",
	group + "/instance-gpu-name",
	group + "/instance-hypervisor",
	group + "/instance-local-nvme",
	group + "/instance-memory",
	group + "/instance-network-bandwidth",
	group + "/instance-size",
	group + "/instance-tenancy",
}

// reservationLabels are those of capacity reservations, which no instance here has.
var reservationLabels = []string{
	group + "/capacity-reservation-id",
	group + "/capacity-reservation-interruptible",
	group + "/capacity-reservation-type",
}

func init() {
	karpv1.RestrictedLabelDomains.Insert(group)
	karpv1.WellKnownLabels.Insert(instanceLabels...)
	karpv1.WellKnownLabels.Insert(reservationLabels...)
	karpv1.WellKnownLabels.Insert(zoneIDLabel, corev1.LabelWindowsBuild)
	karpv1.WellKnownResources.Insert(efaResource)
	cloudprovider.ReservationIDLabel = reservationLabels[0]
	cloudprovider.ReservedCapacityLabels.Insert(reservationLabels...)
}

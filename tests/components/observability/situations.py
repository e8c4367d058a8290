"""Building blocks of alert cases: series of one team with one job on one node.

In the notation of `promtool test rules`: `0+1x60` is 0, then sixty values a minute apart, each incremented by one. A
single value is constant.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Case:
    """One alert in one situation.

    Attributes:
        alert: Its name.
        what: The situation.
        series: Values by series.
        at: Time of the evaluation.
        labels: Expected labels of the alert, besides the common ones; None if it must not fire.
        summary: Expected summary.
    """

    alert: str
    what: str
    series: Mapping[str, str] = field(hash=False)
    at: str
    labels: Mapping[str, str] | None = field(default=None, hash=False)
    summary: str = ""

    def __str__(self) -> str:
        return f"{self.alert}: {self.what}"


def series(metric: str, values: str = "1", **labels: str) -> dict[str, str]:
    """One series with its values."""
    selector = ",".join([f'{name}="{text}"' for name, text in labels.items()])
    return {f"{metric}{{{selector}}}": values}


def pod(metric: str, values: str = "1", **labels: str) -> dict[str, str]:
    return series(metric, values, namespace="nlp", pod="train-0", **labels)


def container(status: str, values: str = "1", **labels: str) -> dict[str, str]:
    return pod(f"kube_pod_container_status_{status}", values, container="main", **labels)


def gpu(values: str, metric: str = "DCGM_FI_PROF_GR_ENGINE_ACTIVE") -> dict[str, str]:
    return pod(metric, values, Hostname="n1", UUID="GPU-1")


def node(**labels: str) -> dict[str, str]:
    return series("kube_node_labels", node="n1", **{f"label_{name}": text for name, text in labels.items()})


def efa(values: str) -> dict[str, str]:
    """p5.48xlarge: 3200 Gbit/s are 24e12 bytes per minute."""
    return series("node_amazonefa_rx_bytes", values, node="n1", device="rdmap0s6", port="1")


def claim(metric: str, values: str) -> dict[str, str]:
    return series(metric, values, namespace="nlp", persistentvolumeclaim="checkpoints")


TEAM: Final = series(
    "kube_namespace_labels",
    namespace="nlp",
    label_platform_slipway_team="nlp",
    label_platform_slipway_project="llm",
)
OWNED: Final = {"namespace": "nlp", "team": "nlp"}
RUNNING: Final = pod("kube_pod_status_phase", phase="Running")
JOB: Final = {**TEAM, **RUNNING, **pod("kube_pod_labels", label_platform_slipway_job="train")}
P5: Final = node(
    platform_slipway_pool="h100",
    node_kubernetes_io_instance_type="p5.48xlarge",
    eks_amazonaws_com_capacity_type="CAPACITY_BLOCK",
)
CLAIM: Final = {
    **JOB,
    **pod("kube_pod_spec_volumes_persistentvolumeclaims_info", persistentvolumeclaim="checkpoints"),
}
IDLE: Final = {**OWNED, "pod": "train-0", "node": "n1", "UUID": "GPU-1"}
SPOT: Final = 'karpenter_interruption_received_messages_total{message_type="spot_interrupted"}'
QUEUE: Final = {'kueue_pending_workloads{cluster_queue="nlp",status="active",replica_role="leader",pod="k-1"}': "3"}
TWO_REPLICAS: Final = {
    'kueue_pending_workloads{cluster_queue="nlp",status="active",replica_role="leader",pod="k-1"}': "0",
    'kueue_pending_workloads{cluster_queue="nlp",status="inadmissible",replica_role="leader",pod="k-1"}': "3",
    # A follower has the workloads, but never tries to admit one: none is inadmissible there.
    'kueue_pending_workloads{cluster_queue="nlp",status="active",replica_role="follower",pod="k-2"}': "3",
    'kueue_pending_workloads{cluster_queue="nlp",status="inadmissible",replica_role="follower",pod="k-2"}': "0",
}
ADMITTED: Final = 'kueue_admitted_workloads_total{cluster_queue="nlp",replica_role="leader",pod="k-1"}'
ADMITTED_BY_NEXT: Final = 'kueue_admitted_workloads_total{cluster_queue="nlp",replica_role="leader",pod="k-2"}'
"""The same counter of the replica that leads next."""
QUOTA: Final = {
    'kueue_cluster_queue_nominal_quota{cluster_queue="nlp",flavor="h100",resource="nvidia.com/gpu",'
    'replica_role="leader"}': "8",
}
HELD: Final = (
    'kueue_cluster_queue_resource_usage{cluster_queue="nlp",flavor="h100",resource="nvidia.com/gpu",'
    'replica_role="leader"}'
)
CERTIFICATE: Final = 'certmanager_certificate_expiration_timestamp_seconds{namespace="kserve",name="webhook"}'
SIZE: Final = claim("kubelet_volume_stats_capacity_bytes", "100")
MEMORY: Final = pod("kube_pod_container_resource_limits", "100", container="main", resource="memory")
NODE_OF_TEAM: Final = {
    **TEAM,
    **P5,
    'kube_node_status_allocatable{node="n1",resource="nvidia_com_gpu"}': "8",
    **RUNNING,
}


def gpus_asked(number: int) -> dict[str, str]:
    return pod(
        "kube_pod_container_resource_requests",
        f"{number}+0x6000",
        node="n1",
        container="main",
        resource="nvidia_com_gpu",
    )


def used(value: str) -> dict[str, str]:
    return pod("container_memory_working_set_bytes", value, container="main", image="i")

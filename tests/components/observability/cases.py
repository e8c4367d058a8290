"""For each alert: series under which it fires, and series, as near as may be, under which it does not.

Written as `promtool test rules` wants them: `0+1x60` is 0, then sixty values a minute apart, each one more. A single
value is there from the beginning to the end.
"""

from __future__ import annotations

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
        at: When to look.
        labels: Labels of the alert that must fire beside those of every one; nothing fires where None.
        summary: What it must say.
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
    told = ",".join([f'{name}="{text}"' for name, text in labels.items()])
    return {f"{metric}{{{told}}}": values}


def _pod(metric: str, values: str = "1", **labels: str) -> dict[str, str]:
    return series(metric, values, namespace="nlp", pod="train-0", **labels)


def _gpu(values: str, metric: str = "DCGM_FI_PROF_GR_ENGINE_ACTIVE") -> dict[str, str]:
    return _pod(metric, values, Hostname="n1", UUID="GPU-1")


def _node(**labels: str) -> dict[str, str]:
    return series("kube_node_labels", node="n1", **{f"label_{name}": text for name, text in labels.items()})


def _efa(values: str) -> dict[str, str]:
    """p5.48xlarge: 3200 Gbit/s are 24e12 bytes a minute."""
    return series("node_amazonefa_rx_bytes", values, node="n1", device="rdmap0s6", port="1")


def _claim(metric: str, values: str) -> dict[str, str]:
    return series(metric, values, namespace="nlp", persistentvolumeclaim="checkpoints")


TEAM: Final = series(
    "kube_namespace_labels",
    namespace="nlp",
    label_platform_slipway_team="nlp",
    label_platform_slipway_project="llm",
)
OWNED: Final = {"namespace": "nlp", "team": "nlp"}
RUNNING: Final = _pod("kube_pod_status_phase", phase="Running")
JOB: Final = {**TEAM, **RUNNING, **_pod("kube_pod_labels", label_platform_slipway_job="train")}
P5: Final = _node(
    platform_slipway_pool="h100",
    node_kubernetes_io_instance_type="p5.48xlarge",
    eks_amazonaws_com_capacity_type="CAPACITY_BLOCK",
)
CLAIM: Final = {
    **JOB,
    **_pod("kube_pod_spec_volumes_persistentvolumeclaims_info", persistentvolumeclaim="checkpoints"),
}
_IDLE: Final = {**OWNED, "pod": "train-0", "node": "n1", "UUID": "GPU-1"}
_SPOT: Final = 'karpenter_interruption_received_messages_total{message_type="spot_interrupted"}'
_QUEUE: Final = {'kueue_pending_workloads{cluster_queue="nlp",status="active"}': "3"}
_ADMITTED: Final = 'kueue_admitted_workloads_total{cluster_queue="nlp"}'
_QUOTA: Final = {
    'kueue_cluster_queue_nominal_quota{cluster_queue="nlp",flavor="h100",resource="nvidia.com/gpu"}': "8",
}
_HELD: Final = 'kueue_cluster_queue_resource_usage{cluster_queue="nlp",flavor="h100",resource="nvidia.com/gpu"}'
_CERTIFICATE: Final = 'certmanager_certificate_expiration_timestamp_seconds{namespace="kserve",name="webhook"}'
_SIZE: Final = _claim("kubelet_volume_stats_capacity_bytes", "100")
_MEMORY: Final = _pod("kube_pod_container_resource_limits", "100", container="main", resource="memory")
_NODE_OF_TEAM: Final = {
    **TEAM,
    **P5,
    'kube_node_status_allocatable{node="n1",resource="nvidia_com_gpu"}': "8",
    **RUNNING,
}


def _gpus_asked(number: int) -> dict[str, str]:
    return _pod(
        "kube_pod_container_resource_requests",
        f"{number}+0x6000",
        node="n1",
        container="main",
        resource="nvidia_com_gpu",
    )


def _used(value: str) -> dict[str, str]:
    return _pod("container_memory_working_set_bytes", value, container="main", image="i")


CASES: Final = (
    Case(
        alert="GpuIdle",
        what="held by a team and idle for longer than an hour",
        series={**TEAM, **_gpu("0.01")},
        at="90m",
        labels=_IDLE,
        summary="Pod nlp/train-0 of nlp holds an idle GPU on n1.",
    ),
    Case(alert="GpuIdle", what="idle for half an hour", series={**TEAM, **_gpu("0.9+0x60 0.01+0x30")}, at="90m"),
    Case(alert="GpuIdle", what="held by nobody", series=_gpu("0"), at="90m"),
    Case(
        alert="GpuIdle",
        what="idle, and the monitor does not honour labels",
        series={
            **TEAM,
            'DCGM_FI_PROF_GR_ENGINE_ACTIVE{hostname="n1",UUID="GPU-1",namespace="gpu-operator",pod="dcgm-1",'
            'exported_namespace="nlp",exported_pod="train-0"}': "0",
        },
        at="90m",
        labels=_IDLE,
        summary="Pod nlp/train-0 of nlp holds an idle GPU on n1.",
    ),
    Case(
        alert="GpuErrors",
        what="fallen off the bus, in no pod",
        series={'DCGM_FI_DEV_XID_ERRORS{Hostname="n1",UUID="GPU-1"}': "0+0x5 79+0x10"},
        at="10m",
        labels={"node": "n1", "UUID": "GPU-1"},
        summary="GPU GPU-1 on n1 reports Xid 79.",
    ),
    Case(
        alert="GpuErrors",
        what="uncorrectable memory under a team's pod",
        series={**TEAM, **_gpu("48", "DCGM_FI_DEV_XID_ERRORS")},
        at="10m",
        labels=_IDLE,
        summary="GPU GPU-1 on n1 reports Xid 48.",
    ),
    Case(alert="GpuErrors", what="a program's own fault", series=_gpu("31", "DCGM_FI_DEV_XID_ERRORS"), at="10m"),
    Case(
        alert="PodPending",
        what="no node for 30 minutes",
        series={
            **TEAM,
            **_pod("kube_pod_status_phase", phase="Pending"),
            **_pod("kube_pod_status_unschedulable"),
        },
        at="40m",
        labels={**OWNED, "pod": "train-0"},
        summary="Pod nlp/train-0 does not start.",
    ),
    Case(
        alert="PodPending",
        what="on a node, and its image does not come, in no team",
        series={
            **_pod("kube_pod_status_phase", phase="Pending"),
            **_pod("kube_pod_status_scheduled", condition="true"),
        },
        at="40m",
        labels={"namespace": "nlp", "pod": "train-0"},
        summary="Pod nlp/train-0 does not start.",
    ),
    Case(
        alert="PodPending",
        what="held back by its queue",
        series={
            **TEAM,
            **_pod("kube_pod_status_phase", phase="Pending"),
            **_pod("kube_pod_status_scheduled", "0", condition="true"),
        },
        at="40m",
    ),
    Case(
        alert="PodPending",
        what="waiting for 20 minutes",
        series={
            **_pod("kube_pod_status_phase", "0+0x20 1+0x20", phase="Pending"),
            **_pod("kube_pod_status_unschedulable"),
        },
        at="40m",
    ),
    Case(
        alert="TrainingNetworkBound",
        what="half idle, adapters full",
        series={
            **TEAM,
            **P5,
            **_gpu("0.4"),
            **_efa("0+22e12x60"),
        },
        at="40m",
        labels={**OWNED, "node": "n1"},
        summary="GPUs of n1 are busy 40% of the time while its network is full.",
    ),
    Case(
        alert="TrainingNetworkBound",
        what="half idle, adapters quiet",
        series={
            **TEAM,
            **P5,
            **_gpu("0.4"),
            **_efa("0+9e12x60"),
        },
        at="40m",
    ),
    Case(
        alert="TrainingNetworkBound",
        what="busy, adapters full",
        series={
            **TEAM,
            **P5,
            **_gpu("0.9"),
            **_efa("0+22e12x60"),
        },
        at="40m",
    ),
    Case(
        alert="MemoryAlmostFull",
        what="at 95 %",
        series={**TEAM, **_MEMORY, **_used("95")},
        at="30m",
        labels={**OWNED, "pod": "train-0", "container": "main"},
        summary="Container main of nlp/train-0 uses 95% of its memory.",
    ),
    Case(alert="MemoryAlmostFull", what="at 90 %", series={**TEAM, **_MEMORY, **_used("90")}, at="30m"),
    Case(alert="MemoryAlmostFull", what="without a limit", series={**TEAM, **_used("95")}, at="30m"),
    Case(
        alert="CheckpointNotWritten",
        what="the volume never grows",
        series={**CLAIM, **_claim("kubelet_volume_stats_used_bytes", "10")},
        at="5h",
        labels={**OWNED, "workload": "train"},
        summary="Job train of nlp has written no checkpoint for 2h.",
    ),
    Case(
        alert="CheckpointNotWritten",
        what="the volume grows",
        series={**CLAIM, **_claim("kubelet_volume_stats_used_bytes", "10+1x400")},
        at="5h",
    ),
    Case(
        alert="CheckpointNotWritten",
        what="the volume is still, and the process says that it wrote",
        series={
            **CLAIM,
            **_claim("kubelet_volume_stats_used_bytes", "10"),
            **_pod("slipway_checkpoint_timestamp_seconds", "0+60x400"),
        },
        at="5h",
    ),
    Case(
        alert="CheckpointNotWritten",
        what="the process says that it last wrote long ago",
        series={
            **CLAIM,
            **_claim("kubelet_volume_stats_used_bytes", "10"),
            **_pod("slipway_checkpoint_timestamp_seconds", "0"),
        },
        at="5h",
        labels={**OWNED, "workload": "train"},
        summary="Job train of nlp has written no checkpoint for 2h.",
    ),
    Case(
        alert="CheckpointNotWritten",
        what="a job without checkpoints",
        series={**JOB, **_claim("kubelet_volume_stats_used_bytes", "1")},
        at="5h",
    ),
    Case(
        alert="JobRunaway",
        what="for 73 hours",
        series={**JOB, **_pod("kube_pod_start_time", "0")},
        at="73h",
        labels={**OWNED, "workload": "train"},
        summary="Job train of nlp has run for 3d 1h 0m 0s.",
    ),
    Case(
        alert="JobRunaway",
        what="for 71 hours",
        series={**JOB, **_pod("kube_pod_start_time", "0")},
        at="71h",
    ),
    Case(
        alert="SpotReclaim",
        what="Karpenter was told",
        series={_SPOT: "0+0x10 1+0x20"},
        at="15m",
        labels={"message_type": "spot_interrupted"},
        summary="EC2 takes back 1 Spot machines.",
    ),
    Case(
        alert="SpotReclaim",
        what="EKS cordoned a Spot node",
        series={
            **_node(platform_slipway_pool="gpu-spot", eks_amazonaws_com_capacity_type="SPOT"),
            **series("kube_node_spec_unschedulable", node="n1"),
        },
        at="5m",
        labels={"pool": "gpu-spot"},
        summary="EC2 takes back 1 Spot machines of gpu-spot.",
    ),
    Case(
        alert="SpotReclaim",
        what="a rebalance recommendation, and an on-demand node under repair",
        series={
            'karpenter_interruption_received_messages_total{message_type="rebalance_recommendation"}': "0+1x30",
            **_node(eks_amazonaws_com_capacity_type="ON_DEMAND"),
            **series("kube_node_spec_unschedulable", node="n1"),
        },
        at="15m",
    ),
    Case(
        alert="QueueStarving",
        what="seven hours and nothing let in",
        series={**_QUEUE, _ADMITTED: "5"},
        at="7h",
        labels={"cluster_queue": "nlp", "team": "nlp"},
        summary="3 workloads wait in queue nlp and none is admitted.",
    ),
    Case(alert="QueueStarving", what="one is let in at times", series={**_QUEUE, _ADMITTED: "0+1x600"}, at="7h"),
    Case(alert="QueueStarving", what="for an hour", series={**_QUEUE, _ADMITTED: "5"}, at="1h"),
    Case(
        alert="QuotaFull",
        what="all used, and more waits",
        series={**_QUEUE, **_QUOTA, _HELD: "8"},
        at="1h",
        labels={"cluster_queue": "nlp", "team": "nlp", "resource": "nvidia.com/gpu"},
        summary="Queue nlp uses 100% of its nvidia.com/gpu, and more waits.",
    ),
    Case(alert="QuotaFull", what="all used, and nothing waits", series={**_QUOTA, _HELD: "8"}, at="1h"),
    Case(alert="QuotaFull", what="not all used", series={**_QUEUE, **_QUOTA, _HELD: "7"}, at="1h"),
    Case(
        alert="CertificateExpiring",
        what="ends in ten days",
        series={_CERTIFICATE: "864000"},
        at="2h",
        labels={"namespace": "kserve", "name": "webhook"},
        summary="Certificate kserve/webhook ends in 9d 22h 0m 0s.",
    ),
    Case(alert="CertificateExpiring", what="ends in a month", series={_CERTIFICATE: "2592000"}, at="2h"),
    Case(
        alert="VolumeFull",
        what="5 % left",
        series={**TEAM, **_SIZE, **_claim("kubelet_volume_stats_available_bytes", "5")},
        at="1h",
        labels={**OWNED, "persistentvolumeclaim": "checkpoints"},
        summary="Volume nlp/checkpoints has 5% left.",
    ),
    Case(
        alert="VolumeFull",
        what="a quarter left",
        series={**TEAM, **_SIZE, **_claim("kubelet_volume_stats_available_bytes", "25")},
        at="1h",
    ),
    Case(
        alert="TeamOverBudget",
        what="a whole p5.48xlarge at 55.04 USD an hour, on a budget of 20000",
        series={**_NODE_OF_TEAM, **_gpus_asked(8)},
        at="8h",
        labels={"team": "nlp"},
        summary="nlp spends at a rate of 40.18k USD a month, over its budget.",
    ),
    Case(
        alert="TeamOverBudget",
        what="a quarter of it",
        series={**_NODE_OF_TEAM, **_gpus_asked(2)},
        at="8h",
    ),
)

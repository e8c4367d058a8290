"""Cases of the alerts about lost work: containers that are killed, and checkpoints."""

from typing import Final

from tests.components.observability.situations import CLAIM, JOB, OWNED, TEAM, Case, claim, container, pod

KILLED: Final = {**OWNED, "pod": "train-0", "container": "main"}
KILLED_SUMMARY: Final = "Container main of nlp/train-0 was killed at its memory limit."

JOB_CASES: Final = (
    Case(
        alert="ContainerOomKilled",
        what="it does not restart",
        series={**TEAM, **container("terminated_reason", "_x60 1+0x20", reason="OOMKilled")},
        at="70m",
        labels=KILLED,
        summary=KILLED_SUMMARY,
    ),
    Case(
        alert="ContainerOomKilled",
        what="it restarts",
        series={
            **TEAM,
            **container("last_terminated_reason", "_x60 1+0x20", reason="OOMKilled"),
            **container("restarts_total", "0+0x60 1+0x20"),
        },
        at="70m",
        labels=KILLED,
        summary=KILLED_SUMMARY,
    ),
    Case(
        alert="ContainerOomKilled",
        what="hours ago",
        series={
            **TEAM,
            **container("terminated_reason", reason="OOMKilled"),
            **container("last_terminated_reason", reason="OOMKilled"),
            **container("restarts_total", "3"),
        },
        at="4h",
    ),
    Case(
        alert="ContainerOomKilled",
        what="it fails for another reason",
        series={**TEAM, **container("terminated_reason", "_x60 1+0x20", reason="Error")},
        at="70m",
    ),
    Case(
        alert="CheckpointNotWritten",
        what="nothing reports the volume's usage, as on Lustre",
        series=CLAIM,
        at="5h",
    ),
    Case(
        alert="CheckpointNotWritten",
        what="the process reports that its last checkpoint is old, on a volume that others write to",
        series={
            **CLAIM,
            **claim("kubelet_volume_stats_used_bytes", "10+1x400"),
            **pod("slipway_checkpoint_timestamp_seconds", "0"),
        },
        at="5h",
        labels={**OWNED, "workload": "train"},
        summary="Job train of nlp has written no checkpoint for 2h.",
    ),
    Case(
        alert="CheckpointUnknown",
        what="nothing reports the volume's usage, as on Lustre",
        series=CLAIM,
        at="1h",
        labels={**OWNED, "workload": "train"},
        summary="Nothing reports whether job train of nlp writes checkpoints.",
    ),
    Case(
        alert="CheckpointUnknown",
        what="the process reports its checkpoints",
        series={**CLAIM, **pod("slipway_checkpoint_timestamp_seconds", "0+60x400")},
        at="1h",
    ),
    Case(
        alert="CheckpointUnknown",
        what="the driver reports the volume's usage",
        series={**CLAIM, **claim("kubelet_volume_stats_used_bytes", "10")},
        at="1h",
    ),
    Case(
        alert="CheckpointNotWritten",
        what="the volume never grows",
        series={**CLAIM, **claim("kubelet_volume_stats_used_bytes", "10")},
        at="5h",
        labels={**OWNED, "workload": "train"},
        summary="Job train of nlp has written no checkpoint for 2h.",
    ),
    Case(
        alert="CheckpointNotWritten",
        what="the volume grows",
        series={**CLAIM, **claim("kubelet_volume_stats_used_bytes", "10+1x400")},
        at="5h",
    ),
    Case(
        alert="CheckpointNotWritten",
        what="the volume doesn't change, but the process reports a checkpoint",
        series={
            **CLAIM,
            **claim("kubelet_volume_stats_used_bytes", "10"),
            **pod("slipway_checkpoint_timestamp_seconds", "0+60x400"),
        },
        at="5h",
    ),
    Case(
        alert="CheckpointNotWritten",
        what="the process reports that its last checkpoint is old",
        series={
            **CLAIM,
            **claim("kubelet_volume_stats_used_bytes", "10"),
            **pod("slipway_checkpoint_timestamp_seconds", "0"),
        },
        at="5h",
        labels={**OWNED, "workload": "train"},
        summary="Job train of nlp has written no checkpoint for 2h.",
    ),
    Case(
        alert="CheckpointNotWritten",
        what="a job without checkpoints",
        series={**JOB, **claim("kubelet_volume_stats_used_bytes", "1")},
        at="5h",
    ),
)

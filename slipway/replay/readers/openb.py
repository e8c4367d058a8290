"""openb, the trace of a GPU cluster in 2023: `openb_pod_list_*.csv` (Alibaba cluster-trace-gpu-v2023, README: columns
and units). A pod is a job. Times are seconds since the trace's start.
"""

from typing import Final

from slipway.replay.jobs import MOST_MEBIBYTES, MOST_MILLIS, MOST_SECONDS, Collector, Job, Trace, gpu_types, name_in
from slipway.replay.text import Source

FORMAT: Final = "openb"
COLUMNS: Final = (
    *("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase"),
    *("creation_time", "deletion_time", "scheduled_time"),
)
_REQUIRED: Final = tuple(name for name in COLUMNS if name not in ("gpu_spec", "qos", "pod_phase"))
_MOST_GPUS: Final = 8
CLASSES: Final = {"LS": "interactive", "BE": "experiment", "Burstable": "training", "Guaranteed": "training"}
"""Classes by `qos`: a user waits for latency-sensitive pods; best-effort ones are preempted first."""


def recognises(source: Source) -> bool:
    """Whether the header is openb's."""
    return {"cpu_milli", "num_gpu", "creation_time"} <= set(source.text.partition("\n")[0].strip().split(","))


def read(source: Source) -> Trace:
    """The trace; pods that were never scheduled are left out, because nothing says how long they would have run.

    Raises:
        TraceError: A row is wrong, with its line.
    """
    found = Collector(source, FORMAT)
    for row in source.rows(COLUMNS, _REQUIRED):
        created = row.number("creation_time", most=10 * MOST_SECONDS)
        if not row.known("scheduled_time") or not row.known("deletion_time"):
            found.leave_out("never scheduled, so without a duration")
            continue
        scheduled = row.number("scheduled_time", most=10 * MOST_SECONDS)
        deleted = row.number("deletion_time", most=10 * MOST_SECONDS)
        if not created <= scheduled <= deleted:
            row.refuse("deletion_time", "a pod is created, then scheduled, then deleted", "Remove the row.")
        count = row.count("num_gpu", most=_MOST_GPUS)
        share = row.count("gpu_milli", most=1000)
        found.add(
            Job(
                name=name_in(row, "name", required=True),
                kind=CLASSES.get(row.text("qos"), row.text("qos")),
                submitted=created,
                duration=min(deleted - scheduled, MOST_SECONDS),
                cpu_millis=row.count("cpu_milli", most=MOST_MILLIS),
                memory_mib=row.count("memory_mib", most=MOST_MEBIBYTES),
                gpu_millis=share if count == 1 else 1000 * count,
                gpu_types=gpu_types(name_in(row, "gpu_spec")),
            ),
            row.place,
        )
    return found.trace(absolute=False)

"""Jobs of batch/v1 and Workloads of Kueue, as `kubectl get jobs --all-namespaces -o json` prints them, while their
`ttlSecondsAfterFinished`, or Kueue's `objectRetentionPolicies`, keep them.

A Workload runs from its admission to its end; a Job from its start, which is when Kueue unsuspends it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from slipway.replay.jobs import MOST_MEBIBYTES, MOST_MILLIS, MOST_PODS, MOST_SECONDS, Collector, Job, Trace, name_in
from slipway.replay.text import Row, Source, TraceError
from spec.catalog import gpus
from spec.jobs import PRIORITY
from spec.pools import keys
from spec.quantities import MI
from spec.teams.labels import TEAM

FORMAT: Final = "kubernetes"
_ENDS: Final = ("Finished", "Complete", "Failed")
_PRODUCT: Final = "nvidia.com/gpu.product"  # label of GPU feature discovery: `NVIDIA-A100-SXM4-40GB`
_INSTANCE: Final = "node.kubernetes.io/instance-type"


def recognises(source: Source) -> bool:
    """Whether it is an object, or a list of objects, of Kubernetes."""
    document = source.document if source.text.lstrip().startswith("{") else None
    return isinstance(document, Mapping) and "kind" in document and "apiVersion" in document


def read(source: Source) -> Trace:
    """The trace of a list, or of one object; jobs that have not ended are left out.

    Raises:
        TraceError: An object is wrong, with its place.
    """
    found = Collector(source, FORMAT)
    document = source.document
    if not isinstance(document, Mapping):
        raise TraceError(source.name, "", "it must be a list of Kubernetes", type(document).__name__, _EXPORT)
    items = document.get("items") if str(document.get("kind", "")).endswith("List") else [document]
    if not isinstance(items, list):
        raise TraceError(source.name, "items", "it must be a list", type(items).__name__, _EXPORT)
    for number, item in enumerate(items):
        place = f"items[{number}]"
        try:
            job = _job(source.name, place, item, found)
        except (AttributeError, KeyError, TypeError) as error:
            rule = "it must be a Job or a Workload as the API server returns it"
            raise TraceError(source.name, place, rule, f"{type(error).__name__}: {error}", _EXPORT) from error
        if job is not None:
            found.add(job, place)
    return found.trace(absolute=True)


_EXPORT: Final = "Export it with `kubectl get jobs.batch -A -o json`, or `workloads.kueue.x-k8s.io`."


def _job(name: str, place: str, item: Mapping[str, Any], found: Collector) -> Job | None:
    kind = item["kind"]
    if kind not in ("Job", "Workload"):
        raise TraceError(name, place, "its kind must be Job or Workload", str(kind), _EXPORT)
    status, metadata = item.get("status") or {}, item["metadata"]
    conditions = {str(one["type"]): one for one in status.get("conditions") or () if one["status"] == "True"}
    started = status.get("startTime") if kind == "Job" else (conditions.get("Admitted") or {}).get("lastTransitionTime")
    ended = status.get("completionTime") or next(
        (conditions[each]["lastTransitionTime"] for each in _ENDS if each in conditions), None
    )
    if not started or not ended:
        found.leave_out("it has not ended, or never started")
        return None
    sets = list(_pod_sets(item))
    labels = metadata.get("labels") or {}
    cells = {
        "name": f"{metadata['namespace']}/{metadata['name']}",
        "team": str(labels.get(TEAM) or metadata["namespace"]),
        "class": _priority(item, labels),
        "created": str(metadata["creationTimestamp"]),
        "started": str(started),
        "ended": str(ended),
        "pods": str(sum(count for count, _ in sets)),
    }
    row = Row(name, place, cells)
    start, end = row.date("started"), row.date("ended")
    created = min(row.date("created"), start)
    if not 0 <= end - start <= MOST_SECONDS:
        row.refuse("ended", "a job starts before it ends, at most a year later", "Remove the object.")
    needs = [_requests(Row(name, f"{place}, pod {at}", _amounts(spec))) for at, (_, spec) in enumerate(sets)]
    return Job(
        name=name_in(row, "name", required=True),
        team=name_in(row, "team"),
        kind=name_in(row, "class"),
        submitted=created,
        duration=end - start,
        waited=start - created,
        pods=row.count("pods", most=MOST_PODS, least=1),
        # A job whose pods differ counts as that many of its largest.
        cpu_millis=max(cpu for cpu, _, _ in needs),
        memory_mib=max(memory for _, memory, _ in needs),
        gpu_millis=max(gpu for _, _, gpu in needs),
        gpu_types=_types(sets[0][1]),
    )


def _priority(item: Mapping[str, Any], labels: Mapping[str, Any]) -> str:
    spec = item["spec"]
    reference = spec.get("priorityClassRef") or {}
    pod = (spec.get("template") or {}).get("spec") or {}
    return str(labels.get(PRIORITY) or reference.get("name") or pod.get("priorityClassName") or "")


def _pod_sets(item: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Number of pods that run at once, and their spec."""
    spec = item["spec"]
    if item["kind"] == "Workload":
        for one in spec["podSets"]:
            yield int(one["count"]), one["template"]["spec"]
        return
    parallel = int(spec.get("parallelism", 1))
    completions = spec.get("completions")
    yield parallel if completions is None else min(parallel, int(completions)), spec["template"]["spec"]


def _amounts(spec: Mapping[str, Any]) -> dict[str, str]:
    """Requests of the containers that run together, by resource and container."""
    found = {}
    for number, one in enumerate(spec.get("containers") or ()):
        resources = one.get("resources") or {}
        for name, amount in {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.items():
            found[f"{number} {name}"] = str(amount)
    return found


def _requests(row: Row) -> tuple[int, int, int]:
    """Thousandths of a CPU, MiB, and thousandths of a GPU; a MIG instance counts as its part of a GPU's seven."""
    cpu = memory = gpu = 0
    for column in row.cells:
        resource = column.partition(" ")[2]
        if resource == "cpu":
            cpu += row.quantity(column, 1000, most=MOST_MILLIS)
        elif resource == "memory":
            memory += -(-row.quantity(column, 1, most=MOST_MEBIBYTES * MI) // MI)
        elif resource == gpus.DEVICE:
            gpu += row.quantity(column, 1000, most=MOST_MILLIS)
        elif resource.startswith(keys.MIG):
            slices = resource.removeprefix(keys.MIG).partition("g.")[0]
            parts = int(slices) if slices.isdigit() else 7
            gpu += -(-row.quantity(column, 1000, most=MOST_MILLIS) * parts // 7)
    return cpu, memory, gpu


def _types(spec: Mapping[str, Any]) -> tuple[str, ...]:
    selector = spec.get("nodeSelector") or {}
    named = selector.get(_PRODUCT) or selector.get(keys.ACCELERATOR) or selector.get(_INSTANCE)
    return (str(named),) if named else ()

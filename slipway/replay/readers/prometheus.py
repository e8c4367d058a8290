"""Pods in Prometheus, as kube-state-metrics exports them: the answer of `/api/v1/query_range` to `QUERY`.

A pod is submitted when it is first seen, and runs while its series has a node; both are known to a step of the query.
Pods of one Job, by `kube_pod_owner`, are one job (kube-state-metrics v2.17, docs/metrics/workload/pod-metrics.md).
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from slipway.replay.jobs import MOST_MEBIBYTES, MOST_MILLIS, MOST_PODS, MOST_SECONDS, Collector, Job, Trace, name_in
from slipway.replay.text import Row, Source, TraceError
from spec.quantities import MI

FORMAT: Final = "prometheus"
REQUESTS: Final = "kube_pod_container_resource_requests"
OWNER: Final = "kube_pod_owner"
QUERY: Final = f'{{__name__=~"{REQUESTS}|{OWNER}"}}'
_RESOURCES: Final = {"cpu": "cpu", "memory": "memory", "nvidia_com_gpu": "gpu"}
"""Names of resources in metrics: what is no letter or digit is an underscore."""
_FIX: Final = f"Export the JSON of /api/v1/query_range with the query {QUERY}"


@dataclass
class _Pod:
    """What the series say of one pod: first and last moment, those with a node, and requests by container."""

    place: str
    seen: list[float] = field(default_factory=list)
    ran: list[float] = field(default_factory=list)
    requests: dict[tuple[str, str], float] = field(default_factory=dict)
    owner: str = ""


def recognises(source: Source) -> bool:
    """Whether it is an answer of Prometheus' HTTP API."""
    document = source.document if source.text.lstrip().startswith("{") else None
    return isinstance(document, Mapping) and "status" in document and "data" in document


def read(source: Source) -> Trace:
    """The trace; pods that never had a node are left out.

    Raises:
        TraceError: The answer is an error or no matrix, or a series is wrong.
    """
    found = Collector(source, FORMAT)
    pods: dict[tuple[str, str], _Pod] = {}
    step = 0.0
    for place, metric, values in series(source, _FIX):
        if str(metric.get("__name__", REQUESTS)) not in (REQUESTS, OWNER):
            continue
        key = (str(metric.get("namespace") or ""), str(metric.get("pod") or ""))
        if not all(key):
            raise TraceError(source.name, place, "a series names namespace and pod", str(metric), _FIX)
        pod = pods.setdefault(key, _Pod(place))
        step = max(step, _add(source, place, pod, metric, values))
    groups: dict[str, list[_Pod]] = {}
    for (namespace, name), pod in pods.items():
        groups.setdefault(f"{namespace}/{pod.owner or name}", []).append(pod)
    for job, members in groups.items():
        running = [pod for pod in members if pod.ran]
        if not running:
            found.leave_out("its pods never had a node")
            continue
        found.add(_job(source, job, running, step), members[0].place)
    return found.trace(absolute=True)


def series(source: Source, fix: str) -> Iterator[tuple[str, Mapping[str, Any], Sequence[Any]]]:
    """Place in the file, labels and samples of each series of an answer.

    Args:
        source: The answer.
        fix: How to get one, for errors.

    Raises:
        TraceError: It is an error or no matrix, or a series lacks labels or samples.
    """
    document = source.document
    data = document.get("data") if isinstance(document, Mapping) else None
    if not isinstance(data, Mapping) or document.get("status") != "success" or data.get("resultType") != "matrix":
        given = document.get("error") if isinstance(document, Mapping) else type(document).__name__
        raise TraceError(source.name, "", "it must be a successful answer with a matrix", str(given), fix)
    result = data.get("result")
    for number, one in enumerate(result if isinstance(result, list) else ()):
        place = f"data.result[{number}]"
        metric, values = (one.get("metric"), one.get("values")) if isinstance(one, Mapping) else (None, None)
        if not isinstance(metric, Mapping) or not isinstance(values, list) or not values:
            raise TraceError(source.name, place, "a series has metric and values", str(one), fix)
        yield place, metric, values


def samples(source: Source, place: str, values: Sequence[Any], most: float, fix: str) -> Iterator[Row]:
    """The samples of a series, each with `time` in seconds since 1970 and `value`.

    Raises:
        TraceError: One is no time and number, or its number is larger than `most`.
    """
    for at, pair in enumerate(values):
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise TraceError(source.name, f"{place}.values[{at}]", "a value is a time and a number", str(pair), fix)
        row = Row(source.name, f"{place}.values[{at}]", {"time": str(pair[0]), "value": str(pair[1])})
        row.number("time", most=4e9)
        row.number("value", most=most)
        yield row


def _add(source: Source, place: str, pod: _Pod, metric: Mapping[str, Any], values: Sequence[Any]) -> float:
    """Add a series to its pod; the smallest distance of its values, in seconds."""
    rows = list(samples(source, place, values, 1e18, _FIX))
    times = [float(row.text("time")) for row in rows]
    if times != sorted(times):
        raise TraceError(source.name, place, "times grow", times[0], _FIX)
    if metric.get("__name__") == OWNER:
        if metric.get("owner_kind") == "Job":
            pod.owner = str(metric.get("owner_name") or "")
        return 0.0
    pod.seen += (times[0], times[-1])
    if metric.get("node"):
        pod.ran += (times[0], times[-1])
    if resource := _RESOURCES.get(str(metric.get("resource"))):
        pod.requests[str(metric.get("container")), resource] = float(rows[-1].text("value"))
    return min((later - earlier for earlier, later in itertools.pairwise(times)), default=0.0)


def _job(source: Source, name: str, pods: Sequence[_Pod], step: float) -> Job:
    start = min(at for pod in pods for at in pod.ran)
    end = max(at for pod in pods for at in pod.ran) + step
    cells = {"name": name, "duration": str(end - start), "pods": str(len(pods))}
    row = Row(source.name, pods[0].place, cells)
    needs = [_sum(pod) for pod in pods]
    amounts = {key: f"{max(one[key] for one in needs):.6f}" for key in needs[0]}
    of = Row(source.name, pods[0].place, amounts)
    return Job(
        name=name_in(row, "name", required=True),
        team=name.partition("/")[0],
        submitted=min(at for pod in pods for at in pod.seen),
        duration=row.number("duration", most=MOST_SECONDS),
        waited=start - min(at for pod in pods for at in pod.seen),
        pods=row.count("pods", most=MOST_PODS, least=1),
        cpu_millis=of.quantity("cpu", 1000, most=MOST_MILLIS),
        memory_mib=-(-of.quantity("memory", 1, most=MOST_MEBIBYTES * MI) // MI),
        gpu_millis=of.quantity("gpu", 1000, most=MOST_MILLIS),
    )


def _sum(pod: _Pod) -> dict[str, float]:
    total = dict.fromkeys(_RESOURCES.values(), 0.0)
    for (_, resource), amount in pod.requests.items():
        total[resource] += amount
    return total

"""Rolls a canary back whose requests fail. A CronJob runs it; it imports the standard library, `in_cluster` and
`components.base.canaries` alone.

In the pod: `python -m components.composition.canary_rollback PROMETHEUS WINDOW REQUESTS NAMESPACE...`, with Prometheus'
URL, seconds over which requests are counted, the minimum number of them by which a canary is evaluated, and the
namespaces of teams.

A rollback sets the weight of the canary to 0. KServe's router then never picks it (v0.20.0, cmd/router/main.go,
`pickupRoute`: it compares with the sum of the weights up to a step), and its webhook asks only that the weights add up
to 100 (pkg/apis/serving/v1alpha1/inference_graph_validation.go). The version that was rolled back is noted, and gets no
requests again; a new version does.

What a member of a team writes into an annotation becomes metric names and labels of a query whose namespace and pods
are given here, so the most that it can do is to roll back a graph of the team.
"""

import http.client
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from components.base.canaries import CANARY, ROLLBACK, ROLLED_BACK, SELECTORS, STABLE, VERSION, Rollback, matched
from components.composition.in_cluster import Api, ask, in_cluster, warn

GRAPHS = "/apis/serving.kserve.io/v1alpha1/namespaces/{}/inferencegraphs"
STEPS = "/spec/nodes/root/steps"
MARK = f"/metadata/annotations/{ROLLED_BACK.replace('/', '~1')}"
"""Where a JSON patch finds them."""
SERVICE = "serving.kserve.io/inferenceservice"
"""Label of a model's pods with the name of its InferenceService."""
BY = "slipway-canary-rollback"
EVERYTHING = 100
"""Percent, and the sum of the weights of a splitter."""
NEXT = "Remove the canary, or give a new version"
BUDGET = 60
"""Seconds for one namespace: the graphs of a team don't delay those of others for longer."""
FAILURES = (OSError, http.client.HTTPException, ValueError, KeyError, TypeError)
"""What an API, or an object that is not as expected, raises."""

Say = Callable[[str], None]
Count = Callable[[str], float | None]
"""Value of a query that has one sample; None if it finds nothing."""


@dataclass(frozen=True)
class Limits:
    """Seconds over which requests are counted, and how many of them are enough to evaluate a canary by."""

    window: int
    requests: int


def rollback_of(text: str) -> Rollback:
    """The annotation of a graph, which anybody in its namespace may write. Raises ValueError for a wrong one."""
    try:
        given = Rollback(**json.loads(text))
    except (ValueError, TypeError) as error:
        msg = f"{ROLLBACK} must be JSON with service, version, max_error_percent, failed and answered: {error}"
        raise ValueError(msg) from None
    service, percent = given.service, given.max_error_percent
    if not isinstance(service, str) or not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", service):
        msg = f"{ROLLBACK}: service must be the name of an InferenceService (given: {service!r})"
        raise ValueError(msg)
    if isinstance(percent, bool) or not isinstance(percent, int | float) or not 0 < percent < EVERYTHING:
        msg = f"{ROLLBACK}: max_error_percent must be a number above 0 and below 100 (given: {percent!r})"
        raise ValueError(msg)
    for sums in (given.failed, given.answered):
        if not isinstance(sums, list) or not 1 <= len(sums) <= SELECTORS or not all(map(_is_selector, sums)):
            msg = f'{ROLLBACK}: failed and answered each list 1 to {SELECTORS} name{{label="value"}} (given: {sums!r})'
            raise ValueError(msg)
    return given


def _is_selector(text: object) -> bool:
    return isinstance(text, str) and matched(text) is not None


def query(selector: str, space: str, pods: Iterable[str], window: int) -> str:
    """Requests that these pods counted in so many seconds.

    A counter that began after the beginning of the time counts from zero: `increase` alone would leave out its first
    value, and the counter of a status exists only since its first request.
    """
    name, labels = matched(selector) or ("", "")
    these = "|".join(pod.replace(".", "[.]") for pod in sorted(pods))
    series = f'{name}{{namespace="{space}",pod=~"{these}"{"," + labels if labels else ""}}}'
    new = f"max_over_time({series}[{window}s]) unless {series} offset {window}s"
    return f"sum(({new}) or increase({series}[{window}s]))"


def _version_of(mark: str) -> str | None:
    """The version that was rolled back; None if somebody wrote something else there."""
    try:
        version: str = json.loads(mark)["version"]
    except (ValueError, TypeError, KeyError):
        return None
    return version


@dataclass(frozen=True)
class Graph:
    """An InferenceGraph whose canary may be rolled back, as it was read.

    Attributes:
        api: The API server.
        manifest: The whole object.
    """

    api: Api
    manifest: Mapping[str, Any]

    @property
    def meta(self) -> Mapping[str, Any]:
        """Its metadata."""
        meta: Mapping[str, Any] = self.manifest["metadata"]
        return meta

    def note(self, name: str) -> str | None:
        """One of its annotations."""
        value: str | None = (self.meta.get("annotations") or {}).get(name)
        return value

    @property
    def steps(self) -> Sequence[Mapping[str, Any]]:
        """The two steps of its splitter; none for a graph without a canary."""
        root = self.manifest["spec"]["nodes"].get("root", {})
        steps = root.get("steps") or ()
        pair = root.get("routerType") == "Splitter" and sorted(step.get("name", "") for step in steps)
        return steps if pair == [CANARY, STABLE] else ()

    @property
    def weight(self) -> int:
        """Percent of the requests that the canary gets."""
        return sum(step.get("weight") or 0 for step in self.steps if step["name"] == CANARY)

    def patch(self, *operations: Mapping[str, Any]) -> None:
        """A JSON patch. Raises OSError if one of its operations does not apply."""
        path = f"{GRAPHS.format(self.meta['namespace'])}/{self.meta['name']}?fieldManager={BY}"
        self.api("PATCH", path, operations)

    def stop(self, mark: str) -> None:
        """Give the canary no requests, and write why, unless the steps were changed since they were read."""
        steps = [{**step, "weight": EVERYTHING if step["name"] == STABLE else 0} for step in self.steps]
        self.patch(
            {"op": "test", "path": STEPS, "value": self.steps},
            {"op": "replace", "path": STEPS, "value": steps},
            {"op": "add", "path": MARK, "value": mark},
        )

    def warn(self, reason: str, text: str, now: datetime, *, once: bool = False) -> None:
        """An event of the graph."""
        of = {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "InferenceGraph", **self.meta}
        warn(self.api, of, reason, text, now, by=BY, once=f"{self.meta['name']}.{reason.lower()}" if once else "")


def look(graph: Graph, count: Count, limits: Limits, now: datetime) -> str:
    """Roll the canary of a graph back, or leave it, and say which and why.

    Raises what `FAILURES` has if Prometheus or the API server fails.
    """
    text, mark = graph.note(ROLLBACK), graph.note(ROLLED_BACK)
    if text is None or not graph.steps:
        if mark is not None:
            graph.patch({"op": "remove", "path": MARK})
        return "has no canary that may be rolled back"
    try:
        rule = rollback_of(text)
    except ValueError as error:
        graph.warn("CanaryNotMeasured", str(error), now, once=True)
        return f"goes on, as nothing can roll it back: {error}"
    if graph.weight == 0:
        return f"gets no requests; rolled back: {mark}"
    if mark is not None and _version_of(mark) == rule.version:
        graph.stop(mark)
        again = f"{rule.version} was rolled back before, and gets no requests again. {NEXT}"
        graph.warn("CanaryRolledBack", again, now)
        return f"was rolled back again: {mark}"
    return _evaluated(graph, rule, count, limits, now)


def _evaluated(graph: Graph, rule: Rollback, count: Count, limits: Limits, now: datetime) -> str:
    """The decision by the requests of the canary's pods."""
    space = graph.meta["namespace"]
    there = graph.api("GET", f"/api/v1/namespaces/{space}/pods?labelSelector={SERVICE}%3D{rule.service}")["items"]
    pods = [one["metadata"] for one in there]
    names = [pod["name"] for pod in pods if (pod.get("annotations") or {}).get(VERSION) == rule.version]
    if not names:
        return f"goes on: no pod of {rule.version} runs"
    failed, answered = (
        [count(query(one, space, names, limits.window)) for one in selectors]
        for selectors in (rule.failed, rule.answered)
    )
    if all(one is None for one in answered):
        text = f"nothing can roll this canary back: Prometheus has none of {', '.join(rule.answered)} of its pods"
        graph.warn("CanaryNotMeasured", text, now, once=True)
        return f"goes on: {text}"
    wrong, every = (sum(one or 0 for one in counts) for counts in (failed, answered))
    seen = f"{wrong:.0f} of {every:.0f} requests failed in {limits.window} s"
    if every < limits.requests or EVERYTHING * wrong <= rule.max_error_percent * every:
        return f"goes on: {seen}" + (f"; {limits.requests} are needed" if every < limits.requests else "")
    reason = f"{seen}, more than {rule.max_error_percent:g} %"
    graph.stop(json.dumps({"version": rule.version, "at": f"{now:%Y-%m-%dT%H:%M:%SZ}", "reason": reason}))
    graph.warn("CanaryRolledBack", f"{rule.version} gets no requests any more: {reason}. {NEXT}", now)
    return f"was rolled back: {reason}"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(prometheus: str, window: str, requests: str, *spaces: str, api: Api = in_cluster, say: Say = _say) -> int:
    """Look at all graphs once, and give the number of those, and of namespaces, for which Prometheus or the API server
    failed: the others are looked at nevertheless."""
    limits, wrong = Limits(int(window), int(requests)), 0

    def count(text: str) -> float | None:
        samples = ask(prometheus, text)
        return float(samples[0]["value"][1]) if samples else None

    for space in spaces:
        until = time.monotonic() + BUDGET
        try:
            graphs = api("GET", GRAPHS.format(space))["items"]
        except FAILURES as error:
            say(f"{space}: its graphs can't be read: {error}")
            wrong += 1
            continue
        for manifest in graphs:
            name = f"{space}/{manifest['metadata']['name']}"
            if time.monotonic() > until:
                say(f"{name}: waits for the next look: the graphs before it took more than {BUDGET} s")
                break
            try:
                now = datetime.now(UTC)  # noqa: TID251 - the pod's clock
                say(f"{name}: {look(Graph(api, manifest), count, limits, now)}")
            except FAILURES as error:
                say(f"{name}: is left as it is: {error}")
                wrong += 1
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(*sys.argv[1:]), 1))

"""What happens to running jobs when their node goes: as the settings of stack dev promise."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.kubernetes.waiting import Watch, until
from sandbox.nodes.groups import GROUP
from sandbox.nodes.health import CONDITION, break_gpu
from sandbox.nodes.instances import INTERRUPTION
from spec.pools.keys import GPU
from spec.pools.pool_spec import PoolSpec
from tests.sandbox.elastic import REPAIRED, Elastic, elastic_plane
from tests.sandbox.plane import existing
from tests.sandbox.test_elastic import GATES, event, pod, pools
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
KEPT = {"karpenter.sh/do-not-disrupt": "true"}


class Seen:
    """Each state of each object of a kind, oldest first, as a watch has seen it: also of what is gone by now."""

    def __init__(self, client: KubeClient, path: str) -> None:
        self._states: dict[str, list[Object]] = {}
        self._watch = Watch(client, path, self._note)

    def _note(self, _change: str, found: Object) -> None:
        self._states.setdefault(found["metadata"]["uid"], []).append(found)

    def __enter__(self) -> Seen:
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.stop()

    def of(self, belongs: Callable[[Object], bool]) -> list[list[Object]]:
        """Of the objects that belong, those that were there first first."""
        return [list(each) for each in list(self._states.values()) if belongs(each[0])]


@dataclass(frozen=True)
class Begun(Elastic):
    """With the node of each job's first pod, and all states of pods and nodes."""

    on: dict[str, str]
    pods: Seen
    machines: Seen


@pytest.fixture(scope="module")
def elastic(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Begun]:
    """With a pool and a job for each test: one after another they would take minutes."""
    with (
        elastic_plane(tmp_path_factory.mktemp("disruption"), shared, f"{GATES},NodeRepair=true") as started,
        Seen(started.client, "/api/v1/namespaces/default/pods") as seen,
        Seen(started.client, "/api/v1/nodes") as machines,
    ):
        at_once: dict[str, Any] = {"consolidateAfter": "0s", "budgets": [{"nodes": "100%"}]}
        _begin(started, "empty", "h100", 3, disruption=at_once)
        _begin(started, "frozen", "h100", 1, disruption={**at_once, "budgets": [{"nodes": "0"}]})
        # A pod has to be on its node before that expires, on a busy machine, too.
        _begin(started, "expiring", "h100", 45, KEPT, template={"spec": {"expireAfter": "25s"}})
        ends = {"expireAfter": "25s", "terminationGracePeriod": "12s"}
        _begin(started, "forced", "h100", 600, KEPT, template={"spec": ends})
        _begin(started, "warned", "gpu-spot", 600)
        _begin(started, "unwarned", "gpu-spot", 600, KEPT)
        _begin(started, "broken", "h100", 600, KEPT)
        _begin(started, "outage", "h100", 600)
        names = ("empty", "frozen", "expiring", "forced", "warned", "unwarned", "broken", "outage")
        on = {name: _ran_on(seen, name) for name in names}
        yield Begun(started.client, started.home, on, seen, machines)


def _begin(
    elastic: Elastic, name: str, like: str, seconds: int, annotations: dict[str, str] | None = None, **changes: Any
) -> None:
    """A pool like one of the stack, with other settings, and a job of the same name on it."""
    spec = replace(pools()[like], name=name)
    elastic.pool(spec, **changes)
    elastic.client.create(job(spec, seconds, annotations), "test")


def job(spec: PoolSpec, seconds: int, annotations: dict[str, str] | None) -> Object:
    """A job of one pod on a GPU of a pool that runs for some seconds."""
    template = pod(spec.name, spec, {GPU: "1"}, {**(annotations or {}), "sandbox.slipway/duration": f"{seconds}s"})
    return {**Ref("batch/v1", "Job", spec.name, "default").as_object(), "spec": {
            "backoffLimit": 0,
            "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]},
            "template": {"metadata": {"annotations": template["metadata"]["annotations"]},
                "spec": {**template["spec"], "restartPolicy": "Never"}}}}  # fmt: skip


def runs_on(elastic: Elastic, *, fields: str = "", labels: str = "", without: str = "") -> str:
    """The node of the running pod that selectors find, another node than this one."""

    def look() -> str | None:
        kind = elastic.client.discovery.find("v1", "Pod")
        found = elastic.client.list(kind, "default", selector=labels, fields=fields)
        nodes = (one["spec"]["nodeName"] for one in found if one["status"].get("phase") == "Running")
        return next((node for node in nodes if node != without), None)

    return until(look, SECONDS, f"no pod of {fields}{labels} runs")


def lives(seen: Seen, name: str) -> list[list[Object]]:
    """The states of each pod of a job, the first pod first."""
    return seen.of(lambda pod: pod["metadata"].get("labels", {}).get("job-name") == name)


def _ran_on(seen: Seen, name: str) -> str:
    """The node of the first pod of a job; both may be gone by now."""

    def look() -> str | None:
        states = (state for life in lives(seen, name) for state in life)
        return next((state["spec"]["nodeName"] for state in states if state["spec"].get("nodeName")), None)

    return until(look, SECONDS, f"no pod of job {name} has a node")


def drained(elastic: Begun, name: str) -> bool:
    """Whether a node has drained."""
    (states,) = elastic.machines.of(lambda node: node["metadata"]["name"] == name)
    return any(taint["key"] == "karpenter.sh/disrupted" for one in states for taint in one["spec"].get("taints") or ())


def evicted(life: list[Object]) -> bool:
    """Whether somebody deleted a pod while it ran."""
    return any(one["status"].get("phase") == "Running" and "deletionTimestamp" in one["metadata"] for one in life)


def gone(elastic: Elastic, node: str, seconds: float = SECONDS, of: Ref | None = None) -> None:
    """Wait until a node, or an object of it, does not exist."""
    ref = of or Ref("v1", "Node", node)
    until(lambda: elastic.client.get(ref) is None or None, seconds, f"{ref.kind} {node} is still there")


def complete(elastic: Elastic, name: str) -> bool:
    found = elastic.client.get(Ref("batch/v1", "Job", name, "default"))
    return found is not None and condition(found, "Complete").get("status") == "True"


def until_complete(elastic: Elastic, name: str) -> None:
    """The job controller hears of the end of a pod when Karpenter does, and may take longer."""
    until(lambda: complete(elastic, name) or None, SECONDS, f"job {name} is not complete")


def reclaim(elastic: Elastic, node: str, notice: float) -> None:
    """EC2 gives notice of an interruption."""
    deadline = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + notice))
    elastic.client.merge(Ref("v1", "Node", node), {"metadata": {"annotations": {INTERRUPTION: deadline}}})


def test_an_empty_node_goes_and_its_nodeclaim_with_it(elastic: Begun) -> None:
    node = elastic.on["empty"]
    gone(elastic, node)
    until_complete(elastic, "empty")
    gone(elastic, node, of=Ref("karpenter.sh/v1", "NodeClaim", node))


def test_a_budget_of_zero_keeps_an_empty_node(elastic: Begun) -> None:
    node = elastic.on["frozen"]
    event(elastic, "frozen", "No allowed disruptions for disruption reason Empty due to blocking budget")
    until_complete(elastic, "frozen")
    assert elastic.client.get(Ref("v1", "Node", node)) is not None


def test_a_node_that_expires_goes_when_its_job_has_ended(elastic: Begun) -> None:
    """The drain waits for a job with do-not-disrupt, as long as `terminationGracePeriod`."""
    node = elastic.on["expiring"]
    gone(elastic, node)
    until_complete(elastic, "expiring")
    (only,) = lives(elastic.pods, "expiring")
    # It ended by itself, although the node had taken no new pods for half of its time.
    assert drained(elastic, node)
    assert not evicted(only)
    assert only[-1]["status"]["phase"] == "Succeeded"


def test_a_node_that_expires_ends_its_job_after_the_termination_grace_period(elastic: Begun) -> None:
    gone(elastic, elastic.on["forced"])
    assert not complete(elastic, "forced")
    assert evicted(lives(elastic.pods, "forced")[0])


def test_a_spot_interruption_moves_a_job_within_the_notice(elastic: Begun) -> None:
    node = elastic.on["warned"]
    reclaim(elastic, node, 120)
    event(elastic, node, "Spot interruption warning was triggered")
    gone(elastic, node)
    assert runs_on(elastic, labels="job-name=warned", without=node)


def test_a_spot_job_with_do_not_disrupt_gets_no_notice(elastic: Begun) -> None:
    """Karpenter's drain waits for it, until EC2 ends the instance; so jobs on Spot don't have the annotation."""
    node = elastic.on["unwarned"]
    reclaim(elastic, node, 25)
    event(elastic, node, "Spot interruption warning was triggered")
    gone(elastic, node)
    first = lives(elastic.pods, "unwarned")[0]
    assert drained(elastic, node)
    assert not evicted(first)
    assert "Terminated" in [one["status"].get("reason") for one in first], "it has the kubelet's reason"
    assert runs_on(elastic, labels="job-name=unwarned", without=node)


# A GPU breaks: by Karpenter's own toleration of ten minutes, and its own share of unhealthy nodes.


def test_a_node_with_a_broken_gpu_is_replaced_and_its_job_runs_on_another(elastic: Begun) -> None:
    """Whatever the job's annotation says. Its pod is deleted, not evicted: without `DisruptionTarget`, so it counts for
    `backoffLimit`, which the policy of this job would not let it for an eviction."""
    node = elastic.on["broken"]
    break_gpu(elastic.client, node, ago=0)
    elastic.client.merge(Ref("batch/v1", "Job", "broken", "default"), {"spec": {"backoffLimit": 1}})
    assert condition(existing(elastic.client, Ref("v1", "Node", node)), CONDITION)["status"] == "False"
    assert not drained(elastic, node), "it is tolerated for ten minutes"
    break_gpu(elastic.client, node)
    gone(elastic, node)
    gone(elastic, node, of=Ref("karpenter.sh/v1", "NodeClaim", node))
    assert runs_on(elastic, labels="job-name=broken", without=node)
    first = lives(elastic.pods, "broken")[0]
    assert evicted(first)
    assert "DisruptionTarget" not in {each["type"] for one in first for each in one["status"].get("conditions") or ()}


def test_more_broken_nodes_than_a_fifth_of_a_pool_are_all_left_as_they_are(elastic: Begun) -> None:
    """What makes healthy GPUs look broken reports them everywhere: Karpenter then replaces none."""
    first = elastic.on["outage"]
    another = replace(pools()["h100"], name="outage")
    elastic.client.create(pod("beside", another, {GPU: "1"}, {"sandbox.slipway/duration": "600s"}), "test")
    second = runs_on(elastic, fields="metadata.name=beside")
    for ago in (0, 600):  # both are broken before the first is tolerated no longer
        for node in (first, second):
            break_gpu(elastic.client, node, ago)
    event(elastic, first, "more than 20% nodes are unhealthy in the nodepool")
    assert runs_on(elastic, labels="job-name=outage") == first
    assert not drained(elastic, first)


def test_eks_replaces_the_nodes_of_a_group_with_repair_alone(elastic: Begun) -> None:
    for name, group in (("eks-repaired", REPAIRED), ("eks-kept", "kept")):
        labels = {GROUP: group, "node.kubernetes.io/instance-type": "p5.48xlarge"}
        made = Ref("v1", "Node", name).as_object()
        elastic.client.create({**made, "metadata": {"name": name, "labels": labels}}, "test")
    break_gpu(elastic.client, "eks-kept")
    break_gpu(elastic.client, "eks-repaired")
    gone(elastic, "eks-repaired")
    assert elastic.client.get(Ref("v1", "Node", "eks-kept")) is not None


def test_an_underutilized_node_gives_its_services_to_another_and_a_job_stays(elastic: Begun) -> None:
    """As pool cpu promises, whose `consolidationPolicy` is WhenEmptyOrUnderutilized."""
    spec = replace(pools()["cpu"], name="thrifty")
    elastic.pool(spec, disruption={"consolidateAfter": "0s", "budgets": [{"nodes": "100%"}]})
    kept = {**KEPT, "sandbox.slipway/duration": "600s"}
    # The larger one first: the node that Karpenter launches for it has room for the other, in whichever batch it is.
    elastic.client.create(pod("filler", spec, {"cpu": "2500m"}), "test")
    elastic.client.create(pod("job", spec, {"cpu": "1"}, kept), "test")
    node = runs_on(elastic, fields="metadata.name=job")
    assert runs_on(elastic, fields="metadata.name=filler") == node
    labels = {"app": "service"}
    template = {"metadata": {"labels": labels}, "spec": pod("service", spec, {"cpu": "1"})["spec"]}
    service = Ref("apps/v1", "Deployment", "service", "default").as_object()
    elastic.client.create({**service, "spec": {"selector": {"matchLabels": labels}, "template": template}}, "test")
    other = runs_on(elastic, labels="app=service")
    assert other != node
    elastic.client.delete(Ref("v1", "Pod", "filler", "default"), grace_seconds=0)
    gone(elastic, other)
    assert runs_on(elastic, labels="app=service") == node
    job = existing(elastic.client, Ref("v1", "Pod", "job", "default"))
    assert (job["spec"]["nodeName"], job["status"]["phase"]) == (node, "Running")

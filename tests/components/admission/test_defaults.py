"""What the API server fills in: on a real one, beside what `slipway why FILE --fix` writes."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import psutil
import pytest

from components.admission import defaults, monitoring, rules
from components.admission.admission import policy
from components.admission.variables import parameters
from components.workloads.target import Target
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.kubernetes.waiting import until
from slipway.why.fix import fixed
from spec.settings.admission import Admission
from tests.components.admission import ray_samples as ray
from tests.components.admission.cases import kept
from tests.components.admission.samples import (
    CUSTOM,
    PLACED,
    Object,
    cron_job,
    definition,
    deployment,
    gpus,
    job,
    job_set,
    pytorch_job,
    spec,
)
from tests.components.admission.test_weight import cost
from tests.sandbox.plane import ControlPlane
from tests.support.definitions import define
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

TEAM = "platform.slipway/team"
STEPS = defaults.steps(rules(PLACED))
CLUSTER = "defaults"
LARGEST = 23_100
"""With fields for a topology, which no shipped stack has: without them it has 16 KB."""


def create(client: KubeClient, manifest: Object, namespace: str = "filled") -> Object:
    """What the API server would store."""
    body = copy.deepcopy(manifest)
    body["metadata"]["namespace"] = namespace
    resource = client.discovery.find(body["apiVersion"], body["kind"])
    end = time.monotonic() + SECONDS
    while True:
        try:
            found: Object = client.call("POST", resource.path(namespace), body, {"dryRun": "All"})
        except ApiError as error:
            # The policy does not know a kind yet whose CRD is new (dispatcher.go of mutating policies, 1.36).
            if error.status != HTTPStatus.SERVICE_UNAVAILABLE or time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return found


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> Iterator[KubeClient]:
    plane.pool.create(CLUSTER, "1.36")
    try:
        yield filling(plane)
    finally:
        # A program without a kubeconfig means the newest cluster.
        plane.pool.delete(CLUSTER)


def filling(plane: ControlPlane) -> KubeClient:
    """The client of the cluster, once it fills in defaults."""
    client = plane.targets.of_cluster(CLUSTER)
    assert client is not None
    define(client, [definition(kind) for kind in CUSTOM])
    facts = parameters(rules(PLACED))
    facts["data"] |= defaults.parameters(STEPS)
    for manifest in (facts, defaults.policy(STEPS), defaults.binding(), *defaults.notice(STEPS)):
        client.apply(manifest, "test")
    for name, level in (("filled", "baseline"), ("strict", "restricted")):
        labels = {TEAM: "vision", "pod-security.kubernetes.io/enforce": level}
        client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}, "test")
    end = time.monotonic() + SECONDS
    while "activeDeadlineSeconds" not in create(client, bare())["spec"]:
        assert time.monotonic() < end, f"nothing is filled in after {SECONDS} s"
        time.sleep(0.1)
    return client


def bare(body: Object | None = None, **more: Any) -> Object:
    fields = {"template": {"spec": body or spec()}, **more}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "it"}, "spec": fields}


ASKING = job(spec(gpus(), nodeSelector={"platform.slipway/pool": "h100"}), queued=False)


def without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: without(each, names) for key, each in value.items() if key not in names}
    return [without(each, names) for each in value] if isinstance(value, list) else value


BOUNDS = {"activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "runPolicy", "labels"}
BARE = {
    "job": without(job(), BOUNDS),
    "cron job": without(cron_job(queued=False), BOUNDS),
    "job set": without(job_set(), BOUNDS),
    "training": without(pytorch_job(), BOUNDS),
    "ray": without(ray.job(), BOUNDS | {"shutdownAfterJobFinishes"}),
    "with GPUs": without(ASKING, BOUNDS | {"tolerations"}),
    "with GPUs, and annotations": without(kept(ASKING, key="example.com/owner"), BOUNDS | {"tolerations"}),
    "a server with GPUs": without(deployment(ASKING["spec"]["template"]["spec"]), {"tolerations"}),
}


@pytest.mark.parametrize("case", BARE)
def test_what_the_server_fills_in_is_what_a_fix_writes(client: KubeClient, case: str) -> None:
    target = Target(pools=PLACED.pools, namespace="filled", labels={TEAM: "vision"}, by_topology=PLACED.by_topology)
    _, changes = fixed(BARE[case], target, Admission())
    made = create(client, BARE[case])
    for one in changes:
        value: Any = made
        for key in one.path:
            value = value[key]
        assert one.value in value if one.appended else value == one.value or one.value[0] in value, one
    assert fixed(made, target, Admission())[1] == []
    assert (defaults.NOTE in made["metadata"].get("annotations", {})) is bool(changes)


def test_a_job_gets_its_bounds_and_queue(client: KubeClient) -> None:
    made = create(client, bare())
    assert made["spec"]["activeDeadlineSeconds"] == made["spec"]["ttlSecondsAfterFinished"] == 86400
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    assert made["metadata"]["annotations"][defaults.NOTE] == (
        "metadata.labels.kueue.x-k8s.io/queue-name: default; spec.activeDeadlineSeconds: 86400; "
        "spec.ttlSecondsAfterFinished: 86400"
    )


def test_what_the_user_sets_stays(client: KubeClient) -> None:
    given = job(activeDeadlineSeconds=9_999_999, ttlSecondsAfterFinished=5)
    given["metadata"] = {"name": "it", "labels": {"kueue.x-k8s.io/queue-name": "mine"}, "annotations": {"a": "b"}}
    made = create(client, given)
    assert {key: made["spec"][key] for key in given["spec"] if key != "template"} == {
        key: value for key, value in given["spec"].items() if key != "template"
    }
    assert (made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], made["metadata"]["annotations"]) == (
        "mine",
        {"a": "b"},
    )


def test_a_copied_annotation_goes(client: KubeClient) -> None:
    given = job()
    given["metadata"]["annotations"] = {defaults.NOTE: "spec.activeDeadlineSeconds: 86400", "a": "b"}
    assert create(client, given)["metadata"]["annotations"] == {"a": "b"}


def test_what_a_controller_makes_is_left_alone(client: KubeClient) -> None:
    client.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a", "namespace": "kube-system"}}, "test"
    )
    resource = client.discovery.find("batch/v1", "Job")
    who = {"Impersonate-User": "system:serviceaccount:kube-system:a", "Impersonate-Group": "system:masters"}
    body = bare()
    body["metadata"]["namespace"] = "filled"
    made = client.call("POST", resource.path("filled"), body, {"dryRun": "All"}, headers=who)
    assert "activeDeadlineSeconds" not in made["spec"]


def test_a_restricted_namespace_gets_the_context(client: KubeClient) -> None:
    made = create(client, bare(), "strict")["spec"]["template"]["spec"]
    assert made["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert made["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }


def test_accepting_the_policy_costs_little_more_than_one_rule(client: KubeClient) -> None:
    """0.14 s of processor, an image's rule 0.015; with a mutation for each field and kind 0.3 (1.36.3, 2026-11)."""
    filling, small = defaults.policy(STEPS), policy(next(rule for rule in rules(PLACED) if rule.name == "image-tag"))
    assert len(json.dumps(filling)) < LARGEST
    server = [one for one in psutil.Process().children(recursive=True) if "kube-apiserver" in one.name()][-1]

    def accept(manifest: Object) -> float:
        def apply() -> None:
            client.apply(manifest, "test", force=True, dry_run=True)

        return cost(lambda: sum(server.cpu_times()[:2]), apply)

    assert accept(filling) < 30 * accept(small)


def test_the_node_monitoring_agent_gives_dcgm_an_hour_and_no_other_pod_changes(client: KubeClient) -> None:
    for manifest in monitoring.manifests().values():
        client.apply(manifest, "test")

    def variables(name: str, space: str) -> dict[str, list[str]]:
        own = {"name": "MY_NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
        containers = [{"name": each, "image": "a:1", "env": [own]} for each in (name, "beside")]
        labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": name}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it", "labels": labels}}
        made = create(client, {**pod, "spec": {"containers": containers, "automountServiceAccountToken": False}}, space)
        return {
            one["name"]: [f"{each['name']}={each.get('value')}" for each in one["env"]]
            for one in made["spec"]["containers"]
        }

    agent, own = "eks-node-monitoring-agent", ["MY_NODE_NAME=None"]
    for space in ("kube-system", "filled"):  # the controller makes them a moment after their namespace
        until(lambda: client.get(Ref("v1", "ServiceAccount", "default", space)), SECONDS, "no account")  # noqa: B023
    given = {agent: [*own, f"{monitoring.VARIABLE}=1h"], "beside": own}
    until(lambda: variables(agent, "kube-system") == given or None, SECONDS, "the policy is not in effect")
    assert variables("coredns", "kube-system") == {"coredns": own, "beside": own}
    assert variables(agent, "filled") == {agent: own, "beside": own}

"""Every rule before a real API server: what it takes, what it refuses, and with which words.

Every rule is bound to a namespace label of its own, so that each is judged alone.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from components.admission import StackContext, rules
from components.admission.manifests import binding, policy
from components.workloads.pods import Pod
from components.workloads.resources import Resources
from components.workloads.target import Target
from components.workloads.training_job import TrainingJobArgs, training_job
from components.workloads.volumes import Claim
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError
from spec.pools import resolve_all
from spec.settings import load, read_stack
from spec.settings.admission import Action
from tests.components.admission.cases import REFUSED, TAKEN
from tests.components.admission.samples import (
    CUSTOM,
    GPU,
    GPU_TAINT,
    STAND,
    Object,
    definition,
    gpus,
    job,
    owned,
    pod,
    spec,
)
from tests.slipway.sandbox.plane import ControlPlane
from tests.support.definitions import define

pytestmark = pytest.mark.sandbox

TEAM = "platform.slipway/team"
STACKS = Path(__file__).parents[3] / "stacks"
SECONDS = 15.0
RULES = {rule.name: rule for rule in rules(STAND)}


def namespace(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def bound(rule: str, action: Action) -> Object:
    """A binding that holds in one namespace alone, beside what the component says."""
    made = binding(RULES[rule], action)
    made["metadata"]["name"] = f"{rule}-{action}"
    made["spec"]["matchResources"]["namespaceSelector"]["matchLabels"] = {"rule": f"{rule}-{action}"}
    return made


def refusal(client: KubeClient, made: Object, into: str) -> str | None:
    """What the API server says to it; None where it takes it. Nothing is made."""
    there = {**made, "metadata": {**made["metadata"], "namespace": into}}
    try:
        client.apply(there, "test", dry_run=True)
    except ApiError as error:
        return error.message
    return None


def until(client: KubeClient, made: Object, into: str) -> None:
    """Wait until a rule is in force: the API server notices its policies by watching them."""
    end = time.monotonic() + SECONDS
    while refusal(client, made, into) is None:
        assert time.monotonic() < end, f"nothing refuses {made['kind']} in {into} after {SECONDS} s"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> KubeClient:
    define(plane.client, [definition(kind) for kind in CUSTOM])
    for rule in RULES.values():
        plane.client.apply(policy(rule), "test")
        plane.client.apply(bound(rule.name, Action.DENY), "test")
        plane.client.apply(namespace(rule.name, **{TEAM: "vision", "rule": f"{rule.name}-deny"}), "test")
    for name, cases in REFUSED.items():
        made, _ = next(iter(cases.values()))
        until(plane.client, made, name)
    return plane.client


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in TAKEN.items() for case in cases])
def test_a_right_workload_is_taken(client: KubeClient, rule: str, case: str) -> None:
    assert refusal(client, TAKEN[rule][case], rule) is None


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in REFUSED.items() for case in cases])
def test_a_wrong_workload_is_refused_with_the_way_to_mend_it(client: KubeClient, rule: str, case: str) -> None:
    made, text = REFUSED[rule][case]
    said = refusal(client, made, rule) or ""
    assert f"ValidatingAdmissionPolicy '{rule}.platform.slipway'" in said
    assert text in said


def test_every_rule_is_tried_both_ways() -> None:
    assert set(TAKEN) == set(REFUSED) == set(RULES)


def test_the_api_server_itself_refuses_unequal_limits_of_its_own_kinds(client: KubeClient) -> None:
    unequal = spec({"name": "main", "image": "a:1", "resources": {"limits": {GPU: "2"}, "requests": {GPU: "1"}}})
    for made in (pod(unequal), job(unequal)):
        said = refusal(client, made, "gpu-limits") or ""
        assert "must be equal to nvidia.com/gpu limit of 2" in said


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_the_api_server_takes_the_policies_of_every_stack(client: KubeClient, stack: str) -> None:
    settings = load(read_stack(stack, STACKS), stack=stack).platform
    context = StackContext(pools=resolve_all(settings), queues=True, max_replicas=settings.admission.max_replicas)
    for rule in rules(context):
        client.apply(policy(rule), "other", force=True, dry_run=True)
        client.apply(binding(rule, Action.WARN), "other", dry_run=True)


def test_a_hundred_pools_are_within_what_the_api_server_spends_on_a_rule(client: KubeClient) -> None:
    specs = {f"h100-{number}": replace(STAND.pools["h100"], name=f"h100-{number}") for number in range(100)}
    rule = next(
        rule for rule in rules(StackContext(pools=specs, queues=True, max_replicas=1)) if rule.name == "gpu-pool"
    )
    made, bind = policy(rule), binding(rule, Action.DENY)
    made["metadata"]["name"] = bind["metadata"]["name"] = bind["spec"]["policyName"] = "many"
    bind["spec"]["matchResources"]["namespaceSelector"]["matchLabels"] = {"rule": "many"}
    for each in (made, bind, namespace("many", **{TEAM: "vision", "rule": "many"})):
        client.apply(each, "test")
    body = spec(*({**gpus(), "name": f"c{number}"} for number in range(3)), tolerations=[GPU_TAINT])
    until(client, pod(body), "many")
    assert "no pool takes this pod" in (refusal(client, pod(body), "many") or "")


def test_what_the_typed_templates_make_passes_every_rule(client: KubeClient) -> None:
    target = Target(pools=STAND.pools, namespace="vision")
    resources = Resources(cpu="4", memory="16Gi", gpus=1)
    volumes = {"checkpoints": Claim(claim="checkpoints", path="/checkpoints")}
    for pool in ("h100", "spot"):
        work = Pod(image="registry.example.com/train:1.2.3", pools=(pool,), resources=resources, volumes=volumes)
        made = training_job("train", TrainingJobArgs(target=target, pod=work, deadline_seconds=3600))["job"].manifest
        assert {rule: refusal(client, dict(made), rule) for rule in RULES} == dict.fromkeys(RULES)


def test_other_namespaces_are_left_alone(client: KubeClient) -> None:
    assert refusal(client, job(ttlSecondsAfterFinished=None, queued=False), "default") is None


def test_a_warned_workload_is_taken_and_its_applier_told(client: KubeClient) -> None:
    client.apply(bound("image-tag", Action.WARN), "test")
    client.apply(namespace("warned", **{TEAM: "vision", "rule": "image-tag-warn"}), "test")
    assert refusal(client, pod(spec({"name": "main", "image": "train"})), "warned") is None


def test_what_was_there_before_a_rule_may_change_all_but_its_spec(client: KubeClient) -> None:
    old = job(ttlSecondsAfterFinished=None)
    place = {**old["metadata"], "namespace": "earlier"}
    client.apply(namespace("earlier"), "test")
    client.apply({**old, "metadata": place}, "test")
    client.apply(namespace("earlier", **{TEAM: "vision", "rule": "job-bounds-deny"}), "test")
    until(client, old | {"metadata": {"name": "new"}}, "earlier")
    labelled = {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    assert refusal(client, labelled, "earlier") is None
    assert "a job must end" in (refusal(client, {**old, "spec": {**old["spec"], "parallelism": 2}}, "earlier") or "")


def test_a_controller_makes_what_it_makes(client: KubeClient) -> None:
    assert refusal(client, owned(job(ttlSecondsAfterFinished=None)), "job-bounds") is None

"""Every rule on a real API server: what it accepts, what it denies, and its messages.

Each rule is bound to its own namespace label, so that it is evaluated alone.
"""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from components.admission import StackContext, rules
from components.admission.admission import binding, policy
from components.admission.together import GROUPS, together
from components.admission.variables import parameters
from components.workloads.pods import Claim, Pod, Resources
from components.workloads.target import Target
from components.workloads.training_job import TrainingJobArgs, training_job
from sandbox.kubernetes.client import ApiError, KubeClient
from slipway.why.judge import as_served, denied
from spec.pools import resolve_all
from spec.settings import load, read_stack
from spec.settings.admission import Action
from spec.teams.labels import JOB_USD as NOTE
from tests.components.admission.acts import ACTS
from tests.components.admission.cases import ACCEPTED, DENIED
from tests.components.admission.changes import changed
from tests.components.admission.samples import (
    CONTEXT,
    CUSTOM,
    EVERY,
    GPU,
    GPU_TAINT,
    JOB_USD,
    Object,
    definition,
    gpus,
    job,
    pod,
    spec,
)
from tests.sandbox.plane import ControlPlane
from tests.support.definitions import define
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

TEAM = "platform.slipway/team"
STACKS = Path(__file__).parents[3] / "stacks"
RULES = {rule.name: rule for rule in rules(EVERY)}
SHARED = {rule.name: rule for rule in together(RULES.values()) if rule.name in GROUPS}


def namespace(name: str, **labels: str) -> Object:
    metadata = {"name": name, "labels": labels, "annotations": {NOTE: str(JOB_USD)}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def bound(rule: str, action: Action) -> Object:
    """The binding of a rule, limited to one namespace."""
    manifest = binding((RULES | SHARED)[rule], action)
    manifest["metadata"]["name"] = f"{rule}-{action}"
    manifest["spec"]["matchResources"]["namespaceSelector"]["matchLabels"] = {"rule": f"{rule}-{action}"}
    return manifest


def refusal(client: KubeClient, workload: Object, namespace: str) -> str | None:
    """The API server's error for a workload, or None if it accepts it. A dry run: nothing is created."""
    namespaced = {**workload, "metadata": {**workload["metadata"], "namespace": namespace}}
    try:
        client.apply(namespaced, "test", dry_run=True)
    except ApiError as error:
        return error.message
    return None


def until_denied(client: KubeClient, workload: Object, namespace: str) -> None:
    """Wait until a rule is in effect: the API server watches policies."""
    end = time.monotonic() + SECONDS
    while refusal(client, workload, namespace) is None:
        assert time.monotonic() < end, f"no rule denies {workload['kind']} in {namespace} after {SECONDS} s"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> KubeClient:
    define(plane.client, [definition(kind) for kind in CUSTOM])
    plane.client.apply(parameters(RULES.values()), "test", force=True)
    for rule in (*SHARED.values(), *RULES.values()):
        plane.client.apply(policy(rule), "test")
        plane.client.apply(bound(rule.name, Action.DENY), "test")
        plane.client.apply(namespace(rule.name, **{TEAM: "vision", "rule": f"{rule.name}-deny"}), "test")
    for name, cases in DENIED.items():
        workload, _ = next(iter(cases.values()))
        until_denied(plane.client, workload, name)
    for name, names in GROUPS.items():
        workload, _ = next(one for each in names if each in DENIED for one in DENIED[each].values())
        until_denied(plane.client, workload, name)
    return plane.client


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in ACCEPTED.items() for case in cases])
def test_a_valid_workload_is_accepted(client: KubeClient, rule: str, case: str) -> None:
    assert refusal(client, ACCEPTED[rule][case], rule) is None


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in DENIED.items() for case in cases])
def test_an_invalid_workload_is_denied_with_a_fix(client: KubeClient, rule: str, case: str) -> None:
    workload, text = DENIED[rule][case]
    message = refusal(client, workload, rule) or ""
    assert f"ValidatingAdmissionPolicy '{rule}.platform.slipway'" in message
    assert text in message


COUNT = 60
"""Objects with one to four changes each, each against every rule of its kind: a few seconds of dry runs."""


def test_the_judge_of_files_agrees_with_the_api_server(client: KubeClient) -> None:
    """`slipway why FILE` evaluates the same rules without a server (ADR 0126). What the server refuses for another
    reason than a rule is not compared."""
    target = Target(pools=CONTEXT.pools, namespace="it", queue=None, labels={TEAM: "vision"}, job_usd=JOB_USD)
    found, compared = [], 0
    for manifest in changed(COUNT, seed=2026):
        served = as_served(manifest, target)
        # The namespaces of the others are not known to be in effect yet.
        for rule in (RULES[name] for name in DENIED):
            if not any(kind.kind == manifest["kind"] for kind in rule.kinds):
                continue
            message = refusal(client, manifest, rule.name)
            if message is not None and "ValidatingAdmissionPolicy" not in message:
                continue
            compared += 1
            judged = denied(rule, served, replace(target, namespace=rule.name))
            if (judged is None) != (message is None) or (
                judged is not None and sorted(judged) != sorted((message or "").partition("denied request: ")[2])
            ):
                found.append((rule.name, manifest, message, judged))
    assert compared > COUNT
    assert not found, [(rule, message, judged) for rule, _, message, judged in found] + found[:1]


def test_a_group_refuses_with_the_message_of_its_first_rule_that_does(client: KubeClient) -> None:
    def said(manifest: Object, place: str) -> str:
        return (refusal(client, manifest, place) or "").partition("denied request: ")[2]

    objects = [*(next(iter(cases.values()))[0] for cases in DENIED.values()), *changed(COUNT, seed=2027)]
    found, refused = [], set()
    for manifest in objects:
        for group, names in GROUPS.items():
            of_kind = [each for each in names if any(one.kind == manifest["kind"] for one in RULES[each].kinds)]
            alone = (f"{name}: {text}" for name in of_kind if (text := said(manifest, name)))
            expected, got = next(alone, ""), said(manifest, group)
            refused |= {got.partition(":")[0]}
            if sorted(got) != sorted(expected):
                found.append((group, manifest, expected, got))
    assert not found, [each[2:] for each in found] + found[:1]
    assert len(refused) > len(DENIED) / 2


def test_every_rule_has_accepted_and_denied_cases() -> None:
    """Rules about who asks have theirs in `acts`."""
    assert set(ACCEPTED) == set(DENIED) == set(RULES) - {act.rule for act in ACTS if act.rule not in DENIED}


def test_the_api_server_itself_refuses_unequal_limits_of_its_own_kinds(client: KubeClient) -> None:
    unequal = spec({"name": "main", "image": "a:1", "resources": {"limits": {GPU: "2"}, "requests": {GPU: "1"}}})
    for workload in (pod(unequal), job(unequal)):
        message = refusal(client, workload, "gpu-limits") or ""
        assert "must be equal to nvidia.com/gpu limit of 2" in message


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_the_api_server_accepts_the_policies_of_every_stack(client: KubeClient, stack: str) -> None:
    settings = load(read_stack(stack, STACKS), stack=stack).platform
    context = StackContext(pools=resolve_all(settings), queues=True, max_replicas=settings.admission.max_replicas)
    for rule in rules(context):
        client.apply(policy(rule), "other", force=True, dry_run=True)
        client.apply(binding(rule, Action.WARN), "other", dry_run=True)


def test_a_hundred_pools_are_within_the_cost_limit_of_cel(client: KubeClient) -> None:
    specs = {f"h100-{number}": replace(CONTEXT.pools["h100"], name=f"h100-{number}") for number in range(100)}
    rule = next(
        rule for rule in rules(StackContext(pools=specs, queues=True, max_replicas=1)) if rule.name == "gpu-pool"
    )
    many, bind, facts = policy(rule), binding(rule, Action.DENY), parameters([rule])
    facts["metadata"]["name"] = "many"
    bind["spec"]["paramRef"] = bind["spec"]["paramRef"] | {"name": "many"}
    many["metadata"]["name"] = bind["metadata"]["name"] = bind["spec"]["policyName"] = "many"
    bind["spec"]["matchResources"]["namespaceSelector"]["matchLabels"] = {"rule": "many"}
    for each in (facts, many, bind, namespace("many", **{TEAM: "vision", "rule": "many"})):
        client.apply(each, "test")
    body = spec(*({**gpus(), "name": f"c{number}"} for number in range(3)), tolerations=[GPU_TAINT])
    until_denied(client, pod(body), "many")
    assert "no pool fits this pod" in (refusal(client, pod(body), "many") or "")


def test_manifests_of_workload_components_pass_every_rule(client: KubeClient) -> None:
    target = Target(pools=CONTEXT.pools, namespace="vision", by_topology=EVERY.by_topology)
    resources = Resources(cpu="4", memory="16Gi", gpus=1)
    volumes = {"checkpoints": Claim(claim="checkpoints", path="/checkpoints")}
    for pool in ("h100", "spot"):
        work = Pod(image="registry.example.com/train:1.2.3", pools=(pool,), resources=resources, volumes=volumes)
        manifest = training_job("train", TrainingJobArgs(target=target, pod=work, deadline_seconds=3600))[
            "job"
        ].manifest
        assert {rule: refusal(client, dict(manifest), rule) for rule in RULES} == dict.fromkeys(RULES)


def test_rules_do_not_apply_to_other_namespaces(client: KubeClient) -> None:
    assert refusal(client, job(ttlSecondsAfterFinished=None, queued=False), "default") is None


def test_a_workload_is_accepted_if_the_action_is_warn(client: KubeClient) -> None:
    client.apply(bound("image-tag", Action.WARN), "test")
    client.apply(namespace("warned", **{TEAM: "vision", "rule": "image-tag-warn"}), "test")
    assert refusal(client, pod(spec({"name": "main", "image": "train"})), "warned") is None


def test_objects_older_than_a_rule_can_change_except_their_spec(client: KubeClient) -> None:
    old = job(ttlSecondsAfterFinished=None)
    place = {**old["metadata"], "namespace": "earlier"}
    client.apply(namespace("earlier"), "test")
    client.apply({**old, "metadata": place}, "test")
    client.apply(namespace("earlier", **{TEAM: "vision", "rule": "job-bounds-deny"}), "test")
    until_denied(client, old | {"metadata": {"name": "new"}}, "earlier")
    labelled = {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    assert refusal(client, labelled, "earlier") is None
    assert "a job must be bounded" in (
        refusal(client, {**old, "spec": {**old["spec"], "parallelism": 2}}, "earlier") or ""
    )

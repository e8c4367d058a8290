"""What the rules weigh: bytes of a policy, and processor time of an API server that accepts one, or asks them all."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import psutil
import pytest

from components.admission import Rule, rules
from components.admission.admission import binding, policy
from components.admission.variables import parameters
from spec.settings.admission import Action
from tests.components.admission.samples import CONTEXT, job, on
from tests.components.admission.test_on_server import TEAM, namespace, refusal, until_denied
from tests.sandbox.plane import ControlPlane
from tests.support.stacks import NAMES, recorded

KIB: Final = 1024
POLICY: Final = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
RULES: Final = {rule.name: rule for rule in rules(CONTEXT)}
REPEATS: Final = 40


def weight(manifest: Any) -> int:
    return len(json.dumps(manifest))


@pytest.mark.parametrize("stack", NAMES)
def test_policies_of_a_stack_have_at_most_16_kib_each_and_120_together(stack: str) -> None:
    found = {
        resource.name: weight(resource.inputs.plain)
        for resource in recorded(stack)
        if resource.type.rpartition(":")[2] in POLICY
    }
    assert len(found) >= len(RULES)
    assert {name: size for name, size in found.items() if size > 16 * KIB} == {}
    assert sum(found.values()) <= 120 * KIB


def test_a_policy_does_not_grow_with_pools() -> None:
    many = replace(CONTEXT, pools={f"h100-{number}": CONTEXT.pools["h100"] for number in range(100)})
    assert [policy(rule) for rule in rules(many)] == [policy(rule) for rule in RULES.values()]


@pytest.fixture(scope="module")
def seconds(plane: ControlPlane) -> Callable[[], float]:
    """Processor time of the API server so far."""
    plane.client.apply(parameters(RULES.values()), "test", force=True)
    (server,) = (one for one in psutil.Process().children(recursive=True) if "kube-apiserver" in one.name())

    def used() -> float:
        times = server.cpu_times()
        return float(times.user + times.system)

    return used


def cost(seconds: Callable[[], float], act: Callable[[], object]) -> float:
    """Seconds of the processor that one request takes, of several."""
    begun = seconds()
    for _ in range(REPEATS):
        act()
    return (seconds() - begun) / REPEATS


@pytest.mark.sandbox
def test_accepting_a_policy_costs_at_most_ten_times_a_small_one(
    plane: ControlPlane, seconds: Callable[[], float]
) -> None:
    """On two idle cores 2 to 40 ms, 0.4 s for all (1.36.3, 2026-11); expressions of 50 KB took 2.7 s."""

    def accept(rule: Rule) -> float:
        body = policy(rule)
        body["metadata"]["name"] = f"weighed.{rule.name}"
        return cost(seconds, lambda: plane.client.apply(body, "test", dry_run=True))

    accept(RULES["image-tag"])
    found = {name: accept(rule) for name, rule in RULES.items()}
    assert {name: each for name, each in found.items() if each > 10 * found["image-tag"]} == {}


@pytest.mark.sandbox
def test_what_all_rules_cost_a_job(plane: ControlPlane, seconds: Callable[[], float]) -> None:
    """Of the time without them: five times as much more, most of it for 19 matching policies (1.36.3, 2026-11)."""
    for rule in RULES.values():
        own, bind = policy(rule), binding(rule, Action.DENY)
        own["metadata"]["name"] = bind["metadata"]["name"] = bind["spec"]["policyName"] = f"weighed.{rule.name}"
        bind["spec"]["matchResources"]["namespaceSelector"]["matchLabels"] = {"rule": "weighed"}
        plane.client.apply(own, "test")
        plane.client.apply(bind, "test")
    for name, labels in (("free", {}), ("weighed", {TEAM: "vision", "rule": "weighed"})):
        plane.client.apply(namespace(name, **labels), "test")
    until_denied(plane.client, job(queued=False), "weighed")
    ask = job(on("h100"))

    def asked(place: str) -> float:
        return cost(seconds, lambda: refusal(plane.client, ask, place))

    assert refusal(plane.client, ask, "weighed") is None
    assert asked("weighed") < 12 * asked("free")

"""What refuses an object, from messages of API servers."""

from typing import Any

import pytest

from components.admission import StackContext, rules
from components.admission.together import GROUPS
from slipway.why.refusals import refusal
from tests.slipway.why.objects import CASES, cases

POLICY = (
    "jobs.batch \"a\" is forbidden: ValidatingAdmissionPolicy '{0}.platform.slipway' with binding "
    "'{0}.platform.slipway' denied request: {1}"
)


def message(row: dict[str, Any]) -> str:
    return POLICY.format(row["rule"], row["text"]) if "rule" in row else str(row["text"])


@cases("refusals")
def test_a_message_names_its_layer_cause_and_fix(row: dict[str, Any]) -> None:
    found = refusal(message(row))
    assert found is not None
    assert (found.layer, row["says"] in found.cause, row["fix"] in found.fix) == (row["layer"], True, True), found


def test_a_message_of_another_kind_is_no_refusal() -> None:
    assert refusal("Created pod: train-1") is None


def test_the_numbers_of_a_quota() -> None:
    found = refusal(next(row["text"] for row in CASES["refusals"] if row["what"] == "a ResourceQuota"))
    assert found is not None
    assert found.numbers == {
        "resource": "requests.nvidia.com/gpu", "requested": "8", "used": "12", "limit": "16",
    }  # fmt: skip


EVERY = StackContext(pools={}, queues=True, max_replicas=7, by_topology=frozenset({"h100"}))


@pytest.mark.parametrize("rule", rules(EVERY), ids=lambda rule: rule.name)
def test_the_message_of_every_rule_is_split_into_cause_and_fix(rule: object) -> None:
    name, message = getattr(rule, "name"), getattr(rule, "message")  # noqa: B009 - a rule is an object here
    text = f"{message.wrong}{'VALUE' if message.found else ''}{message.fix}"
    found = refusal(POLICY.format(name, text))
    assert found is not None
    assert found.fix != "change it as the rule says", found
    assert all(refusal(POLICY.format(of, f"{name}: {text}")) == found for of, names in GROUPS.items() if name in names)
    whole = f"{found.cause} {found.fix}".lower()
    assert all(word in whole for word in text.lower().rstrip(".").replace(". ", " ").replace(": ", " ").split())

"""Excuses: exact, reasoned, owned, and over on their day."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from pulumi_policy import StackValidationArgs

from policies import pack
from policies.fixtures import DAY
from policies.rules.helm import PINNED
from policies.runner import Finding
from policies.suppressions import SuppressionError, Suppressions, load, parse
from spec import clock
from tests.policies.support import analyze_request, analyzer, policy_of
from tests.support.day import TODAY

ENTRY: dict[str, Any] = {
    "rule": "helm-pinned/version",
    "urn": "urn:pulumi:*::it",
    "reason": "The chart is tested with every release that its range allows.",
    "owner": "ml-platform",
    "until": DAY,
}
BAD = PINNED.checks["version"].bad[0]


def suppressions(**changes: Any) -> Suppressions:
    return parse([{**ENTRY, **changes}], pack.identities())


def said(given: Suppressions) -> list[str]:
    answer = analyzer(policy_of(PINNED, given)).Analyze(analyze_request(PINNED, "it", BAD["it"]), None)
    return [diagnostic.message for diagnostic in answer.diagnostics]


def test_a_violation_is_excused_by_its_check_or_its_rule() -> None:
    assert said(Suppressions()) != []
    assert said(suppressions()) == []
    assert said(suppressions(rule="helm-pinned")) == []


def test_another_check_and_another_resource_are_not_excused() -> None:
    assert said(suppressions(rule="helm-pinned/repository")) != []
    assert said(suppressions(rule="helm-atomic")) != []
    assert said(suppressions(urn="urn:pulumi:*::other")) != []


def test_an_excuse_is_over_the_day_after_and_the_violation_says_so() -> None:
    (message,) = said(suppressions(until=DAY - timedelta(days=1)))
    assert "expired on 2026-11-20" in message
    assert ENTRY["reason"] in message


def test_of_several_excuses_the_one_that_holds_longest_counts() -> None:
    old = {**ENTRY, "until": date(2026, 1, 1)}
    assert said(parse([old, ENTRY, old], pack.identities())) == []


def test_a_day_can_be_given_to_the_process_of_the_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    policy: Any = pack.expiry(suppressions(until=TODAY))
    complaints: list[str] = []
    policy.validate(StackValidationArgs([]), lambda text, *_: complaints.append(text))
    assert complaints == []
    monkeypatch.setenv(clock.VARIABLE, (TODAY + timedelta(days=1)).isoformat())
    policy.validate(StackValidationArgs([]), lambda text, *_: complaints.append(text))
    assert len(complaints) == 1


def test_an_expired_excuse_is_a_violation_of_its_own() -> None:
    def complaints(until: date) -> list[str]:
        found: list[str] = []
        policy: Any = pack.expiry(suppressions(until=until), lambda: DAY)
        policy.validate(StackValidationArgs([]), lambda message, _urn=None: found.append(message))
        return found

    assert complaints(DAY) == []
    (message,) = complaints(DAY - timedelta(days=1))
    assert "ml-platform must judge it again" in message


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"rule": "helm-pined"}, "neither a rule"),
        ({"urn": "*"}, "begins with urn:pulumi:"),
        ({"reason": "fine"}, "in a sentence why"),
        ({"owner": ""}, "the team"),
        ({"until": "soon"}, "must be a day"),
        ({"ticket": 1}, "exactly the keys"),
    ],
)
def test_an_excuse_that_is_not_whole_is_refused_with_its_place(changes: dict[str, Any], part: str) -> None:
    with pytest.raises(SuppressionError, match=rf"suppressions.yaml: \[0\] .*{part}"):
        suppressions(**changes)


def test_the_file_must_be_a_list() -> None:
    with pytest.raises(SuppressionError, match="must hold a list"):
        parse({"rule": "x"}, pack.identities())
    assert parse(None, pack.identities()) == Suppressions()


def test_the_packs_own_file_is_whole() -> None:
    assert all(found.until > TODAY for found in load(pack.identities()).all)


def test_a_finding_counts_unless_a_current_excuse_covers_it() -> None:
    finding = Finding(rule="a", check="b", urn="u", path="", text="t", suppression=suppressions().all[0])
    assert finding.id == "a/b"
    assert not finding.counts(DAY)
    assert finding.counts(DAY + timedelta(days=1))

"""Suppressions: what they cover, their format and their expiry."""

from datetime import date, timedelta
from typing import Any

import pytest
from pulumi_policy import StackValidationArgs

from policies import pack
from policies.resources.resource import Resource
from policies.rules.helm import PINNED
from policies.runner import Finding, portable
from policies.suppressions import SuppressionError, Suppressions, load, made, parse
from spec import clock
from tests.policies.build import FixtureResource
from tests.policies.fixtures import FIXTURES
from tests.policies.support import analyze_request, analyzer, findings_in, policy_of
from tests.support.day import TODAY

ENTRY: dict[str, Any] = {
    "rule": "helm-pinned/version",
    "urn": "urn:pulumi:*::it",
    "value": "'^1.14.0'",
    "reason": "The chart is tested with every release that its range allows.",
    "owner": "ml-platform",
    "until": TODAY,
}
BAD = FIXTURES[PINNED.name].bad["version"][0]


def suppressions(**changes: Any) -> Suppressions:
    return parse([{**ENTRY, **changes}], pack.identities())


def messages(active: Suppressions) -> list[str]:
    response = analyzer(policy_of(PINNED, active)).Analyze(analyze_request(PINNED, "it", BAD["it"]), None)
    return [diagnostic.message for diagnostic in response.diagnostics]


def test_a_violation_is_suppressed_by_its_check_or_its_rule() -> None:
    assert messages(Suppressions()) != []
    assert messages(suppressions()) == []
    assert messages(suppressions(rule="helm-pinned")) == []


def test_another_check_and_another_resource_are_not_suppressed() -> None:
    assert messages(suppressions(rule="helm-pinned/repository")) != []
    assert messages(suppressions(rule="helm-atomic")) != []
    assert messages(suppressions(urn="urn:pulumi:*::other")) != []


@pytest.mark.parametrize("value", ["'^1.14.0'", ["'5.x'", "'^1.14.0'"]])
def test_a_suppression_is_for_the_values_that_it_names(value: Any) -> None:
    assert messages(suppressions(value=value)) == []


def test_another_value_voids_a_suppression_and_the_message_names_both() -> None:
    (message,) = messages(suppressions(value="'1.x'"))
    assert "Its suppression is for \"'1.x'\", and the value is now \"'^1.14.0'\"." in message


def test_a_value_longer_than_a_message_shows_is_compared_as_a_whole() -> None:
    long = {"it": FixtureResource(props={"version": f">= {'1' * 90}", "repositoryOpts": {"repo": "https://it"}})}
    (one,) = [one for one in findings_in(PINNED, long) if one.check == "version"]
    assert one.value == f"'>= {'1' * 90}'"
    assert one.value not in one.text


def test_a_suppression_of_an_older_file_accepts_every_value() -> None:
    assert made({key: value for key, value in ENTRY.items() if key != "value"}).covers(
        "helm-pinned/version", "urn:pulumi:a::it", "x"
    )


def test_the_account_and_the_region_of_the_stack_are_not_part_of_a_value() -> None:
    provider = {"region": "eu-west-1", "allowedAccountIds": '["111122223333"]'}
    at = Resource(type="t", name="it", urn="u", read=dict, provider=provider)
    text = "arn:aws:ecr:eu-west-1:111122223333:repository/a and arn:aws:ecr:eu-west-2:444455556666:repository/a"
    assert (
        portable(text, at)
        == "arn:aws:ecr:REGION:ACCOUNT:repository/a and arn:aws:ecr:eu-west-2:444455556666:repository/a"
    )


def test_a_suppression_expires_the_day_after_and_the_message_says_so() -> None:
    (message,) = messages(suppressions(until=TODAY - timedelta(days=1)))
    assert "it is until 2026-11-20" in message
    assert ENTRY["reason"] in message


def test_of_several_suppressions_the_one_that_expires_last_counts() -> None:
    old = {**ENTRY, "until": date(2026, 1, 1)}
    assert messages(parse([old, ENTRY, old], pack.identities())) == []


def test_a_day_can_be_given_to_the_process_of_the_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    policy: Any = pack.expiry(suppressions(until=TODAY))
    complaints: list[str] = []
    policy.validate(StackValidationArgs([]), lambda text, *_: complaints.append(text))
    assert complaints == []
    monkeypatch.setenv(clock.VARIABLE, (TODAY + timedelta(days=1)).isoformat())
    policy.validate(StackValidationArgs([]), lambda text, *_: complaints.append(text))
    assert len(complaints) == 1


def test_a_suppression_for_more_than_370_days_excuses_nothing_and_is_reported() -> None:
    def violations(until: date) -> list[str]:
        reported: list[str] = []
        policy: Any = pack.expiry(suppressions(until=until), lambda: TODAY)
        policy.validate(StackValidationArgs([]), lambda message, _urn=None: reported.append(message))
        return reported

    longest = TODAY + timedelta(days=370)
    assert messages(suppressions(until=longest)) == violations(longest) == []
    for until in (longest + timedelta(days=1), date(2099, 1, 1)):
        assert len(messages(suppressions(until=until))) == 1
        (message,) = violations(until)
        assert "at most 370 days" in message


@pytest.mark.parametrize(("days", "reported"), [(31, 0), (30, 1), (0, 1), (-1, 0)])
def test_a_suppression_is_announced_30_days_before_its_last_day(days: int, reported: int) -> None:
    complaints: list[str] = []
    policy: Any = pack.review(suppressions(until=TODAY + timedelta(days=days)), lambda: TODAY)
    policy.validate(StackValidationArgs([]), lambda text, *_: complaints.append(text))
    assert len(complaints) == reported


def test_an_expired_suppression_is_reported() -> None:
    def violations(until: date) -> list[str]:
        reported: list[str] = []
        policy: Any = pack.expiry(suppressions(until=until), lambda: TODAY)
        policy.validate(StackValidationArgs([]), lambda message, _urn=None: reported.append(message))
        return reported

    assert violations(TODAY) == []
    (message,) = violations(TODAY - timedelta(days=1))
    assert "ml-platform must review and renew it" in message


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"rule": "helm-pined"}, "neither a rule"),
        ({"urn": "*"}, "begins with urn:pulumi:"),
        ({"urn": "urn:pulumi:*"}, "covers every resource"),
        ({"urn": "urn:pulumi:prod::*"}, "covers every resource"),
        ({"urn": "urn:pulumi:*::slipway::*"}, "covers every resource"),
        ({"urn": "urn:pulumi:*::aws:*::*"}, "covers every resource"),
        ({"urn": "urn:pulumi:*kubernetes:*"}, "covers every resource"),
        ({"value": []}, "must be the accepted value"),
        ({"value": "*"}, "must be the accepted value"),
        ({"value": 3}, "must be the accepted value"),
        ({"reason": "fine"}, "in a sentence why"),
        ({"owner": ""}, "the responsible team"),
        ({"until": "soon"}, "must be a date"),
        ({"ticket": 1}, "exactly the keys"),
    ],
)
def test_an_invalid_suppression_is_refused_with_its_index(changes: dict[str, Any], part: str) -> None:
    with pytest.raises(SuppressionError, match=rf"suppressions.yaml: \[0\] .*{part}"):
        suppressions(**changes)


def test_the_file_must_be_a_list() -> None:
    with pytest.raises(SuppressionError, match="must contain a list"):
        parse({"rule": "x"}, pack.identities())
    assert parse(None, pack.identities()) == Suppressions()


def test_the_suppressions_of_the_pack_are_valid() -> None:
    assert all(suppression.until > TODAY for suppression in load(pack.identities()).all)


def test_a_finding_counts_unless_a_current_suppression_covers_it() -> None:
    finding = Finding(rule="a", check="b", urn="u", path="", text="t", suppression=suppressions().all[0])
    assert finding.id == "a/b"
    assert not finding.counts(TODAY)
    assert finding.counts(TODAY + timedelta(days=1))

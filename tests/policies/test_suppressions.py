"""Suppressions: what they cover, their format and their expiry."""

import ast
import json
import re
from collections.abc import Iterator
from datetime import date, timedelta
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

import pulumi_aws as aws
import pytest
import yaml
from pulumi_policy import StackValidationArgs

from policies import pack, review
from policies.generate import levels
from policies.resources import tokens
from policies.resources.resource import Resource
from policies.review import base, weakened
from policies.reviewed import DECLARED, REVIEWED
from policies.rules.helm import PINNED
from policies.runner import Finding, portable
from policies.suppressions import FILE, SuppressionError, Suppressions, load, made, parse
from slipway.render.evaluation import check
from spec import clock
from tests.components.workloads.examples import EXAMPLES, record
from tests.policies.build import FixtureResource
from tests.policies.fixtures import FIXTURES
from tests.policies.support import analyze_request, analyzer, findings_in, policy_of
from tests.support.cases import beside
from tests.support.day import TODAY
from tests.support.stacks import NAMES, recorded

CASES: Final = beside(__file__)

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


def said(policy: Any) -> list[str]:
    """What a policy about the suppressions themselves reports."""
    reported: list[str] = []
    policy.validate(StackValidationArgs([]), lambda text, *_: reported.append(text))
    return reported


def expired(until: date) -> list[str]:
    return said(pack.expiry(suppressions(until=until), lambda: TODAY))


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
    policy = pack.expiry(suppressions(until=TODAY))
    assert said(policy) == []
    monkeypatch.setenv(clock.VARIABLE, (TODAY + timedelta(days=1)).isoformat())
    assert len(said(policy)) == 1


def test_a_suppression_for_more_than_370_days_excuses_nothing_and_is_reported() -> None:
    longest = TODAY + timedelta(days=370)
    assert messages(suppressions(until=longest)) == expired(longest) == []
    for until in (longest + timedelta(days=1), date(2099, 1, 1)):
        assert len(messages(suppressions(until=until))) == 1
        (message,) = expired(until)
        assert "at most 370 days" in message


@pytest.mark.parametrize(("days", "reported"), [(31, 0), (30, 1), (0, 1), (-1, 0)])
def test_a_suppression_is_announced_30_days_before_its_last_day(days: int, reported: int) -> None:
    assert len(said(pack.review(suppressions(until=TODAY + timedelta(days=days)), lambda: TODAY))) == reported


def test_an_expired_suppression_is_reported() -> None:
    assert expired(TODAY) == []
    (message,) = expired(TODAY - timedelta(days=1))
    assert "ml-platform must review and renew it" in message


@pytest.mark.parametrize(("changes", "part"), CASES["an invalid suppression is refused with its index"])
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


# The list of reviewed types has every type that the program and the examples declare.


ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "components").rglob("*.py"))


def aws_classes(node: ast.AST) -> Iterator[str]:
    """Dotted paths below `aws` that a module calls: `ec2.Vpc`."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("aws."):
            yield ast.unparse(call.func).removeprefix("aws.")


@pytest.mark.parametrize("stack", NAMES)
def test_every_type_of_a_stack_is_reviewed(stack: str) -> None:
    assert {one.type for one in recorded(stack)} - REVIEWED == set()


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_type_of_an_example_is_reviewed(example: str) -> None:
    assert {one.type for one in record(example)} - REVIEWED == set()


def test_every_class_of_aws_that_a_component_uses_is_reviewed() -> None:
    """Some are used only with settings that no stack file of the project has."""
    unreviewed, found = set(), 0
    for path in SOURCES:
        for dotted in aws_classes(ast.parse(path.read_text(encoding="utf-8"))):
            value: object = aws
            for part in dotted.split("."):
                value = getattr(value, part)
            token = getattr(value, "pulumi_type", None)
            found += token is not None
            if token is not None and token not in REVIEWED:
                unreviewed.add(token)
    assert found > 50
    assert unreviewed == set()


def test_every_component_is_reviewed() -> None:
    written = {
        token for path in SOURCES for token in re.findall(r'"(slipway:[a-z]+:[A-Z][A-Za-z]+)"', path.read_text())
    }
    assert "slipway:pools:Fabric" in written
    assert written - REVIEWED == set()
    assert {token for token in REVIEWED if token.startswith("slipway:")} - written == set(), (
        "no component has this type"
    )


@pytest.mark.parametrize("ending", ["Patch", "List"])
def test_no_kind_that_changes_other_objects_is_reviewed(ending: str) -> None:
    """Their contents are those of other kinds, which rules find by type."""
    assert [token for token in REVIEWED if token.startswith("kubernetes:") and token.endswith(ending)] == []


def test_a_type_is_listed_once() -> None:
    named = {value for name, value in vars(tokens).items() if name.isupper() and isinstance(value, str)}
    assert DECLARED & named == set()


# What a change does to the pack itself is named, and excuses nothing.


NOW = load(pack.identities())
TEXT = FILE.read_text(encoding="utf-8")


def configuration(**changes: Any) -> str:
    changed = {
        name.replace("_", "-"): {**levels("prod")[name.replace("_", "-")], **one} for name, one in changes.items()
    }
    return json.dumps({**levels("prod"), **changed})


def test_an_unchanged_pack_is_not_weakened() -> None:
    assert weakened(base(TEXT, configuration()), NOW, "prod") == []


def test_an_added_suppression_is_named_and_does_not_excuse() -> None:
    *others, last = yaml.safe_load(TEXT)
    before = base(yaml.safe_dump(others), configuration())
    (sentence,) = weakened(before, NOW, "prod")
    assert f"adds the suppression of {last['rule']} for {last['urn']}" in sentence
    rule, _, _ = last["rule"].partition("/")
    reported = {one.rule for one in check(recorded("prod"), TODAY, before.suppressions) if one.counts(TODAY)}
    assert rule in reported
    assert rule not in {one.rule for one in check(recorded("prod"), TODAY) if one.counts(TODAY)}


def test_a_changed_suppression_is_an_added_one() -> None:
    first, *others = yaml.safe_load(TEXT)
    before = base(yaml.safe_dump([{**first, "urn": "urn:pulumi:*::other"}, *others]), configuration())
    assert len(weakened(before, NOW, "prod")) == 1


def test_a_lowered_level_and_a_changed_setting_are_named() -> None:
    before = base(
        TEXT,
        configuration(gpu_pool_idle_zero={"enforcementLevel": "mandatory"}, principals_known={"accounts": ["1"]}),
    )
    assert sorted(weakened(before, NOW, "prod")) == [
        'changes accounts of principals-known from ["1"] to []',
        'changes enforcementLevel of gpu-pool-idle-zero from "mandatory" to "disabled"',
    ]


def test_changed_code_is_named() -> None:
    files = ["policies/runner.py", "policies/reviewed.py", "components/admission/pods.py", "tools/ci/page.sh"]
    assert weakened(base(TEXT, configuration(), changed=files), NOW, "prod") == [
        "changes components/admission/pods.py, which evaluates changes or runs in a deployment",
        "changes policies/reviewed.py, which evaluates changes or runs in a deployment",
        "changes policies/runner.py, which evaluates changes or runs in a deployment",
        "changes tools/ci/page.sh, which evaluates changes or runs in a deployment",
    ]


@pytest.mark.parametrize("file", CASES["what judges or runs is named where it changes"])
def test_what_judges_or_runs_is_named_where_it_changes(file: str) -> None:
    """As git reads the patterns: a folder is all below it, and `*` has slashes, too."""
    assert [one for one in review.UNNAMED if fnmatch(file, one) or file.startswith(f"{one}/")] == []


def test_the_stricter_level_applies() -> None:
    before = base(TEXT, configuration(helm_pinned={"enforcementLevel": "advisory"}))
    assert before.level("helm-pinned", "mandatory") == "mandatory"
    assert base(TEXT, configuration()).level("helm-pinned", "disabled") == "mandatory"
    assert base(TEXT, configuration()).level("new-rule", "advisory") == "advisory"


def test_a_raised_level_is_no_weakening_and_a_removed_rule_is_one() -> None:
    assert weakened(base(TEXT, configuration(helm_pinned={"enforcementLevel": "advisory"})), NOW, "prod") == []
    gone = json.dumps({**levels("prod"), "former-rule": {"enforcementLevel": "mandatory"}})
    assert weakened(base(TEXT, gone), NOW, "prod") == ["removes the rule former-rule"]


def test_a_rule_that_a_change_turns_off_is_still_evaluated() -> None:
    before = base(TEXT, configuration(gpu_pool_idle_zero={"enforcementLevel": "mandatory"}))
    assert "gpu-pool-idle-zero" in before.enabled
    evaluated = {one.rule for one in check(recorded("prod"), TODAY, Suppressions(), before.enabled)}
    assert "gpu-pool-idle-zero" in evaluated
    assert "gpu-pool-idle-zero" not in {one.rule for one in check(recorded("prod"), TODAY, Suppressions())}

"""Every rule on its fixtures: directly, and through the servicer that the engine calls, with the SDK's policies."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pulumi
import pytest
from google.protobuf import json_format, struct_pb2
from pulumi_policy import proxy
from pulumi_policy.deserialize import deserialize_properties
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from policies.resources.access import UNKNOWN, Node, WrongTypeError, plain, texts, tree, unknowns
from policies.resources.reading import Unread
from policies.rule import WORDS, AnyRule
from policies.rules import BY_NAME, MODULES, RULES, rules_of
from policies.rules.gpu_pools import TAINTED
from policies.rules.kueue import GANG_SAFE
from policies.rules.node_groups import SAFE_UPDATE
from policies.runner import Finding
from spec import strict_yaml
from tests.policies.build import Fixture, PropertyPath, Row, edited, one, with_
from tests.policies.fixtures import FIXTURES
from tests.policies.support import (
    SECRET_SIGNATURE,
    by_analyzer,
    checks,
    diagnosed,
    findings_in,
    paths,
    value_at,
)

rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
Change = Callable[[Mapping[str, Any], PropertyPath], dict[str, Any]]


def goods(rule: AnyRule) -> Iterator[tuple[str, Row]]:
    """Good fixtures of a rule, each with its place for a failure."""
    yield from ((f"{rule.name} at {good.place}", good) for good in FIXTURES[rule.name].good)


def bads(rule: AnyRule) -> Iterator[tuple[str, str, Row]]:
    """Bad fixtures of a rule: place for a failure, check, and fixture."""
    for key, fixtures in FIXTURES[rule.name].bad.items():
        yield from ((f"{rule.name}/{key} at {bad.place}", key, bad) for bad in fixtures)


@rules
def test_a_good_fixture_has_no_violation(rule: AnyRule) -> None:
    for name, fixture in goods(rule):
        assert findings_in(rule, fixture) == [], name
        assert diagnosed(by_analyzer(rule, fixture)) == set(), name


@rules
def test_a_bad_fixture_violates_only_its_check(rule: AnyRule) -> None:
    for name, check, fixture in bads(rule):
        assert checks(findings_in(rule, fixture)) == {check}, name
        assert diagnosed(by_analyzer(rule, fixture)) == {check}, name


def test_a_bad_fixture_of_another_environment_is_a_violation_only_there() -> None:
    for rule in RULES:
        for key, by_environment in FIXTURES[rule.name].bad_elsewhere.items():
            for environment, fixtures in by_environment.items():
                for fixture in fixtures:
                    assert checks(findings_in(rule, fixture, environment)) == {key}, fixture.place
                    assert findings_in(rule, fixture) == [], fixture.place


def test_every_rule_and_every_check_has_fixtures() -> None:
    assert RULES
    assert set(FIXTURES) == set(WORDS) == {rule.name for rule in RULES}
    for module in (module for group in MODULES.values() for module in group):
        words = strict_yaml.read(Path(str(module.__file__)).with_suffix(".yaml").read_text(encoding="utf-8"))
        assert set(words) == {rule.name for rule in rules_of(module)}, module.__name__
    assert [name for name, fixtures in FIXTURES.items() if not fixtures.good] == []
    checks_with_fixtures = [
        f"{name}/{key}" for name, fixtures in FIXTURES.items() for key, bad in fixtures.bad.items() if bad
    ]
    assert sorted(checks_with_fixtures) == sorted(f"{rule.name}/{key}" for rule in RULES for key in rule.checks)
    elsewhere = {f"{name}/{key}" for name, fixtures in FIXTURES.items() for key in fixtures.bad_elsewhere}
    assert elsewhere <= set(checks_with_fixtures)


def varied(fixture: Fixture, change: Change) -> Iterator[tuple[str, PropertyPath, Fixture]]:
    """Variants of the fixture with one value changed."""
    for name, resource in fixture.items():
        for path in paths(resource.props):
            if value_at(resource.props, path) is not None:
                yield name, path, {**fixture, name: replace(resource, props=change(resource.props, path))}


@contextmanager
def named(*place: object) -> Iterator[None]:
    """Adds the fixture and the path to an exception or failed assertion."""
    try:
        yield
    except Exception as error:
        error.add_note(f"at {place}")
        raise


def to_unknown(props: Mapping[str, Any], path: PropertyPath) -> dict[str, Any]:
    return edited(props, path, UNKNOWN)


def to_secret(props: Mapping[str, Any], path: PropertyPath) -> dict[str, Any]:
    return edited(props, path, {**SECRET_SIGNATURE, "value": value_at(props, path)})


def to_another_type(props: Mapping[str, Any], path: PropertyPath) -> dict[str, Any]:
    value = value_at(props, path)
    return edited(props, path, "text" if isinstance(value, dict | list) else {"of": "another type"})


@rules
def test_an_unknown_value_in_a_good_fixture_is_no_violation(rule: AnyRule) -> None:
    for fixture_name, fixture in goods(rule):
        for name, path, variant in varied(fixture, to_unknown):
            with named(fixture_name, name, path):
                assert findings_in(rule, variant) == []


@rules
def test_an_unknown_value_that_does_not_decide_changes_nothing(rule: AnyRule) -> None:
    """A value does not decide if the violation remains without it."""
    deferred = {path for some in FIXTURES[rule.name].deferred.values() for path in some}
    needed = set()
    for fixture_name, check, fixture in bads(rule):
        findings = findings_in(rule, fixture)
        for name, path, variant in varied(fixture, to_unknown):
            reported = checks(findings_in(rule, variant))
            assert reported <= {check}, (fixture_name, name, path)
            if reported == {check} or any(concerns(finding, name, path) for finding in findings):
                continue
            without = {**fixture, name: replace(fixture[name], props=edited(fixture[name].props, path))}
            if checks(findings_in(rule, without)) == {check} and not decides(rule, fixture, name, path, check):
                needed.add(path)
                place = (fixture_name, name, path)
                assert path in deferred, f"{place}: add it to `deferred` there, if the check has to wait for it"
    assert deferred == needed, (
        f"{rule.name}: remove these from `deferred`: the value decides nothing, or a fixture shows it"
    )


def concerns(finding: Finding, name: str, path: PropertyPath) -> bool:
    """Whether a finding is for a path, or for a path below it."""
    written = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return finding.urn.endswith(f"::{name}") and finding.path.startswith(written)


def decides(rule: AnyRule, fixture: Fixture, name: str, path: PropertyPath, check: str) -> bool:
    """Whether another value at the path would be valid: a common one, or one from a good fixture."""
    resource = fixture[name]
    value = value_at(resource.props, path)
    candidates: list[Any] = [[], {}, "another", 0, 1, 10**9, True, False, "true", "false"]
    for good in FIXTURES[rule.name].good:
        for other in good.values():
            if path in paths(other.props):
                candidates.append(value_at(other.props, path))
    for candidate in candidates:
        if candidate == value:
            continue
        variant = {**fixture, name: replace(resource, props=edited(resource.props, path, candidate))}
        if check not in checks(findings_in(rule, variant)):
            return True
    return False


def with_unknown_property(fixture: Fixture) -> Fixture:
    """The fixture with an additional unknown property in each resource."""
    return {name: replace(resource, props={**resource.props, "added": UNKNOWN}) for name, resource in fixture.items()}


@rules
def test_an_additional_unknown_property_changes_nothing(rule: AnyRule) -> None:
    for name, fixture in goods(rule):
        assert diagnosed(by_analyzer(rule, with_unknown_property(fixture))) == set(), name
    for name, check, fixture in bads(rule):
        assert diagnosed(by_analyzer(rule, with_unknown_property(fixture))) == {check}, name


@rules
def test_a_secret_is_evaluated_like_other_values(rule: AnyRule) -> None:
    for fixture_name, check, fixture in bads(rule):
        for name, path, variant in islice(varied(fixture, to_secret), 3):
            assert diagnosed(by_analyzer(rule, variant)) == {check}, (fixture_name, name, path)


@rules
def test_a_value_of_another_type_or_a_missing_one_never_crashes_a_rule(rule: AnyRule) -> None:
    for fixture_name, fixture in goods(rule):
        for name, path, variant in varied(fixture, to_another_type):
            with named(fixture_name, name, path):
                findings_in(rule, variant)
    for fixture_name, _check, fixture in bads(rule):
        for name, path, variant in varied(fixture, edited):
            with named(fixture_name, name, path):
                findings_in(rule, variant)


def test_a_finding_of_the_platform_names_the_setting_and_that_of_another_program_the_property() -> None:
    own, other = (f"urn:pulumi:dev::p::{chain}$aws:x/y:Z::x" for chain in ("slipway:s:S", "a:b:C"))
    rule = BY_NAME["efs-throughput-backup"]
    assert rule.fix_of("enabled", own) == "Set storage.efs.backup: true in the stack file."
    assert {rule.fix_of("enabled", other), rule.fix_of("enabled", ""), rule.fix_of("vault", own)} == {rule.fix}
    schema = (Path(__file__).parents[2] / "stacks/schema.json").read_text(encoding="utf-8")
    settings = [text.partition(":")[0] for each in WORDS.values() for text in each.get("settings", {}).values()]
    assert {key for each in settings for key in each.split(".") if f'"{key}": {{' not in schema} == set()


def test_a_message_contains_the_check_the_requirement_the_value_and_the_fix() -> None:
    every_check = [(rule, key, check) for rule in RULES for key, check in rule.checks.items()]
    for rule, key, check in every_check:
        message = findings_in(rule, FIXTURES[rule.name].bad[key][0])[0].message
        assert message.startswith(f"[{key}] "), (rule.name, message)
        assert check.asks in message, (rule.name, message)
        assert "; it is " in message, (rule.name, message)
        assert message.endswith(check.fix or rule.fix), (rule.name, message)


def test_a_value_of_the_wrong_type_is_a_violation_of_the_check_that_reads_it() -> None:
    fixture = one({"amiType": "AL2023_x86_64_NVIDIA", "taints": "nvidia.com/gpu:NoSchedule"})
    (finding,) = findings_in(TAINTED, fixture)
    assert (finding.id, finding.path) == ("gpu-pool-tainted/taint", "taints")
    assert "it is 'nvidia.com/gpu:NoSchedule', which is not a list" in finding.message
    assert finding.message.endswith(TAINTED.fix)
    assert diagnosed(by_analyzer(TAINTED, fixture)) == {"taint"}


def test_a_value_of_the_wrong_type_does_not_hide_violations_of_other_checks() -> None:
    fixture = one({"updateConfig": {"maxUnavailablePercentage": "many"}, "forceUpdateVersion": True})
    assert {finding.check for finding in findings_in(SAFE_UPDATE, fixture)} == {"share", "force"}


@pytest.mark.parametrize("values", ["8", ["managerConfig"]])
def test_a_stack_rule_reports_a_value_of_the_wrong_type(values: object) -> None:
    good = FIXTURES[GANG_SAFE.name].good[0]
    (finding,) = findings_in(GANG_SAFE, with_(good, "kueue", "values", values))
    assert (finding.id, finding.path) == ("kueue-gang-safe/wait", "values")


# Values that are known, unknown, missing, or of the wrong type, and the engine's messages that they are read from.


PROPS: dict[str, Any] = {
    "map": {"known": "text", "unknown": UNKNOWN_STRING_VALUE},
    "list": ["a", UNKNOWN_STRING_VALUE, "b"],
    "unknown": UNKNOWN_STRING_VALUE,
    "null": None,
    "number": 20.0,
    "flag": False,
}
ROOT = tree(unknown_checking_proxy(PROPS))


def test_an_unknown_value_does_not_hide_other_values() -> None:
    assert ROOT["map"]["known"].text() == "text"
    assert ROOT["map"]["unknown"].unknown
    assert texts(ROOT["list"].items()) == {"a", "b"}
    assert unknowns(ROOT["list"].items()) == 1
    assert [node.path for node in ROOT.walk()] == ["map.known", "list[0]", "list[2]", "number", "flag"]


def test_values_below_an_unknown_are_unknown_and_below_a_missing_one_missing() -> None:
    assert ROOT["unknown"]["a"]["b"].unknown
    assert ROOT["null"]["a"].missing
    assert ROOT.at("absent", "a").missing
    assert ROOT["unknown"].items() == []
    assert ROOT["unknown"].fields() == {}


@pytest.mark.parametrize(
    ("raw", "default", "is_true", "is_false"),
    [
        (True, False, True, False),
        (False, True, False, True),
        ("true", False, True, False),
        ("false", True, False, True),
        (None, True, True, False),
        (None, False, False, True),
    ],
)
def test_a_missing_flag_has_the_default(raw: Any, default: bool, is_true: bool, is_false: bool) -> None:
    node = tree({"flag": raw})["flag"]
    assert (node.is_true(default=default), node.is_false(default=default)) == (is_true, is_false)


@pytest.mark.parametrize("default", [True, False])
def test_an_unknown_flag_is_neither_true_nor_false(default: bool) -> None:
    assert not ROOT["unknown"].is_true(default=default)
    assert not ROOT["unknown"].is_false(default=default)


def test_a_missing_value_is_not_accepted_and_an_unknown_one_may_be() -> None:
    assert ROOT["null"].is_not("x")
    assert ROOT["flag"].is_not("x")
    assert not ROOT["flag"].is_not("x", False)
    assert not ROOT["unknown"].is_not("x")


def test_numbers_are_read_from_floats_and_strings() -> None:
    assert ROOT["number"].number() == 20
    assert ROOT["number"].shown == "20"
    assert tree({"n": "7"})["n"].number() == 7
    assert ROOT["unknown"].number() is None


@pytest.mark.parametrize(
    ("read", "raw"),
    [
        (lambda node: node["key"], "text"),
        (lambda node: node.items(), {"a": 1}),
        (lambda node: node.fields(), ["a"]),
        (lambda node: node.text(), 1),
        (lambda node: node.number(), "many"),
        (lambda node: node.number(), True),
        (lambda node: node.truth(), "yes"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_its_path(read: Any, raw: Any) -> None:
    with pytest.raises(WrongTypeError, match=r"^place must be "):
        read(Node("place", raw))


def test_a_long_value_is_truncated_in_messages() -> None:
    assert len(tree({"a": "x" * 500})["a"].shown) < 100
    for key in ("password", "masterUserPassword", "secretString"):
        assert "hunter2" not in tree({key: "hunter2"})[key].shown
    assert ROOT["null"].shown == "not set"
    assert ROOT["unknown"].shown == "not known before the update"
    assert ROOT["flag"].shown == "false"


ASSET = {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17"}
SENTINELS = [value for name, value in vars(proxy).items() if name.startswith("UNKNOWN_")]


def message(properties: dict[str, Any]) -> struct_pb2.Struct:
    return json_format.ParseDict(properties, struct_pb2.Struct())


@pytest.mark.parametrize(
    "value",
    [
        "text", "", 3.0, True, False, None, [], {},
        {"deep": [{"er": [None, 1.5, {"est": ""}]}]},
        {**SECRET_SIGNATURE, "value": {"password": ["hidden"]}},
        [{**SECRET_SIGNATURE, "value": None}],
        *SENTINELS,
        [{"beside": SENTINELS[0], "known": 1.0}],
        {**SECRET_SIGNATURE, "value": SENTINELS[2]},
    ],
)  # fmt: skip
def test_values_are_those_that_the_sdk_reads(value: Any) -> None:
    properties = message({"it": value, "other": 1.0})
    by_the_sdk = plain(proxy.unknown_checking_proxy(deserialize_properties(json_format.MessageToDict(properties))))
    assert Unread(properties).values == by_the_sdk


def test_every_sentinel_of_the_sdk_is_unknown() -> None:
    assert len(SENTINELS) == 7
    assert all(value is UNKNOWN for value in Unread(message(dict.fromkeys(SENTINELS, SENTINELS[1]))).values.values())
    assert all(Unread(message({"it": sentinel})).values["it"] is UNKNOWN for sentinel in SENTINELS)


def test_values_with_other_signatures_are_deserialized_by_the_sdk() -> None:
    asset = Unread(message({"it": {**ASSET, "text": "hello"}})).values["it"]
    assert isinstance(asset, pulumi.StringAsset)
    assert asset.text == "hello"
    with pytest.raises(AssertionError, match="Unrecognized signature"):
        _ = Unread(message({"it": {next(iter(ASSET)): "new"}})).values

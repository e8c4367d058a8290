"""What values mean: conditions of IAM, address ranges, rules of RBAC roles, and credentials in texts."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.checks.grants import Grant, grants, listed_by_place
from policies.evaluation.iam import Statement, limits_the_caller, limits_the_resource, wildcard
from policies.evaluation.ranges import internet, parsed_range
from policies.resources.access import UNKNOWN, Node, WrongTypeError, tree
from spec.catalog.credentials import FORMATS, SHORTEST, credentials
from tests.support.cases import beside

CASES: Final = beside(__file__)


def statement(condition: Any) -> Statement:
    return Statement(Node("", {"Effect": "Allow", "Condition": condition}))


@pytest.mark.parametrize(("text", "wide"), CASES["a wildcard accepts more than one account"])
def test_a_wildcard_accepts_more_than_one_account(text: str, wide: bool) -> None:
    assert wildcard(Node("", text)) is wide


@pytest.mark.parametrize("condition", [
    {"StringEquals": {"ec2:ResourceTag/team": "ml"}},
    {"StringEquals": {"aws:ResourceTag/team": "ml"}},
    {"ForAnyValue:StringEquals": {"kms:ResourceAliases": ["alias/ml"]}},
])  # fmt: skip
def test_a_tag_or_a_key_of_the_service_limits_the_resource(condition: Any) -> None:
    assert limits_the_resource(statement(condition))


@pytest.mark.parametrize("condition", CASES["other conditions do not"])
def test_other_conditions_do_not(condition: Any) -> None:
    assert not limits_the_resource(statement(condition))


def test_an_unknown_condition_or_value_is_not_judged() -> None:
    assert limits_the_caller(statement(UNKNOWN))
    assert limits_the_caller(statement({"StringEquals": {"aws:PrincipalArn": UNKNOWN}}))


def test_a_network_limits_the_caller_and_the_internet_does_not() -> None:
    assert limits_the_caller(statement({"IpAddress": {"aws:SourceIp": ["203.0.113.0/24"]}}))
    assert not limits_the_caller(statement({"IpAddress": {"aws:SourceIp": ["203.0.113.0/24", "::0/0"]}}))
    assert limits_the_caller(statement({"StringEquals": {"aws:SourceVpce": "vpce-1"}}))


def found(*ranges: object) -> list[str]:
    nodes = [Node(f"[{index}]", one) for index, one in enumerate(ranges)]
    return [str(node.raw) for node in internet(nodes)]


@pytest.mark.parametrize("text", CASES["the internet is found in every spelling"])
def test_the_internet_is_found_in_every_spelling(text: str) -> None:
    assert found(text) == [text]


@pytest.mark.parametrize(
    "text", ["10.0.0.0/8", "172.16.0.0/12", "100.64.0.0/10", "203.0.113.0/24", "17.0.0.0/8", "fc00::/7", "2600::/20"]
)
def test_a_network_is_not_the_internet(text: str) -> None:
    assert found(text) == []


def test_ranges_that_are_the_internet_together_are_found() -> None:
    quarters = [f"{first}.0.0.0/8" for first in range(64)]
    assert found("10.0.0.0/8", *quarters[:10]) == quarters[:10]
    assert found("203.0.113.0/24", "10.0.0.0/8", "fd00::/8") == []
    assert found("::/1", "8000::/1", "10.0.0.0/8") == ["::/1", "8000::/1"]


def test_an_unknown_range_is_not_decided_and_other_text_is_refused() -> None:
    assert found(UNKNOWN, None) == []
    with pytest.raises(WrongTypeError, match="a CIDR range"):
        parsed_range(Node("place", "everywhere"))


def of(**rule: Any) -> set[Grant]:
    return set(grants(tree(rule)))


def test_a_rule_allows_each_verb_on_each_resource_of_each_group() -> None:
    found = of(apiGroups=["", "apps"], resources=["pods", "deployments/scale"], verbs=["get", "patch"])
    assert len(found) == 8
    assert Grant("patch", "apps", "deployments/scale") in found


def test_wildcards_are_grants_of_their_own() -> None:
    assert of(apiGroups=["*"], resources=["*", "*/scale", "pods/*"], verbs=["*"]) == {
        Grant("*", "*", "*"),
        Grant("*", "*", "*/scale"),
        Grant("*", "*", "pods/*"),
    }


def test_names_do_not_make_a_grant_less() -> None:
    named = of(apiGroups=[""], resources=["secrets"], verbs=["get"], resourceNames=["x"])
    assert named == of(apiGroups=[""], resources=["secrets"], verbs=["get"])


def test_urls_have_no_group() -> None:
    assert of(nonResourceURLs=["/metrics", "/logs/*"], verbs=["get"]) == {
        Grant("get", "", "/metrics"),
        Grant("get", "", "/logs/*"),
    }


@pytest.mark.parametrize(
    "rule",
    [
        {"resources": ["pods"], "verbs": ["get"]},
        {"apiGroups": [""], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["pods"]},
        {"apiGroups": UNKNOWN, "resources": ["pods"], "verbs": ["get"]},
        {"apiGroups": [UNKNOWN], "resources": ["pods"], "verbs": ["get"]},
    ],
)
def test_a_rule_without_group_resource_or_verb_allows_nothing(rule: dict[str, Any]) -> None:
    """The API server refuses it (kubernetes v1.36, pkg/apis/rbac/validation/validation.go, ValidatePolicyRule)."""
    assert of(**rule) == set()


def test_known_parts_of_a_rule_with_unknown_ones_count() -> None:
    assert of(apiGroups=[""], resources=["secrets", UNKNOWN], verbs=["get"]) == {Grant("get", "", "secrets")}


def test_text_instead_of_a_list_is_an_error() -> None:
    with pytest.raises(WrongTypeError, match="a list"):
        of(apiGroups="", resources=["pods"], verbs=["get"])


def test_grants_are_shown_by_what_they_are_on() -> None:
    found = [*grants(tree({"apiGroups": ["", "apps"], "resources": ["pods/exec"], "verbs": ["get", "create"]}))]
    text = "create, get on pods/exec; create, get on pods.apps/exec"
    assert listed_by_place(found) == text
    assert listed_by_place([Grant("get", "", "/metrics")]) == "get on /metrics"


@pytest.mark.parametrize("form", FORMATS)
@given(data=st.data())
def test_no_match_is_shorter_than_what_is_searched(form: str, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(FORMATS[form], fullmatch=True))
    assert len(text) >= SHORTEST
    assert form in credentials(text)


def test_the_shortest_credential_is_found() -> None:
    assert list(credentials("xoxb-" + "0123456789")) == ["Slack token"]
    assert list(credentials("xoxb-" + "012345678")) == []

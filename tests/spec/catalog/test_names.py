import inspect
import re
from typing import Any

import botocore.session
import pulumi_aws as aws
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.catalog import document, names

ENTRIES: dict[str, dict[str, Any]] = dict(document.load("names.yaml")["limits"])
MODELLED = sorted(kind for kind, entry in ENTRIES.items() if "botocore" in entry)
DOCUMENTED = sorted(
    kind for kind, entry in ENTRIES.items() if re.match(r"(ec2|sqs|sns|elbv2)\.\w+\.\w+: ", entry.get("documented", ""))
)


@pytest.mark.parametrize("kind", MODELLED)
def test_bounds_are_those_of_the_service_model(kind: str) -> None:
    service, _, shape = ENTRIES[kind]["botocore"].partition(".")
    model = botocore.session.get_session().get_service_model(service).shape_for(shape)

    assert names.limit(kind).longest == model.metadata["max"]
    assert names.limit(kind).shortest == model.metadata["min"]


@pytest.mark.parametrize("kind", DOCUMENTED)
def test_bounds_without_a_model_are_in_the_words_of_the_api(kind: str) -> None:
    where, _, words = ENTRIES[kind]["documented"].partition(": ")
    service, shape, member = where.split(".")
    request: Any = botocore.session.get_session().get_service_model(service).shape_for(shape)
    documentation: str = request.members[member].documentation

    text = " ".join(re.sub(r"<[^>]+>", " ", documentation).split())
    assert " ".join(words.split()) in text.replace(" . ", ". ").replace(" ,", ",")
    assert str(names.limit(kind).longest) in words


def test_the_bound_of_node_groups_is_in_the_words_of_the_provider() -> None:
    words = ENTRIES["eks-node-group"]["documented"].partition(": ")[2]

    assert words in inspect.getsource(aws.eks.NodeGroup)


@given(st.sampled_from(sorted(names.LIMITS)), st.text(max_size=300))
def test_a_name_that_passes_is_within_its_limit(kind: str, name: str) -> None:
    limit = names.limit(kind)

    if limit.problem(name) is None:
        assert limit.shortest <= len(name) <= limit.longest
        assert re.fullmatch(limit.pattern, name)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("iam-role", "slipway-prod-karpenter-1a2b3c4"),
        ("kms-alias", "alias/slipway-prod"),
        ("launch-template", "slipway-prod-a100"),
        ("log-group", "/aws/eks/slipway-prod/cluster"),
        ("kubernetes-label-value", ""),
        ("autoscaling-group", "eks-a100-20c1"),
        ("s3-bucket", "slipway-prod-models"),
    ],
)
def test_usual_names_pass(kind: str, name: str) -> None:
    assert names.problem(kind, name) is None


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("iam-role", "x" * 65, "at most 64 characters"),
        ("eks-cluster", "-prod", "must match"),
        ("launch-template", "ab", "at least 3"),
        ("security-group", "sg-mine", "must match"),
        ("kms-alias", "slipway", "must match"),
        ("helm-release", "x" * 54, "at most 53"),
        ("kubernetes-label-value", "-a", "must match"),
        ("load-balancer", "internal-a", "must match"),
        ("tag-key", "AWS:owner", "must match"),
    ],
)
def test_a_wrong_name_is_refused_with_the_reason(kind: str, name: str, words: str) -> None:
    assert words in (names.problem(kind, name) or "")


def test_pulumis_suffix_counts() -> None:
    assert names.problem("iam-role", "x" * 57) is None
    assert "65, of which Pulumi's suffix has 8" in (names.problem("iam-role", "x" * 57, autonamed=True) or "")
    assert names.problem("iam-role", "x" * 56, autonamed=True) is None


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(KeyError, match="iam-group"):
        names.problem("iam-group", "x")

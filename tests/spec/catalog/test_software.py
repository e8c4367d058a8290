"""Pins of software, and what is derived from their rows."""

import inspect
import re
from typing import Any, Final

import botocore.session
import pulumi_aws as aws
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.catalog import document, instances, kubernetes, names, regions
from spec.catalog.document import load
from spec.catalog.regions import ACCOUNTS, eks_registry
from spec.catalog.software import CHARTS, CLUSTER_AUTOSCALER_IMAGES, FILE, SOFTWARE, ChartRef, Software, row_of
from spec.settings.addons import Addons
from spec.settings.environment import Account
from tests.support.cases import beside
from tests.support.day import TODAY

CASES: Final = beside(__file__)


@pytest.mark.parametrize("row", SOFTWARE.values(), ids=lambda row: row.name)
def test_software_has_an_exact_version_and_a_source(row: Software) -> None:
    assert re.fullmatch(r"v?\d+\.\d+(\.\d+)?", row.version)
    assert row.source


@pytest.mark.parametrize("row", CHARTS.values(), ids=lambda row: row.name)
def test_a_chart_is_in_a_repository_or_a_registry(row: ChartRef) -> None:
    assert re.fullmatch(r"(https|oci)://[^*?]+[^/*?]", row.repository)
    assert row.chart == (f"{row.repository}/{row.name}" if row.repository.startswith("oci:") else row.name)


def test_rows_name_add_ons_of_the_stack_file() -> None:
    keys = {str(field.alias) for field in Addons.model_fields.values()}
    assert {row.addon for row in SOFTWARE.values() if row.addon} <= keys
    assert all(row.addon for row in SOFTWARE.values() if row.queued_kinds)


@pytest.mark.parametrize(("change", "problem"), CASES["an unknown key and a value of another type are errors"])
def test_an_unknown_key_and_a_value_of_another_type_are_errors(change: dict[str, Any], problem: str) -> None:
    row = {"name": "lws", **load(FILE)["lws"]}
    assert row_of(ChartRef, "lws", row) == CHARTS["lws"]
    with pytest.raises(ValueError, match=problem):
        row_of(ChartRef, "lws", {**row, **change})


def test_karpenter_and_its_crds_are_of_one_version() -> None:
    assert CHARTS["karpenter"].version == CHARTS["karpenter-crd"].version


def test_the_autoscaler_has_the_version_of_every_cluster_that_is_still_supported() -> None:
    supported = {v for v in kubernetes.VERSIONS if kubernetes.support(v, TODAY) == "standard"}
    assert supported <= set(CLUSTER_AUTOSCALER_IMAGES)
    assert all(image.startswith(f"v{version}.") for version, image in CLUSTER_AUTOSCALER_IMAGES.items())


@pytest.mark.parametrize(("region", "host"), CASES["images come from the region of the nodes"])
def test_images_come_from_the_region_of_the_nodes(region: str, host: str | None) -> None:
    assert eks_registry(region) == host


def test_every_region_with_a_registry_is_one_and_its_account_a_number() -> None:
    assert set(ACCOUNTS) <= set(regions.REGIONS)
    assert all(len(account) == 12 and account.isdecimal() for account in ACCOUNTS.values())


@pytest.mark.parametrize(("region", "partition", "suffix"), [
    ("us-east-1", "aws", "amazonaws.com"),
    ("cn-north-1", "aws-cn", "amazonaws.com.cn"),
    ("us-gov-west-1", "aws-us-gov", "amazonaws.com"),
])  # fmt: skip
def test_a_region_has_a_partition_and_its_domain(region: str, partition: str, suffix: str) -> None:
    assert regions.partition(region) == partition
    assert regions.get(region).dns_suffix == suffix


@pytest.mark.parametrize(("region", "letters"), CASES["zones are those that some account has"])
def test_zones_are_those_that_some_account_has(region: str, letters: str) -> None:
    assert regions.zones(region) == tuple(f"{region}{letter}" for letter in letters)


def test_settings_accept_the_name_of_every_region() -> None:
    names = regions.NAMES.removeprefix("one of ").split(", ")
    assert len(names) == len(regions.REGIONS)
    for name in names:
        assert Account(id="111122223333", region=name).region == name


def test_every_commercial_region_has_three_zones_or_more() -> None:
    commercial = [region for region in regions.REGIONS.values() if region.partition == "aws"]

    assert len(commercial) == 34
    assert all(len(region.zones) >= 3 and len(region.zone_ids) >= 3 for region in commercial)


def test_zone_ids_are_listed_for_known_regions_only() -> None:
    assert set(document.load("zone-ids.yaml")["zone_ids"]) <= set(regions.REGIONS)
    assert set(regions.REGIONS) >= instances.OFFERING_REGIONS


@given(st.text(max_size=12))
def test_a_name_outside_the_table_is_not_a_region(name: str) -> None:
    assert regions.is_region(name) == (name in regions.REGIONS)


def test_a_region_that_does_not_exist_is_refused() -> None:
    assert not regions.is_region("us-east-9")
    with pytest.raises(KeyError, match="us-east-9"):
        regions.zones("us-east-9")


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


@pytest.mark.parametrize(("kind", "name"), CASES["usual names pass"])
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


def test_a_missing_row_is_named_with_its_file() -> None:
    with pytest.raises(KeyError, match=r"no-chart: spec/catalog/data/software\.yaml has no row of it"):
        CHARTS["no-chart"]

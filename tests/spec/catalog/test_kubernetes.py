import json
import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto.iam.aws_managed_policies import aws_managed_policies_data

from spec.catalog import addons, instance_tags, kubernetes
from spec.settings.cluster import AddonName


@pytest.mark.parametrize(
    ("version", "day", "stage"),
    [
        ("1.35", date(2026, 1, 26), "unknown"),
        ("1.35", date(2026, 1, 27), "standard"),
        ("1.35", date(2027, 3, 26), "standard"),
        ("1.35", date(2027, 3, 27), "extended"),
        ("1.35", date(2028, 3, 26), "extended"),
        ("1.35", date(2028, 3, 27), "ended"),
        ("1.36", date(2026, 11, 21), "standard"),
        ("1.33", date(2026, 11, 21), "extended"),
        ("1.31", date(2026, 11, 26), "ended"),
        ("1.20", date(2026, 11, 21), "unknown"),
    ],
)
def test_support_changes_on_the_day_of_the_calendar(version: str, day: date, stage: str) -> None:
    assert kubernetes.support(version, day) == stage


@given(st.sampled_from(sorted(kubernetes.VERSIONS)), st.dates(date(2024, 1, 1), date(2030, 1, 1)))
def test_support_never_gets_better_with_time(version: str, day: date) -> None:
    order = ["unknown", "standard", "extended", "ended"]

    today, tomorrow = (kubernetes.support(version, d) for d in (day, day + timedelta(days=1)))
    assert order.index(today) <= order.index(tomorrow)


def test_each_version_has_fourteen_months_of_standard_and_a_year_of_extended_support() -> None:
    for version in kubernetes.VERSIONS.values():
        assert 14 * 30 <= (version.standard_until - version.released).days <= 14 * 31, version.name
        assert (version.extended_until - version.standard_until).days in (365, 366), version.name


def test_the_default_is_supported_and_one_behind_the_newest() -> None:
    assert kubernetes.DEFAULT == "1.35"
    assert kubernetes.support(kubernetes.DEFAULT, kubernetes.SOURCE.day) == "standard"
    assert kubernetes.next_minor(kubernetes.DEFAULT) == list(kubernetes.VERSIONS)[-1]


def test_versions_are_without_gap_and_oldest_first() -> None:
    names = list(kubernetes.VERSIONS)

    assert [kubernetes.next_minor(name) for name in names[:-1]] == names[1:]


@pytest.mark.parametrize(
    ("node", "plane", "behind"),
    [("1.33", "1.35", 2), ("1.36", "1.35", -1), ("1.35", "1.35", 0), ("latest", "1.35", None)],
)
def test_skew_is_counted_in_minor_versions(node: str, plane: str, behind: int | None) -> None:
    assert kubernetes.skew(node, plane) == behind


@pytest.mark.parametrize("text", ["1.9", "1.10"])
def test_minor_versions_are_numbers_and_not_decimals(text: str) -> None:
    assert kubernetes.next_minor(text) == {"1.9": "1.10", "1.10": "1.11"}[text]


def test_what_is_no_version_has_no_next() -> None:
    with pytest.raises(ValueError, match=r"write it like 1\.35"):
        kubernetes.next_minor("1.35.2")


VERSION = re.compile(r"v\d+\.\d+\.\d+-eksbuild\.\d+")


def test_the_catalog_has_every_add_on_of_the_settings() -> None:
    assert set(addons.ADDONS) == {str(name) for name in AddonName}


def test_managed_policies_exist_under_their_path() -> None:
    # Here, because moto takes a second, and every worker that only collects this file would wait for it.
    from moto.iam.aws_managed_policies import aws_managed_policies_data  # noqa: PLC0415

    policies = json.loads(aws_managed_policies_data)

    for facts in addons.ADDONS.values():
        if facts.policy:
            path, _, name = f"/{facts.policy}".rpartition("/")
            assert policies[name]["Path"] == f"{path}/", facts.name


def test_pins_are_eks_builds_with_source_and_confidence() -> None:
    for facts in addons.ADDONS.values():
        for version, pin in facts.pins.items():
            assert version in kubernetes.VERSIONS, facts.name
            assert VERSION.fullmatch(pin.version), facts.name
            assert pin.source.text, facts.name
            assert pin.confidence in ("observed", "configured"), facts.name


def test_the_default_version_has_a_pin_of_every_add_on() -> None:
    assert not [name for name, facts in addons.ADDONS.items() if facts.version(kubernetes.DEFAULT) is None]


def test_an_unsourced_pin_is_left_to_aws() -> None:
    assert addons.get("aws-fsx-csi-driver").version("1.36") is None
    assert addons.get("coredns").version("1.20") is None


def test_kube_proxy_is_of_the_cluster_s_minor_version() -> None:
    for version, pin in addons.get("kube-proxy").pins.items():
        assert pin.version.startswith(f"v{version}."), version


def test_add_ons_that_nodes_need_come_first_and_deployments_wait_for_nodes() -> None:
    before = [name for name, facts in addons.ADDONS.items() if facts.before_compute]

    assert before == ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"]
    assert not any(addons.get(name).needs_nodes for name in before)
    assert addons.get("coredns").needs_nodes


def test_policies_are_named_in_the_partition_of_the_cluster() -> None:
    assert addons.get("vpc-cni").policy_arn("aws-cn") == "arn:aws-cn:iam::aws:policy/AmazonEKS_CNI_Policy"
    assert addons.get("coredns").policy_arn("aws") is None


def test_the_s3_driver_calls_aws_without_a_managed_policy() -> None:
    facts = addons.get("aws-mountpoint-s3-csi-driver")

    assert facts.calls_aws
    assert facts.policy is None
    assert {name for name, each in addons.ADDONS.items() if each.calls_aws} == {
        "vpc-cni",
        "aws-ebs-csi-driver",
        "aws-efs-csi-driver",
        "aws-fsx-csi-driver",
        "aws-mountpoint-s3-csi-driver",
    }


def test_an_unknown_add_on_is_refused() -> None:
    with pytest.raises(KeyError, match="core-dns"):
        addons.get("core-dns")


def test_the_ebs_driver_may_attach_volumes_to_instances_of_every_kind_of_node() -> None:
    """The policy requires one of several instance tags: EKS sets one on managed groups, Karpenter another."""
    facts = addons.get("aws-ebs-csi-driver")
    assert facts.policy is not None
    document = json.loads(aws_managed_policies_data)[facts.policy]["Document"]
    tags = {
        key.partition("/")[2]
        for statement in document["Statement"]
        if "ec2:AttachVolume" in statement["Action"] and "instance/" in statement["Resource"]
        for condition in statement["Condition"].values()
        for key in condition
    }
    assert any(instance_tags.carried(tag, managed=True, elastic=False) for tag in tags)
    assert any(instance_tags.carried(tag, managed=False, elastic=True) for tag in tags)
    # Policy version v1 of 2026-04 had only these: volumes did not attach to Karpenter's nodes.
    first = {"eks:cluster-name", "ebs.csi.aws.com/cluster-name"}
    assert not any(instance_tags.carried(tag, managed=False, elastic=True) for tag in first)


def test_pins_are_versions_that_the_platform_works_with() -> None:
    """The EBS driver tags volumes as its policy requires from v1.58.0 (kubernetes-sigs/aws-ebs-csi-driver#2918)."""
    assert addons.get("aws-ebs-csi-driver").too_old("v1.57.1-eksbuild.1")
    assert not addons.get("aws-ebs-csi-driver").too_old("v1.58.0-eksbuild.1")
    assert not addons.get("coredns").too_old("v0.0.1-eksbuild.1")
    for facts in addons.ADDONS.values():
        assert not any(facts.too_old(pin.version) for pin in facts.pins.values())

"""Karpenter's requirements and the placeholder node of a NodePool."""

from typing import Any, Final

import pytest

from sandbox.nodes.karpenter import matches, placeholder, values
from sandbox.nodes.spec import NodeSpec, Taint
from spec.catalog import instances
from tests.support.cases import beside

CASES: Final = beside(__file__)


def pool(*requirements: tuple[str, str, list[str]], **template: Any) -> dict[str, Any]:
    listed = [{"key": key, "operator": operator, "values": given} for key, operator, given in requirements]
    return {
        "metadata": {"name": "gpu"},
        "spec": {"template": {"metadata": template.pop("metadata", {}), "spec": {"requirements": listed, **template}}},
    }


def types(*names: str) -> tuple[str, str, list[str]]:
    return ("node.kubernetes.io/instance-type", "In", list(names))


def node_of(made: dict[str, Any], node_class: Any = None, overlays: Any = ()) -> NodeSpec:
    """The placeholder node of a pool."""
    found = placeholder(made, node_class, overlays)
    assert found is not None
    return found


def test_the_lowest_priced_matching_type_is_chosen() -> None:
    found = node_of(pool(types("p5.48xlarge", "p4d.24xlarge", "p4de.24xlarge")))
    assert found.instance_type == "p4d.24xlarge"
    assert found.placeholder
    assert found.owner == "nodepool/gpu"


@pytest.mark.parametrize(("requirement", "family"), [
    (("karpenter.k8s.aws/instance-gpu-name", "In", ["h100"]), "p5"),
    (("karpenter.k8s.aws/instance-category", "In", ["r"]), "r8g"),
    (("karpenter.k8s.aws/instance-gpu-count", "Gt", ["7"]), "g4dn"),
])  # fmt: skip
def test_types_are_matched_by_any_label_of_karpenter(requirement: tuple[str, str, list[str]], family: str) -> None:
    found = node_of(pool(requirement))
    if requirement[1] == "Gt":
        assert instances.get(found.instance_type).gpus > 7
    else:
        assert found.instance_type.split(".")[0] == family


def test_a_type_outside_the_catalog_has_only_a_name() -> None:
    found = node_of(pool(types("x99.large")))
    assert found.instance_type == "x99.large"
    assert "cpu" not in found.capacity


def test_unmet_requirements_give_no_node() -> None:
    assert placeholder(pool(("karpenter.k8s.aws/instance-gpu-name", "In", ["b999"])), None, []) is None


@pytest.mark.parametrize(("allowed", "expected"), CASES["reserved comes before spot and spot before on demand"])
def test_reserved_comes_before_spot_and_spot_before_on_demand(allowed: list[str], expected: str) -> None:
    capacity = [("karpenter.sh/capacity-type", "In", allowed)] if allowed else []
    assert node_of(pool(types("m7i.large"), *capacity)).labels["karpenter.sh/capacity-type"] == expected


def test_labels_taints_and_zone_come_from_the_template() -> None:
    zones = ("topology.kubernetes.io/zone", "In", ["us-east-1b", "us-east-1a"])
    taints = [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}]
    found = node_of(pool(types("m7i.large"), zones, metadata={"labels": {"role": "general"}}, taints=taints))
    assert (found.labels["role"], found.labels["karpenter.sh/nodepool"]) == ("general", "gpu")
    assert found.zone == "us-east-1b"
    assert found.taints == (Taint("dedicated", "NoSchedule", "ml"),)


def test_a_label_is_known_where_its_requirement_allows_one_value() -> None:
    found = node_of(pool(types("m7i.large"), ("tier", "In", ["gold"]), ("shift", "In", ["day", "night"])))
    assert found.labels["tier"] == "gold"
    assert "shift" not in found.labels


def test_disk_pods_and_adapters_come_from_the_node_class() -> None:
    node_class = {
        "spec": {
            "kubelet": {"maxPods": 64},
            "blockDeviceMappings": [{"ebs": {"volumeSize": "4Gi"}}, {"ebs": {"volumeSize": "300Gi"}}],
            "networkInterfaces": [{"interfaceType": "interface"}, *[{"interfaceType": "efa-only"}] * 4],
        }
    }
    found = node_of(pool(types("p4d.24xlarge")), node_class)
    assert found.capacity["pods"] == "64"
    assert found.capacity["ephemeral-storage"] == str(300 * 2**30)
    assert found.capacity["vpc.amazonaws.com/efa"] == "4"


def test_an_overlay_adds_resources_to_matching_nodes_and_the_higher_weight_wins() -> None:
    def overlay(weight: int, name: str, count: str) -> dict[str, Any]:
        requirement = {"key": "karpenter.sh/nodepool", "operator": "In", "values": [name]}
        return {"spec": {"weight": weight, "requirements": [requirement], "capacity": {"nvidia.com/mig-1g.5gb": count}}}

    overlays = [overlay(10, "gpu", "56"), overlay(1, "gpu", "1"), overlay(99, "other", "7")]
    found = node_of(pool(types("p4d.24xlarge")), None, overlays)
    assert (found.capacity["nvidia.com/mig-1g.5gb"], found.capacity["nvidia.com/gpu"]) == ("56", "0")


def test_a_pool_without_a_template_is_accepted() -> None:
    assert node_of({"metadata": {"name": "empty"}, "spec": {}})


LABELS = {"family": "p5", "cpu": "192"}


@pytest.mark.parametrize(("operator", "allowed", "expected"), CASES["operators on a label"])
def test_operators_on_a_label(operator: str, allowed: list[str], expected: bool) -> None:
    requirement = [{"key": "family", "operator": operator, "values": allowed}]
    assert matches(LABELS, requirement) is expected


@pytest.mark.parametrize(("operator", "bound", "expected"), CASES["operators on a number"])
def test_operators_on_a_number(operator: str, bound: str, expected: bool) -> None:
    assert matches(LABELS, [{"key": "cpu", "operator": operator, "values": [bound]}]) is expected


def test_a_missing_key_meets_only_negative_operators() -> None:
    assert not matches(LABELS, [{"key": "team", "operator": "In", "values": ["research"]}])
    assert matches(LABELS, [{"key": "team", "operator": "NotIn", "values": ["research"]}])
    assert matches(LABELS, [{"key": "team", "operator": "DoesNotExist"}])


def test_values_come_from_in_requirements_in_their_order() -> None:
    requirements = [
        {"key": "zone", "operator": "In", "values": ["b", "a"]},
        {"key": "zone", "operator": "NotIn", "values": ["c"]},
    ]
    assert values(requirements, "zone") == ("b", "a")
    assert values(requirements, "other") == ()

from __future__ import annotations

from typing import Any

import pytest

from infra.catalog import instances
from slipway.sandbox.nodes.karpenter import specimen
from slipway.sandbox.nodes.spec import Taint


def pool(*requirements: tuple[str, str, list[str]], **template: Any) -> dict[str, Any]:
    listed = [{"key": key, "operator": operator, "values": given} for key, operator, given in requirements]
    return {
        "metadata": {"name": "gpu"},
        "spec": {"template": {"metadata": template.pop("metadata", {}), "spec": {"requirements": listed, **template}}},
    }


def types(*names: str) -> tuple[str, str, list[str]]:
    return ("node.kubernetes.io/instance-type", "In", list(names))


def test_the_cheapest_type_that_fits_is_shown() -> None:
    found = specimen(pool(types("p5.48xlarge", "p4d.24xlarge", "p4de.24xlarge")), None, [])
    assert found is not None
    assert found.instance_type == "p4d.24xlarge"
    assert found.specimen
    assert found.owner == "nodepool/gpu"


@pytest.mark.parametrize(
    ("requirement", "family"),
    [
        (("karpenter.k8s.aws/instance-gpu-name", "In", ["h100"]), "p5"),
        (("karpenter.k8s.aws/instance-category", "In", ["r"]), "r7i"),
        (("karpenter.k8s.aws/instance-gpu-count", "Gt", ["7"]), "g4dn"),
    ],
)
def test_types_are_chosen_by_any_label_of_karpenter(requirement: tuple[str, str, list[str]], family: str) -> None:
    found = specimen(pool(requirement), None, [])
    assert found is not None
    if requirement[1] == "Gt":
        assert instances.get(found.instance_type).gpus > 7
    else:
        assert found.instance_type.split(".")[0] == family


def test_a_type_outside_the_catalog_is_shown_by_name_alone() -> None:
    found = specimen(pool(types("x99.large")), None, [])
    assert found is not None
    assert found.instance_type == "x99.large"
    assert "cpu" not in found.capacity


def test_requirements_that_nothing_meets_show_nothing() -> None:
    assert specimen(pool(("karpenter.k8s.aws/instance-gpu-name", "In", ["b999"])), None, []) is None


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        (["on-demand", "spot", "reserved"], "reserved"),
        (["on-demand", "spot"], "spot"),
        (["on-demand"], "on-demand"),
        ([], "on-demand"),
    ],
)
def test_reserved_comes_before_spot_and_spot_before_on_demand(allowed: list[str], expected: str) -> None:
    capacity = [("karpenter.sh/capacity-type", "In", allowed)] if allowed else []
    found = specimen(pool(types("m7i.large"), *capacity), None, [])
    assert found is not None
    assert found.labels["karpenter.sh/capacity-type"] == expected


def test_labels_taints_and_zone_are_the_templates() -> None:
    found = specimen(
        pool(
            types("m7i.large"),
            ("topology.kubernetes.io/zone", "In", ["us-east-1b", "us-east-1a"]),
            metadata={"labels": {"role": "general"}},
            taints=[{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}],
        ),
        None,
        [],
    )
    assert found is not None
    assert (found.labels["role"], found.labels["karpenter.sh/nodepool"]) == ("general", "gpu")
    assert found.zone == "us-east-1b"
    assert found.taints == (Taint("dedicated", "NoSchedule", "ml"),)


def test_a_label_is_known_where_its_requirement_allows_one_value() -> None:
    found = specimen(pool(types("m7i.large"), ("tier", "In", ["gold"]), ("shift", "In", ["day", "night"])), None, [])
    assert found is not None
    assert found.labels["tier"] == "gold"
    assert "shift" not in found.labels


def test_the_node_class_tells_disk_pods_and_adapters() -> None:
    node_class = {
        "spec": {
            "kubelet": {"maxPods": 64},
            "blockDeviceMappings": [{"ebs": {"volumeSize": "4Gi"}}, {"ebs": {"volumeSize": "300Gi"}}],
            "networkInterfaces": [{"interfaceType": "interface"}, *[{"interfaceType": "efa-only"}] * 4],
        }
    }
    found = specimen(pool(types("p4d.24xlarge")), node_class, [])
    assert found is not None
    assert found.capacity["pods"] == "64"
    assert found.capacity["ephemeral-storage"] == str(300 * 2**30)
    assert found.capacity["vpc.amazonaws.com/efa"] == "4"


def test_an_overlay_adds_resources_to_the_nodes_it_matches_and_the_heavier_wins() -> None:
    def overlay(weight: int, name: str, count: str) -> dict[str, Any]:
        requirement = {"key": "karpenter.sh/nodepool", "operator": "In", "values": [name]}
        return {"spec": {"weight": weight, "requirements": [requirement], "capacity": {"nvidia.com/mig-1g.5gb": count}}}

    overlays = [overlay(10, "gpu", "56"), overlay(1, "gpu", "1"), overlay(99, "other", "7")]
    found = specimen(pool(types("p4d.24xlarge")), None, overlays)
    assert found is not None
    assert (found.capacity["nvidia.com/mig-1g.5gb"], found.capacity["nvidia.com/gpu"]) == ("56", "0")


def test_a_pool_without_a_template_which_a_stand_in_lets_pass_does_no_harm() -> None:
    assert specimen({"metadata": {"name": "empty"}, "spec": {}}, None, []) is not None

"""The manifests against the CRDs of the installed Karpenter version: names, types, enumerations, patterns."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.pools.karpenter import node_overlay, node_pool
from components.pools.nodeclass import NodeClassArgs, node_class
from tests.components.pools.samples import ONE_ZONE, spec

CASES: dict[str, dict[str, Any]] = {
    "cpu": {"preset": "cpu"},
    "mig": {"preset": "a100", "mig": {"layout": "all-balanced"}},
    "spot": {"preset": "gpu-spot", "taints": {"example.com/t": {"effect": "NoExecute"}}},
    "bottlerocket": {"preset": "cpu", "os": "bottlerocket"},
    "shared": {"preset": "gpu-spot", "os": "bottlerocket", "localNvme": "none",
        "sharing": {"mode": "mps", "replicas": 4}},
    "efa": {"preset": "h100", "efa": True, "zones": ONE_ZONE, "dedicated": True},
    "reserved": {"preset": "h100",
        "capacity": {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}}},
}  # fmt: skip
_TYPES = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list}


def schema(shared: Path, file: str) -> Mapping[str, Any]:
    crd = yaml.load((shared / "charts/karpenter-crd/crds" / file).read_text(), yaml.CSafeLoader)
    (version,) = (each for each in crd["spec"]["versions"] if each["storage"])
    properties: Mapping[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return properties


def complaints(value: Any, expected: Mapping[str, Any], path: str) -> Iterator[str]:
    """Violations of an OpenAPI schema; CEL rules need a real API server."""
    if expected.get("x-kubernetes-int-or-string"):
        value = str(value)
    elif not isinstance(value, _TYPES[expected["type"]]) or (expected["type"] == "integer" and value is True):
        yield f"{path}: {value!r} is no {expected['type']}"
        return
    if "enum" in expected and value not in expected["enum"]:
        yield f"{path}: {value!r} is none of {expected['enum']}"
    if "pattern" in expected and isinstance(value, str) and not re.search(expected["pattern"], value):
        yield f"{path}: {value!r} does not match {expected['pattern']}"
    if isinstance(value, dict):
        yield from in_object(value, expected, path)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from complaints(item, expected["items"], f"{path}[{index}]")


def in_object(value: Mapping[str, Any], expected: Mapping[str, Any], path: str) -> Iterator[str]:
    known = expected.get("properties", {})
    yield from (f"{path}: {key} is missing" for key in expected.get("required", ()) if key not in value)
    for key, item in value.items():
        if key not in known and "additionalProperties" not in expected:
            yield f"{path}: {key} is not known"
        else:
            yield from complaints(item, known.get(key) or expected["additionalProperties"], f"{path}.{key}")


@pytest.mark.parametrize("name", CASES)
def test_node_pools_satisfy_the_crd(shared: Path, name: str) -> None:
    expected = schema(shared, "karpenter.sh_nodepools.yaml")
    assert list(complaints(node_pool(spec(**CASES[name])), expected, "spec")) == []


@pytest.mark.parametrize("name", CASES)
def test_node_classes_satisfy_the_crd(shared: Path, name: str) -> None:
    args = NodeClassArgs(
        spec=spec(**CASES[name]), cluster="ml", instance_profile="p", placement_group="g", tags={"owner": "ml"}
    )
    expected = schema(shared, "karpenter.k8s.aws_ec2nodeclasses.yaml")
    assert list(complaints(node_class(args), expected, "spec")) == []


@pytest.mark.parametrize("name", ["mig", "shared"])
def test_node_overlays_satisfy_the_crd(shared: Path, name: str) -> None:
    expected = schema(shared, "karpenter.sh_nodeoverlays.yaml")
    assert list(complaints(node_overlay(spec(**CASES[name])), expected, "spec")) == []


def test_violations_are_found(shared: Path) -> None:
    expected = schema(shared, "karpenter.sh_nodepools.yaml")
    wrong = node_pool(spec(**CASES["spot"]))
    wrong["disruption"]["consolidationPolicy"] = "Sometimes"
    wrong["template"]["spec"]["taints"][0]["efect"] = wrong["template"]["spec"]["taints"][0].pop("effect")
    wrong["weight"] = "10"
    assert len(list(complaints(wrong, expected, "spec"))) == 4

"""The command: what it prints, its exit codes, and the way back."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from slipway.cli import main
from slipway.upgrade.drains import replaced
from slipway.upgrade.world import World
from spec.catalog import kubernetes, lifecycle, upgrades
from spec.pools.resolution import resolve_all
from spec.settings import load, read_stack
from tests.slipway.conftest import Slipway

NODE: Final[dict[str, Any]] = {
    "apiVersion": "v1", "kind": "Node",
    "metadata": {"name": "a", "labels": {"karpenter.sh/nodepool": "cpu", "platform.slipway/pool": "cpu"}},
    "status": {"nodeInfo": {"kubeletVersion": "v1.36.1", "osImage": "Amazon Linux 2023",
                            "containerRuntimeVersion": "containerd://2.1.4"}},
}  # fmt: skip
POLICY: Final = {
    "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": "own"},
}  # fmt: skip
OLD: Final = {"apiVersion": "flowcontrol.apiserver.k8s.io/v1beta3", "kind": "FlowSchema", "metadata": {"name": "a"}}


@pytest.fixture(autouse=True)
def nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No kubeconfig, and no charts."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("SLIPWAY_CHARTS", raising=False)


def file(tmp_path: Path, *objects: object) -> str:
    path = tmp_path / "objects.yaml"
    path.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    return str(path)


def test_a_shipped_stack_has_a_plan_of_one_page_without_a_cluster(slipway: Slipway) -> None:
    lines = slipway("upgrade", "plan", "dev").out.splitlines()
    assert (
        lines[0]
        == f"Kubernetes {kubernetes.DEFAULT} -> {kubernetes.next_minor(kubernetes.DEFAULT)}: nothing in the way"
    )
    assert len(lines) <= 40
    assert [line.partition(":")[0] for line in lines if line[0].isdigit()] == [
        "1. charts", "2. control plane", "3. add-ons", "4. nodes", "5. way back",
    ]  # fmt: skip
    assert "kube-proxy v1.35.3-eksbuild.29 -> v1.36.0-eksbuild.25" in lines[3]


def test_the_exit_code_says_whether_something_is_in_the_way(tmp_path: Path, slipway: Slipway) -> None:
    found = slipway("upgrade", "plan", "--from", "1.31", "--manifests", file(tmp_path, OLD), code=1).out
    assert found.startswith("Kubernetes 1.31 -> 1.32: 1 in the way\n  removed-api: FlowSchema a is of flowcontrol")
    assert "next: write it as flowcontrol.apiserver.k8s.io/v1" in found
    slipway("upgrade", "plan", "--from", "1.31", "--manifests", file(tmp_path, NODE | {"kind": "Service"}))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "--from: the version of a control plane is needed"),
        (["dev", "--to", "1.35"], "--to: the version of a control plane is needed, one of 1.31"),
        (["dev", "--to", "2.0"], "(given: 2.0)"),
    ],
)
def test_a_version_that_is_none_is_refused(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["upgrade", "plan", *arguments]) == 2
    assert error in capsys.readouterr().err


def test_the_way_back_names_newer_nodes_and_kinds_before_the_control_plane(tmp_path: Path, slipway: Slipway) -> None:
    objects = file(tmp_path, NODE, POLICY)
    plan = json.loads(
        slipway("upgrade", "plan", "--from", "1.36", "--to", "1.35", "--objects", objects, "--json", code=1).out
    )
    assert {one["rule"]: one["subject"] for one in plan["findings"]} == {
        "kubelet-skew": "NodePool cpu", "unknown-api": "MutatingAdmissionPolicy own",
    }  # fmt: skip
    assert [one["step"] for one in plan["steps"]] == ["objects", "nodes", "add-ons", "control plane"]
    assert plan.keys() == {"from", "to", "blocked", "findings", "steps", "pools", "freeAddresses", "unread"}


def test_a_job_that_only_holds_its_node_is_not_in_the_way(tmp_path: Path, slipway: Slipway) -> None:
    pod = {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "train", "namespace": "a", "annotations": {"karpenter.sh/do-not-disrupt": "true"}},
        "spec": {"nodeName": "a", "containers": []}, "status": {"phase": "Running"},
    }  # fmt: skip
    node = NODE | {"status": {"nodeInfo": NODE["status"]["nodeInfo"] | {"kubeletVersion": "v1.35.2"}}}
    text = slipway("upgrade", "plan", "--from", "1.35", "--objects", file(tmp_path, node, pod)).out
    assert "held: Pod a/train holds a node of NodePool cpu, without a deadline" in text


def test_a_pool_takes_as_many_nodes_more_as_its_provisioner_starts() -> None:
    """EKS twice the zones or what it replaces at once; Karpenter a tenth of them."""
    pools = resolve_all(load(read_stack("dev", Path("stacks")), stack="dev").platform)
    world = World(version="1.35", target="1.36", pools=pools)
    system, cpu = (replaced(world, pools[name]) for name in ("system", "cpu"))
    assert (system["nodes"], system["surge"], cpu["nodes"], cpu["surge"]) == (4, 4, 6, 1)
    assert "EKS drains 1 at a time, at most 15 min each: at most 64 min" in system["how"]


def test_the_rows_of_the_catalog_agree_with_its_other_facts() -> None:
    (amazon_linux,) = (one for one in upgrades.SHAPES if one.rule == "amazon-linux-2")
    assert amazon_linux.kubernetes == kubernetes.next_minor(kubernetes.LAST_OF_AL2)
    assert lifecycle.APIS["flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema"] == (
        "1.26",
        "1.32",
        "flowcontrol.apiserver.k8s.io/v1",
    )
    assert {one["of"] for one in upgrades.PAIRS} | {one.software for one in upgrades.SHAPES} <= {"", *upgrades.SOFTWARE}

"""An upgrade of the cluster's version is planned and rehearsed, and the way back: nodes first, then the cluster."""

import json
from typing import Any

import pytest

from sandbox.kubernetes.objects import Ref
from spec.catalog import kubernetes
from tests.e2e.world import BRIEF, World, counts, updated
from tests.support.patience import wait_for

pytestmark = pytest.mark.sandbox
STACK = "upgrade"
FILE = f"stacks/Pulumi.{STACK}.yaml"
BEFORE = kubernetes.DEFAULT
AFTER = kubernetes.next_minor(BEFORE)
STORAGE = "    storage: {efs: {}, lustre: {deploymentType: SCRATCH_2}}\n"
"""Its security groups admit the group that EKS makes for the cluster."""
OBJECTS: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept", "namespace": "default"}},
    {"apiVersion": "v1", "kind": "Pod",
     "metadata": {"name": "train", "namespace": "default", "labels": {"app": "train"}},
     "spec": {"activeDeadlineSeconds": 259200, "tolerations": [{"operator": "Exists"}],
              "containers": [{"name": "main", "image": "example.com/train:1"}]}},
    {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "train", "namespace": "default"},
     "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "train"}}}},
]  # fmt: skip


def test_an_upgrade_is_planned_done_and_rolled_back(world: World) -> None:
    text = BRIEF.replace("name: brief", f"name: {STACK}").replace("      cpu: {preset: cpu, max: 6}\n", "")
    text = text.replace("    cluster:\n", f'    cluster:\n      version: "{BEFORE}"\n')
    (world.checkout / FILE).write_text(text + STORAGE, encoding="utf-8")
    assert f"Kubernetes {BEFORE} is emulated" in world.succeed("up", STACK, "--sandbox")
    assert emulated(world) == BEFORE
    for one in OBJECTS:
        world.api(STACK).apply(one, "test")
    pod, budget, kept = (Ref.of(OBJECTS[number]) for number in (1, 2, 0))
    assert wait_for(lambda: (world.api(STACK).get(pod) or {}).get("status", {}).get("phase") == "Running")
    assert wait_for(lambda: "disruptionsAllowed" in (world.api(STACK).get(budget) or {}).get("status", {}))

    # The plan sees the running pod, and the budget that no drain gets past.
    found, plan = planned(world, code=1)
    assert found == {"budget": ["PodDisruptionBudget default/train"], "evicted": ["Pod default/train"]}
    assert [one["step"] for one in plan["steps"]] == ["charts", "control plane", "add-ons", "nodes", "way back"]
    world.edit(FILE, f'version: "{BEFORE}"', f'version: "{AFTER}"')
    preview = world.succeed("preview", STACK, "--sandbox")
    # The newer version has the admission policies that fill in fields.
    assert counts(preview).keys() == {"to create", "to update", "unchanged"}
    assert "cluster-control-plane" in updated(preview)
    assert emulated(world) == BEFORE
    # EKS replaces the nodes, which the pod keeps it from; the same command goes on when that is fixed.
    stuck = world.run("up", STACK, "--sandbox")
    assert stuck.returncode
    assert "PodEvictionFailure: Reached max retries while trying to evict pods from nodes" in stuck.stdout
    assert emulated(world) == AFTER
    old, there = set(nodes(world)), world.api(STACK).get(pod)
    assert there is not None
    assert there["spec"]["nodeName"] in old
    for ref in (pod, budget):
        world.api(STACK).delete(ref, grace_seconds=0)
    world.succeed("up", STACK, "--sandbox")
    assert set(nodes(world).values()) == {AFTER}
    assert there["spec"]["nodeName"] not in nodes(world)
    assert counts(world.succeed("preview", STACK, "--sandbox")).keys() == {"unchanged"}

    # The way back: EKS refuses it while nodes are newer.
    found, _ = planned(world, "--to", BEFORE, code=1)
    assert found.keys() == {"kubelet-skew", "unknown-api"}
    assert [one.partition(" ")[0] for one in found["kubelet-skew"]] == ["nodegroup"]
    assert {one.partition(" ")[0] for one in found["unknown-api"]} == {
        "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
    }  # fmt: skip
    world.edit(FILE, f'version: "{AFTER}"', f'version: "{BEFORE}"')
    refused = world.run("up", STACK, "--sandbox")
    assert refused.returncode
    assert f"don't work with Kubernetes {BEFORE}" in refused.stdout
    world.edit(FILE, f'version: "{BEFORE}"', f'version: "{AFTER}"')
    world.edit(FILE, "{preset: system}", f'{{preset: system, version: "{BEFORE}"}}')
    world.edit(FILE, "    pools:\n", "    admission: {defaults: false}\n    pools:\n")
    world.edit(FILE, f'version: "{AFTER}"\n', f'version: "{AFTER}"\n      repairGpus: false\n')
    world.succeed("up", STACK, "--sandbox")
    assert planned(world, "--to", BEFORE)[0] == {}
    world.edit(FILE, f'version: "{AFTER}"', f'version: "{BEFORE}"')
    world.succeed("up", STACK, "--sandbox")
    assert emulated(world) == BEFORE
    assert world.api(STACK).get(kept) is not None
    world.succeed("destroy", STACK, "--sandbox", "--yes")


def planned(world: World, *arguments: str, code: int = 0) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Subjects of the findings by their rule, and the whole plan."""
    done = world.run("upgrade", "plan", STACK, "--sandbox", "--json", *arguments)
    assert done.returncode == code, done.stdout
    plan = json.loads(done.stdout[done.stdout.index("{") :])
    found: dict[str, list[str]] = {}
    for one in plan["findings"]:
        found.setdefault(one["rule"], []).append(one["subject"])
    return found, plan


def nodes(world: World) -> dict[str, str]:
    """The version of each node's kubelet."""
    api = world.api(STACK)
    found = api.list(api.discovery.find("v1", "Node"))
    return {one["metadata"]["name"]: one["status"]["nodeInfo"]["kubeletVersion"][1:5] for one in found}


def emulated(world: World) -> str:
    version: dict[str, Any] = world.api(STACK).get_path("/version")
    return f"{version['emulationMajor']}.{version['emulationMinor']}"

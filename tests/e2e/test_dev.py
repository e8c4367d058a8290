"""Stack dev: up, drift, gate, verify, destroy."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Ref
from slipway.verify.probes import LABEL, NAMESPACE
from spec.errors import EXIT_STATEFUL
from tests.components.workloads.test_crds import crd
from tests.e2e import quickstart
from tests.e2e.cloud import client, contents, vpcs
from tests.e2e.quickstart import Member
from tests.e2e.world import World, counts, updated
from tests.slipway.quickstarts.pages import PAGES
from tests.support.definitions import define

pytestmark = pytest.mark.sandbox

DRIFTED = {"network-vpc", "pool-cpu-node-pool"}


def test_up_prints_resources_cost_and_kubeconfig(dev: str, world: World) -> None:
    assert counts(dev)["created"] > 100
    assert "On AWS this would cost" in dev
    assert f"kubeconfig: {world.home / 'kubeconfig'}" in dev


def test_the_stack_files_of_the_checkout_are_unchanged(dev: str, world: World) -> None:
    original = World.make.__globals__["REPOSITORY"] / "stacks" / "Pulumi.dev.yaml"
    assert (world.checkout / "stacks" / "Pulumi.dev.yaml").read_bytes() == original.read_bytes()


def test_the_account_has_the_network_and_the_cluster(dev: str, world: World) -> None:
    objects = contents(world.variables("dev"), "clusters", "VPCs", "roles")
    assert objects["clusters"] == ["slipway-dev"]
    assert len(objects["VPCs"]) == 1
    assert all(name.startswith("slipway-dev-") for name in objects["roles"]), objects["roles"]


def test_the_api_server_shows_a_node_of_every_pool_with_its_gpus(dev: str, world: World) -> None:
    nodes = world.api("dev").get_path("/api/v1/nodes")["items"]
    offered = {node["metadata"]["labels"]["platform.slipway/pool"]: node["status"]["capacity"] for node in nodes}
    assert offered.keys() == {"system", "cpu", "a100", "h100", "gpu-spot"}
    assert offered["a100"]["nvidia.com/mig-1g.5gb"] == "56"
    assert offered["h100"]["nvidia.com/gpu"] == "1"


@pytest.fixture(scope="module")
def served(dev: str, world: World, shared: Path) -> KubeClient:
    """The API server of stack dev with the CRDs of Trainer and KServe, which charts bring."""
    if shutil.which("kubectl") is None:
        pytest.skip("no kubectl on PATH: install it, the pages of the quickstarts use it")
    client = world.api("dev")
    define(client, [crd(shared / "charts", kind) for kind in ("TrainJob", "TrainingRuntime", "InferenceService")])
    return client


@pytest.mark.parametrize("name", PAGES)
def test_a_quickstart_runs_from_its_page_as_a_member_of_the_team(
    served: KubeClient, world: World, tmp_path: Path, name: str
) -> None:
    page = PAGES[name]
    member = Member(world, tmp_path / "member", page.team)
    file = tmp_path / "member" / f"{name}.yaml"
    with_checkout, *without = quickstart.commands(page)
    output = member.shell(with_checkout)
    objects = list(yaml.safe_load_all(file.read_text()))
    assert output.count("serverside-applied") == len(objects)
    assert "BUCKET" not in file.read_text()
    bucket = next(iter(re.findall(r"s3://([a-z0-9-]+)/", file.read_text())), "BUCKET")
    written = file.read_text()
    # Without a checkout: the YAML of the page, and the commands that fill in the bucket.
    file.write_text(quickstart.yaml_of(page))
    for script in without:
        assert "serverside-applied" in member.shell(script)
    assert file.read_text().replace("s3://BUCKET/", f"s3://{bucket}/") == written
    for one in objects:
        reference = Ref(one["apiVersion"], one["kind"], one["metadata"]["name"], one["metadata"]["namespace"])
        assert served.get(reference) is not None
    for job in [one["metadata"] for one in objects if one["kind"] == "Job"]:
        quickstart.start(world, job["namespace"], job["name"])
        pods = quickstart.pods_until_done(served, job["namespace"], job["name"])
        assert {pod["status"]["phase"] for pod in pods} == {"Succeeded"}
        assert all(pod["spec"].get("nodeName") for pod in pods)
    member.shell(f"kubectl delete --wait=false -f {name}.yaml")


@pytest.fixture(scope="module")
def drifted(dev: str, world: World) -> None:
    """Change the VPC and a pool of stack dev outside of Pulumi."""
    ec2 = client("ec2", world.variables("dev"))
    (vpc,) = vpcs(ec2)
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "owner", "Value": "another-team"}])
    patch = {"spec": {"limits": {"cpu": "1"}}}
    path = "/apis/karpenter.sh/v1/nodepools/cpu"
    world.api("dev").call("PATCH", path, patch, content_type="application/merge-patch+json")


def test_a_refresh_finds_exactly_the_drift(drifted: None, world: World) -> None:
    output = world.succeed("refresh", "dev", "--sandbox", "--", "--preview-only")
    assert updated(output) == DRIFTED
    assert counts(output).keys() == {"to update", "unchanged"}
    assert counts(output)["to update"] == 2


def test_the_gate_refuses_a_preview_that_replaces_the_file_system(drifted: None, world: World) -> None:
    """FSx can't change the deployment type of a file system; the volumes and claims that name it are only updated."""
    world.edit("stacks/Pulumi.dev.yaml", "{deploymentType: SCRATCH_2}", "{deploymentType: PERSISTENT_2}")
    try:
        done = world.run("preview", "dev", "--sandbox")
    finally:
        world.edit("stacks/Pulumi.dev.yaml", "{deploymentType: PERSISTENT_2}", "{deploymentType: SCRATCH_2}")
    assert done.returncode == EXIT_STATEFUL, done.stdout
    assert 'deploymentType can\'t be changed in place: "SCRATCH_2" -> "PERSISTENT_2"' in done.stdout
    assert "loses: every file on it" in done.stdout
    numbers = counts(done.stdout)
    assert numbers.keys() == {"to replace", "to update", "unchanged"}, done.stdout
    assert numbers["unchanged"] > 400
    # Every preview shows the drift.
    assert numbers["to update"] == 2
    assert updated(done.stdout) == DRIFTED


def test_the_next_up_fixes_the_drift_and_changes_nothing_else(drifted: None, world: World) -> None:
    done = world.succeed("up", "dev", "--sandbox")
    assert updated(done) == DRIFTED
    numbers = counts(done)
    assert numbers.pop("updated") == 2
    assert numbers.keys() == {"unchanged"}


def test_verify_passes_and_leaves_nothing(dev: str, world: World) -> None:
    output = world.succeed("verify", "dev", "--sandbox", "--minutes", "3", "--out", "verified")
    found = json.loads((world.checkout / "verified" / "verify.json").read_text())["checks"]
    assert {one["status"] for one in found} == {"passed", "needs AWS"}
    placed = {one["subject"] for one in found if "is placed on" in one["check"] and one["status"] == "passed"}
    assert placed == {"pool a100", "pool cpu", "pool gpu-spot", "pool h100", "pool system"}
    assert {one["status"] for one in found if "nvidia-smi" in one["check"]} == {"needs AWS"}
    assert "| clean-up | nothing of this run is left | passed |" in output
    kube = world.api("dev")
    assert kube.get(Ref("v1", "Namespace", NAMESPACE)) is None
    jobs = kube.discovery.find("batch/v1", "Job")
    assert list(kube.list(jobs, selector=f"{LABEL}=true")) == []


def test_destroy_leaves_nothing_in_the_account_and_no_api_server(dev: str, world: World) -> None:
    world.succeed("destroy", "dev", "--sandbox", "--yes")
    assert contents(world.variables("dev")) == {}
    assert "slipway-dev:" not in world.succeed("sandbox", "status")

"""A stack on a cluster that another tool made: looked up, added to, and left as it was."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from slipway.cli.cluster import client_of
from tests.e2e import cloud
from tests.e2e.world import REPOSITORY, World, counts

pytestmark = pytest.mark.sandbox

STACK: Final = "existing"
CLUSTER: Final = "slipway-shared"
PARTS: Final = "slipway-parts"
THEIRS: Final = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs", "namespace": "default"}}
CLASS: Final = {
    "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "experiment"}, "value": 7,
}  # fmt: skip


@pytest.fixture
def stack(world: World) -> Iterator[str]:
    """The example, in an account of its own."""
    path = world.checkout / "stacks" / f"Pulumi.{STACK}.yaml"
    shutil.copy2(REPOSITORY / "examples" / "stacks" / path.name, path)
    world.edit(f"stacks/{path.name}", "111122223333", "777788880002")
    # The deployer's policies are for such names, so there is no warning about it.
    world.edit(f"stacks/{path.name}", "ml-prod", CLUSTER)
    try:
        yield STACK
    finally:
        world.run("destroy", STACK, "--sandbox", "--yes")
        path.unlink()


def test_a_stack_adds_to_a_cluster_that_exists_and_leaves_it(world: World, stack: str) -> None:
    world.succeed("sandbox", "start")
    missing = world.run("preview", stack, "--sandbox")
    assert missing.returncode != 0
    assert "EKS must have the cluster in us-east-1" in missing.stdout

    assert CLUSTER in world.succeed("sandbox", "cluster", stack)
    client = client_of(world.home / "kubeconfig", CLUSTER)
    assert isinstance(client, KubeClient)
    for one in (THEIRS, CLASS):
        client.create(one, "another-tool")
    taken = world.run("preview", stack, "--sandbox")
    assert taken.returncode != 0
    assert "teams: the cluster has objects of kind PriorityClass" in taken.stdout
    client.delete(Ref.of(CLASS))

    world.succeed("up", stack, "--sandbox")
    types = {one["type"] for one in world.resources(stack)}
    assert not [one for one in types if one.startswith(("aws:ec2/", "aws:eks/cluster:", "aws:eks/addon:", "aws:s3/"))]
    assert {"kubernetes:karpenter.sh/v1:NodePool", "aws:eks/accessEntry:AccessEntry"} <= types
    world.succeed("preview", stack, "--sandbox", "--", "--expect-no-changes")
    world.edit(f"stacks/Pulumi.{stack}.yaml", 'version: "1.35"', 'version: "1.34"')
    other = world.run("preview", stack, "--sandbox")
    assert other.returncode != 0
    assert f"cluster.version: {CLUSTER} runs Kubernetes 1.35 (given: '1.34'). Set it to" in other.stdout
    world.edit(f"stacks/Pulumi.{stack}.yaml", 'version: "1.34"', 'version: "1.35"')

    world.succeed("destroy", stack, "--sandbox", "--yes")
    eks = cloud.client("eks", world.variables(stack))
    assert eks.describe_cluster(name=CLUSTER)["cluster"]["status"] == "ACTIVE"
    assert set(eks.list_addons(clusterName=CLUSTER)["addons"]) >= {"vpc-cni", "coredns", "kube-proxy"}
    assert eks.list_nodegroups(clusterName=CLUSTER)["nodegroups"] == ["general"]
    assert client.get(Ref.of(THEIRS)) is not None
    assert client.get(Ref("scheduling.k8s.io/v1", "PriorityClass", "experiment")) is None


def test_parts_in_a_program_of_ones_own_come_up_again_and_go(world: World, stack: str, tmp_path: Path) -> None:
    """Beside such a cluster: preview, up, again, a change in place, destroy, and nothing of others is gone."""
    world.edit(f"stacks/Pulumi.{STACK}.yaml", "777788880002", "777788880003")
    world.edit(f"stacks/Pulumi.{STACK}.yaml", CLUSTER, PARTS)
    world.succeed("sandbox", "start")
    world.succeed("sandbox", "cluster", stack)
    client = client_of(world.home / "kubeconfig", PARTS)
    assert isinstance(client, KubeClient)
    client.create(THEIRS, "another-tool")
    folder = Path(__file__).with_name("programs") / "parts"
    own = World(Path(shutil.copytree(folder, tmp_path / folder.name)), world.home)
    run = ("sandbox", "run", "--", "pulumi")
    assert counts(own.succeed(*run, "up", "--yes", "--stack", "lab")).keys() == {"created"}
    own.succeed(*run, "up", "--yes", "--stack", "lab", "--expect-no-changes")
    claim = client.get(Ref("v1", "PersistentVolumeClaim", "models", "default"))
    assert claim is not None
    assert claim["status"]["phase"] == "Bound"
    own.edit("__main__.py", '"replicas": 4', '"replicas": 2')
    assert counts(own.succeed(*run, "up", "--yes", "--stack", "lab")).keys() == {"updated", "unchanged"}
    own.succeed(*run, "destroy", "--yes", "--stack", "lab")
    assert client.get(Ref("v1", "Namespace", "guards-schedules")) is None
    assert client.get(Ref.of(THEIRS)) is not None

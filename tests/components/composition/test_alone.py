"""A pool of GPUs and a team with its queue by themselves, on a cluster that exists: no stack file, no platform."""

import inspect
import re
from collections.abc import Callable
from typing import Any, Final

import pulumi
import pytest

from components.base.outputs import Cluster
from components.composition.team_queue import QueuedTeam, QueuedTeamArgs
from components.pools.gpu import GpuNodePool, GpuNodePoolArgs
from spec.settings.problems import ConfigurationError
from spec.settings.queues import Queues
from tests.support.cases import beside
from tests.support.mocks import ACCOUNT, Recording, providers, run

CASES: Final = beside(__file__)
MIG: Final = {"preset": "a100", "mig": {"layout": "all-2g.10gb"}, "zones": ["us-east-1a"], "max": 2}
TEAM: Final = {"project": "llm", "costCenter": "ml", "gpus": {"a100": {"nominalQuota": 8}}}


def trial(opts: pulumi.ResourceOptions) -> None:
    cluster = Cluster(name="ml-prod", account_id="111122223333", region="us-east-1", version="1.34")
    pool = GpuNodePoolArgs(
        cluster=cluster,
        settings={"preset": "a100", "mig": {"layout": "all-2g.10gb"}, "max": 2},
        subnets={"us-east-1a": "subnet-0a1b2c3d"},
        instance_profile="KarpenterNodeInstanceProfile-ml-prod",
    )
    a100 = GpuNodePool("a100", pool, opts)
    team = QueuedTeamArgs(
        cluster=cluster,
        pools=[a100.spec],
        settings={
            "project": "llm",
            "costCenter": "ml",
            "members": {"leads": {"principalArn": "arn:aws:iam::111122223333:role/llm", "role": "admin"}},
            "gpus": {"a100": {"nominalQuota": 8}},
        },
    )
    QueuedTeam("llm", team, opts)


def recorded(program: Callable[[pulumi.ResourceOptions], Any]) -> Recording:
    return run(lambda: program(pulumi.ResourceOptions(providers=providers())))


def objects(recording: Recording) -> dict[tuple[str, str, str], Any]:
    """Inputs of the objects of the cluster by kind, namespace and name."""
    found: dict[tuple[str, str, str], Any] = {}
    for one in recording:
        if one.type.startswith("kubernetes:") and "metadata" in one.inputs:
            meta = one.inputs["metadata"]
            found[one.type.rpartition(":")[2], meta.get("namespace", ""), meta["name"]] = one.inputs
    return found


def cluster(**changes: Any) -> Cluster:
    given: dict[str, Any] = {"name": "ml", "account_id": ACCOUNT, "region": "us-east-1", "version": "1.34"}
    return Cluster(**{**given, **changes})


def pool(opts: pulumi.ResourceOptions, name: str = "a100", **changes: Any) -> GpuNodePool:
    given = {"settings": MIG, "subnets": {"us-east-1a": "subnet-0a1b"}, "instance_profile": "nodes", **changes}
    return GpuNodePool(name, GpuNodePoolArgs(cluster=cluster(), **given), opts)


def test_a_pool_and_a_queue_on_an_existing_cluster_take_thirty_lines() -> None:
    lines = inspect.getsource(trial).splitlines()[1:]
    assert len(lines) + 3 <= 30  # and three imports
    found = objects(recorded(trial))
    kinds = {kind for kind, _, _ in found}
    assert {"NodePool", "EC2NodeClass", "NodeOverlay", "Namespace", "ResourceQuota", "ClusterQueue"} <= kinds
    assert found["NodeOverlay", "", "a100"]["spec"]["capacity"] == {"nvidia.com/mig-2g.10gb": "24"}
    (group,) = found["ClusterQueue", "", "llm"]["spec"]["resourceGroups"]
    (flavor,) = group["flavors"]
    assert ("ResourceFlavor", "", flavor["name"]) in found
    assert {"name": "nvidia.com/mig-2g.10gb", "nominalQuota": "24"}.items() <= flavor["resources"][2].items()
    assert found["ResourceQuota", "llm", "team"]["spec"]["hard"]["requests.nvidia.com/mig-2g.10gb"] == "24"
    assert found["RoleBinding", "llm", "llm-admin"]["roleRef"]["name"] == "llm-admin"
    assert found["EC2NodeClass", "", "a100"]["spec"]["subnetSelectorTerms"] == [{"id": "subnet-0a1b2c3d"}]


def test_a_pool_alone_makes_nothing_that_is_not_the_pools() -> None:
    assert {kind for kind, _, _ in objects(recorded(lambda opts: [pool(opts)][1:]))} == {
        "NodePool",
        "EC2NodeClass",
        "NodeOverlay",
    }


def test_two_programs_on_one_cluster_do_not_collide() -> None:
    def program(name: str) -> Callable[[pulumi.ResourceOptions], Any]:
        def declare(opts: pulumi.ResourceOptions) -> None:
            ours = pool(opts, f"{name}-a100")
            settings = {**TEAM, "gpus": {f"{name}-a100": {"nominalQuota": 8}}, "members": {}}
            QueuedTeam(name, QueuedTeamArgs(cluster=cluster(), pools=[ours.spec], settings=settings), opts)

        return declare

    one, other = objects(recorded(program("one"))), objects(recorded(program("other")))
    assert one
    assert not one.keys() & other.keys()


def test_names_can_be_given() -> None:
    def program(opts: pulumi.ResourceOptions) -> None:
        ours = pool(opts, "first", pool="a100")
        args = QueuedTeamArgs(
            cluster=cluster(),
            pools=[ours.spec],
            settings=TEAM,
            team="llm",
            queues=Queues.model_validate({"cohort": "research"}),
            flavors={"a100": "a100-of-others"},
        )
        QueuedTeam("second", args, opts)

    found = objects(recorded(program))
    queue = found["ClusterQueue", "", "llm"]["spec"]
    assert queue["cohortName"] == "research"
    assert [flavor["name"] for flavor in queue["resourceGroups"][0]["flavors"]] == ["a100-of-others"]
    assert "ResourceFlavor" not in {kind for kind, _, _ in found}
    assert ("NodePool", "", "a100") in found


@pytest.mark.parametrize("field", ["name", "account_id", "region", "version"])
@pytest.mark.parametrize("value", ["", " "])
def test_a_cluster_has_no_empty_values(field: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"cluster\.{field}"):
        cluster(**{field: value})


@pytest.mark.parametrize(("settings", "inputs", "message"), CASES["what a stack file may not have is refused"])
def test_what_a_stack_file_may_not_have_is_refused(settings: Any, inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        recorded(lambda opts: pool(opts, **{"settings": {**MIG, **settings}, **inputs}))


@pytest.mark.parametrize(("gpus", "message"), CASES["shares are of the pools"])
def test_shares_are_of_the_pools(gpus: dict[str, Any], message: str) -> None:
    def program(opts: pulumi.ResourceOptions) -> None:
        args = QueuedTeamArgs(cluster=cluster(), pools=[pool(opts).spec], settings={**TEAM, "gpus": gpus})
        QueuedTeam("llm", args, opts)

    with pytest.raises(ConfigurationError, match=message):
        recorded(program)

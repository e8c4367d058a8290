"""A cluster without a stack file replays, fits and is billed as the stack whose objects it has."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from slipway.cli import main
from slipway.fit import places as fit
from slipway.imported import stack
from slipway.imported.folder import Folder
from slipway.imported.keep import Names
from slipway.replay import plan
from slipway.replay.jobs import Job, Trace
from slipway.replay.places import places
from slipway.replay.plan import Objects, Options
from spec import strict_yaml
from spec.errors import SlipwayError
from spec.pools import resolve_all
from tests.slipway.replay.examples import planned
from tests.support.stacks import platform_of, recorded

ROWS: Final = strict_yaml.beside(__file__, "stacks")
AWS: Final = "eks.amazonaws.com"
FIT: Final = "--params 7B --mode serve --seq 1024"


def of_objects(objects: list[Any], bounds: dict[str, str] | None = None, region: str | None = None) -> stack.Found:
    folder = Folder(Names())
    folder.add(("it", one) for one in objects)
    return stack.made("mine", folder.objects, region, bounds or {})


def node(name: str, kind: str, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"node.kubernetes.io/instance-type": kind, **labels}},
        "status": {"capacity": {"cpu": "4"}},
    }


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_the_objects_of_a_stack_are_the_stack(name: str) -> None:
    platform, recording = platform_of(name), recorded(name)
    rendered = planned(stack=name)
    found = of_objects(list(plan.rendered(recording).objects), region=platform.account.region)
    # The node groups of a stack are no objects of Kubernetes.
    ours = {key: one for key, one in resolve_all(platform).items() if not one.managed}
    theirs = resolve_all(found.platform)
    assert theirs.keys() == ours.keys() | {one.name for spec in ours.values() for one in spec.fallbacks}
    for key, one in ours.items():
        assert (theirs[key].gpu, theirs[key].resources, theirs[key].market) == (one.gpu, one.resources, one.market)
        assert {kind.name for kind in theirs[key].instance_types} == {kind.name for kind in one.instance_types}
        assert theirs[key].settings.max <= one.settings.max
    shares = {one.name: one.shares for one in places(platform)}
    spaces = {space: team for team, one in platform.teams.items() for space in one.namespaces_of(team)}
    for place in (one for one in places(found.platform) if one.name in shares):
        for space, share in place.shares.items():
            if shares[place.name][spaces[space]] and place.parts:
                assert share == pytest.approx(shares[place.name][spaces[space]], abs=1)
    jobs = Trace(jobs=[Job(name=f"{one}/j", team=one, submitted=0.0, duration=60.0) for one in spaces], format="csv")
    ran = plan.make(jobs, found.platform, found.objects, Options())
    assert [one.refused for one in ran.jobs.values()] == [""] * len(spaces)
    pools = {one["name"]: one for one in rendered.document["pools"]}
    for one in ran.document["pools"]:
        prices = {each["instanceType"]: each["usdPerHour"] for each in pools[one["name"]]["offerings"]}
        assert {each["instanceType"]: each["usdPerHour"] for each in one["offerings"]} == prices
    kueue = [one["kind"] for one in rendered.document["kueue"]["objects"]]
    assert sorted(one["kind"] for one in ran.document["kueue"]["objects"]) == sorted(kueue)


def test_node_groups_are_found_by_their_labels() -> None:
    group = {f"{AWS}/nodegroup": "gpu", f"{AWS}/capacityType": "SPOT", "topology.kubernetes.io/region": "eu-west-1"}
    nodes = [node(f"n{number}", "g6.xlarge", team="a", zone=str(number), **group) for number in range(3)]
    nodes[2]["status"]["capacity"]["nvidia.com/gpu"] = nodes[0]["status"]["capacity"]["nvidia.com/gpu"] = "4"
    found = of_objects([*nodes, node("odd", "kind"), node("one", "m7i.large")], {"gpu": "1-8"})
    assert found.platform.account.region == "eu-west-1"
    gpu, cpu = (resolve_all(found.platform)[name] for name in ("gpu", "m7i.large"))
    assert (gpu.settings.min, gpu.settings.max, str(gpu.market), dict(gpu.resources)) == (
        1,
        8,
        "spot",
        {"nvidia.com/gpu": 4},
    )
    assert (gpu.labels["team"], "zone" in gpu.labels, gpu.sharing and gpu.sharing.replicas) == ("a", False, 4)
    assert (cpu.settings.min, cpu.settings.max, cpu.scales) == (1, 1, False)
    assert "1 nodes are left out: the catalog has no instance type kind" in found.notes
    assert [one.unit for one in fit.of_stack(found.platform)] == ["1/4 of L4"]


@pytest.mark.parametrize("row", ROWS, ids=[row["what"] for row in ROWS])
def test_requirements_of_a_node_pool(row: dict[str, Any]) -> None:
    spec = {
        "template": {"spec": {"requirements": row["requirements"], "nodeClassRef": {}}},
        "limits": row.get("limits"),
    }
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "one"}, "spec": spec}
    if "refused" in row:
        with pytest.raises(SlipwayError, match=row["refused"]):
            of_objects([pool])
        return
    found = of_objects([pool])
    specs = resolve_all(found.platform)
    assert {name: len(one.instance_types) for name, one in specs.items()} == row["pools"]
    assert specs["one"].settings.max == row["max"]
    for note in row.get("notes", ()):
        assert note in " ".join(found.notes)


GKE: Final = {"cloud.google.com/gke-accelerator": "nvidia-h100-mega-80gb", "topology.kubernetes.io/region": "us-east4"}
DGX: Final = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-SHARED", "nvidia.com/gpu.count": "8"}


def test_nodes_of_others_are_those_of_aws_with_their_gpus_and_without_kueue_one_queue_has_them() -> None:
    nodes = [node("a", "a3-megagpu-8g", **GKE), node("b", "", **DGX), node("c", "a2-highgpu-8g"), node("d", "")]
    nodes[0]["status"]["capacity"]["nvidia.com/gpu"] = "8"
    nodes[1]["status"]["capacity"]["nvidia.com/gpu"] = "16"
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": one}} for one in ("vision", "kube-system")]
    found = of_objects([*nodes, *spaces])
    types = {name: one.instance_types[0].name for name, one in resolve_all(found.platform).items()}
    assert types == {"a3-megagpu-8g": "p5.48xlarge", DGX["nvidia.com/gpu.product"]: "p4d.24xlarge"}
    said = " ".join(found.notes)
    for part in ("priced as p5.48xlarge", "no instance type a2-highgpu-8g", "neither node.kubernetes.io/instance-type"):
        assert part in said
    assert found.platform.account.region == "us-east-1"
    shares = {name: [one.maximum for one in team.shares.values()] for name, team in found.platform.teams.items()}
    assert shares == {"default": [8, 8], "vision": [8, 8]}
    job = Job(name="j", team="vision", submitted=0.0, duration=60.0, gpu_millis=8000, gpu_types=("h100",))
    jobs = Trace(jobs=[job, replace(job, name="k", pods=2)], format="csv")
    ran = plan.make(jobs, found.platform, found.objects, Options())
    assert [one.refused[:9] for one in ran.jobs.values()] == ["", "it is lar"]


@pytest.mark.parametrize(
    ("labels", "pools"),
    [
        ({"karpenter.k8s.aws/instance-gpu-name": "l4"}, {"one"}),
        ({"node.kubernetes.io/instance-type": "g6.12xlarge"}, {"one"}),
        ({"topology.kubernetes.io/zone": "us-east-1a"}, {"one"}),
        ({"topology.kubernetes.io/zone": "us-east-1b"}, set()),
        ({"karpenter.k8s.aws/instance-gpu-name": "h100"}, set()),
    ],
)
def test_a_flavor_covers_the_pools_whose_nodes_may_have_its_labels(labels: dict[str, str], pools: set[str]) -> None:
    requirements = [
        {"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["g6"], "minValues": 1},
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a"]},
    ]
    template = {"spec": {"requirements": requirements, "nodeClassRef": {}}}
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "f", "resources": [
        {"name": "nvidia.com/gpu", "nominalQuota": 4}]}]}  # fmt: skip
    rows: list[tuple[str, str, dict[str, Any], dict[str, str]]] = [
        ("karpenter.sh/v1beta1", "NodePool", {"template": template, "disruption": {"expireAfter": "48h"}}, {}),
        ("kueue.x-k8s.io/v1beta2", "ResourceFlavor", {"nodeLabels": labels}, {}),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueue", {"resourceGroups": [group]}, {}),
        ("kueue.x-k8s.io/v1beta2", "LocalQueue", {"clusterQueue": "f"}, {"namespace": "vision"}),
    ]
    found = of_objects(
        [
            {
                "apiVersion": api,
                "kind": kind,
                "metadata": {"name": "one" if kind == "NodePool" else "f", **where},
                "spec": spec,
            }
            for api, kind, spec, where in rows
        ]
    )
    assert set(found.platform.teams["vision"].gpus) == pools
    assert resolve_all(found.platform)["one"].settings.disruption.expire_after == "48h"
    # Karpenter's simulation knows no facts of types: what is left of the NodePool does not ask for them.
    (pool,) = (one for one in found.objects.objects if one["kind"] == "NodePool")
    assert pool["spec"]["template"]["spec"]["requirements"] == requirements[1:]
    assert pool["spec"]["template"]["metadata"]["labels"]["karpenter.k8s.aws/instance-gpu-name"] == "l4"
    assert "NodePool one: its minValues have no say" in found.notes


def test_what_is_no_folder_of_an_import_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(line: str) -> str:
        monkeypatch.setattr("sys.argv", ["slipway", *line.split()])
        assert main() == 2
        return capsys.readouterr().err

    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    assert "it must be a folder that `slipway import` wrote" in run("replay --from mine --generate")
    (tmp_path / "mine" / "import.yaml").write_text("version: '1.35'\n", encoding="utf-8")
    assert "NodePools, or nodes with types of the catalog" in run(f"fit --from mine {FIT}")
    (tmp_path / "mine" / "Node.yaml").write_text(yaml.safe_dump(node("n", "g6.xlarge")), encoding="utf-8")
    assert "given: mine, without trace.csv" in run("replay --from mine")
    (tmp_path / "mine" / "trace.csv").write_text("job,submitted,duration\na,0,60\n", encoding="utf-8")
    assert "is named like us-east-1 (given: atlantis)" in run(f"fit --from mine --region atlantis {FIT}")
    assert "--nodes cpu: it must be a node group" in run(f"fit --from mine --nodes cpu=0-4 {FIT}")
    assert "Write it like 0-8" in run(f"fit --from mine --nodes g6.xlarge=4-0 {FIT}")
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "one"}, "spec": {"template": {}}}
    (tmp_path / "mine" / "NodePool.yaml").write_text(yaml.safe_dump(pool), encoding="utf-8")
    assert "as an API server returns them (given: KeyError('spec'))" in run(f"fit --from mine {FIT}")
    (tmp_path / "mine" / "Node.yaml").write_text("kind: Node\nmetadata: {name: [\n", encoding="utf-8")
    assert "Node.yaml: not valid YAML: while parsing a flow node" in run(f"fit --from mine {FIT}")


def test_kueues_older_version_is_read() -> None:
    queue = {"cohort": "all", "admissionChecks": ["ready"], "flavorFungibility": {"whenCanBorrow": "Borrow"}}
    old = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": queue}
    found = of_objects([old, node("n", "g6.xlarge")])
    (one,) = (one for one in found.objects.objects if one["kind"] == "ClusterQueue")
    assert one["apiVersion"] == "kueue.x-k8s.io/v1beta2"
    assert one["spec"] == {
        "cohortName": "all",
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch"},
        "admissionChecksStrategy": {"admissionChecks": [{"name": "ready"}]},
    }
    assert isinstance(found.objects, Objects)

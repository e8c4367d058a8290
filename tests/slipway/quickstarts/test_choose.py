"""Which pool a quickstart is written for, what its pods request there, and how it is refused."""

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from infra.target import target_of
from slipway.quickstarts import QUICKSTARTS, QuickstartRequest, choose, namespace_of, text
from slipway.quickstarts.units import units
from spec.errors import SlipwayError
from spec.pools.allocatable import allocatable
from spec.settings import Platform, load, read_stack
from tests.support.cases import beside
from tests.support.generated import ROOT

CASES: Final = beside(__file__)

MODELS = "s3://models-1a2b3c4/vision/"
STACKS = ("dev", "staging", "prod")


def platform(stack: str) -> Platform:
    return load(read_stack(stack, ROOT / "stacks"), stack=stack).platform


def request(stack: str, team: str, name: str) -> QuickstartRequest:
    settings = platform(stack)
    namespace = namespace_of(settings, team, QUICKSTARTS[name].purposes)
    target = target_of(settings, namespace=namespace)
    return QuickstartRequest(name=name, platform=settings, target=target, models=MODELS)


def bodies(stack: str, team: str, name: str, pool: str | None = None) -> list[Mapping[str, Any]]:
    return [one.manifest for one in choose(name, request(stack, team, name), pool).manifests.values()]


@pytest.mark.parametrize("name", QUICKSTARTS)
@pytest.mark.parametrize("stack", STACKS)
def test_every_team_of_every_stack_gets_every_quickstart(stack: str, name: str) -> None:
    for team in platform(stack).teams:
        for body in bodies(stack, team, name):
            assert body["metadata"]["labels"]["platform.slipway/team"] == team


@pytest.mark.parametrize(("stack", "team", "name", "place"), CASES["the preferred pool is chosen"])
def test_the_preferred_pool_is_chosen(stack: str, team: str, name: str, place: str) -> None:
    assert choose(name, request(stack, team, name)).place == place


@pytest.mark.parametrize(("stack", "team", "place"), CASES["a kept server is on the runtime whose node costs least"])
def test_a_kept_server_is_on_the_runtime_whose_node_costs_least(stack: str, team: str, place: str) -> None:
    assert choose("vllm", replace(request(stack, team, "vllm"), seconds=None)).place == place


def test_a_pool_can_be_named() -> None:
    (job,) = [one for one in bodies("dev", "vision", "training-job", "gpu-spot") if one["kind"] == "Job"]
    assert job["spec"]["template"]["spec"]["nodeSelector"] == {"platform.slipway/pool": "gpu-spot"}


def test_a_workload_that_fits_nowhere_is_refused_with_the_problem_of_each_pool() -> None:
    one = request("dev", "vision", "sweep")
    small = replace(one, target=replace(one.target, claims={"raw": "raw"}, shares={"a100": 0, "gpu-spot": 0}))
    with pytest.raises(SlipwayError) as error:
        choose("sweep", small)
    assert "- pool a100: pod: pods that run at the same time must fit into the team's share" in str(error.value)
    assert "- pool gpu-spot: " in str(error.value)


def test_a_team_without_a_gpu_pool_is_refused() -> None:
    one = request("dev", "vision", "sweep")
    with pytest.raises(SlipwayError, match="the team has no share of a pool for it"):
        choose("sweep", replace(one, target=replace(one.target, shares={"cpu": 4})))


def test_without_a_queue_jobs_are_not_suspended() -> None:
    one = request("dev", "vision", "training-job")
    free = replace(one, target=replace(one.target, queue=None, queued=frozenset()))
    (job,) = [
        each.manifest for each in choose("training-job", free).manifests.values() if each.manifest["kind"] == "Job"
    ]
    assert job["spec"]["suspend"] is False
    assert "kueue.x-k8s.io/queue-name" not in job["metadata"]["labels"]


def test_a_team_without_the_usual_priority_gets_one_that_it_has() -> None:
    one = request("dev", "vision", "training-job")
    few = replace(one, target=replace(one.target, priorities=("interactive",)))
    (job,) = [
        each.manifest for each in choose("training-job", few).manifests.values() if each.manifest["kind"] == "Job"
    ]
    assert job["spec"]["template"]["spec"]["priorityClassName"] == "interactive"


def test_models_are_read_from_the_given_address() -> None:
    kept = replace(request("dev", "vision", "vllm"), seconds=None)
    (service,) = (one.manifest for one in choose("vllm", kept).manifests.values())
    assert service["spec"]["predictor"]["model"]["storageUri"] == f"{MODELS}qwen2.5-0.5b-instruct"


@pytest.mark.parametrize(("stack", "team", "name", "namespace"), CASES["the namespace is one of a fitting purpose"])
def test_the_namespace_is_one_of_a_fitting_purpose(stack: str, team: str, name: str, namespace: str) -> None:
    assert request(stack, team, name).target.namespace == namespace


def test_a_team_without_such_a_namespace_is_refused_with_those_it_has() -> None:
    with pytest.raises(SlipwayError, match=r"purposes interactive \(team vision has: vision \(general\)\)"):
        namespace_of(platform("dev"), "vision", ("interactive",))


@pytest.mark.parametrize("stack", STACKS)
def test_units_request_no_more_than_a_quickstart_needs(stack: str) -> None:
    for team in platform(stack).teams:
        for unit in units(request(stack, team, "training-job").target, platform(stack)):
            resources = unit.resources()
            assert resources.gpus + sum(resources.mig.values()) == (unit.device is not None)
            assert resources.cpu in ("1600m", "1800m", "2", "3900m", "4", "3400m"), unit.pool.name
            assert resources.memory in ("6912Mi", "8Gi", "12544Mi", "16Gi"), unit.pool.name


def test_as_many_units_as_a_shared_gpu_has_shares_fit_on_the_smallest_node() -> None:
    (pool,) = (
        unit for unit in units(request("dev", "vision", "notebook").target, platform("dev")) if unit.pool.sharing
    )
    resources, smallest = pool.resources(), min(allocatable(pool.pool), key=lambda node: node.cpu_millis)
    shares = pool.pool.resources["nvidia.com/gpu"]
    assert shares == 4
    assert shares * int(resources.cpu.removesuffix("m")) <= smallest.cpu_millis
    assert shares * int(resources.memory.removesuffix("Mi")) <= smallest.memory_mib


def test_the_yaml_is_the_manifests_without_annotations_of_pulumi() -> None:
    chosen = choose("training-job", request("prod", "vision", "training-job"))
    written = text(chosen.manifests, ["a comment"])
    assert written.startswith("# a comment\napiVersion: v1\n")
    assert "pulumi.com" not in written
    assert "  train.py: |\n" in written
    assert "&id" not in written
    code, job = yaml.safe_load_all(written)
    wanted = [one.manifest for one in chosen.manifests.values()]
    assert code == wanted[0]
    assert job["spec"] == wanted[1]["spec"]
    assert job["metadata"]["labels"] == wanted[1]["metadata"]["labels"]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "slipway/quickstarts/code").glob("[!_]*.py")), ids=lambda path: path.name
)
def test_a_program_imports_only_python_and_pytorch(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {
        alias.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    names |= {str(node.module).partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= {"json", "os", "pathlib", "torch"}

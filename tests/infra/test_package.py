"""The platform as a component: its schema, its resources below it, and settings as the engine transports them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pulumi
import pytest

from infra.inputs import whole
from infra.package import COMPONENTS, CostGuards, GpuNodePool, GpuSoftware, ModelStorage, Package, Platform, QueuedTeam
from sandbox.toolchain import locate
from sandbox.toolchain.tools import get
from slipway.render.monitor import answers
from slipway.render.recorder import record
from slipway.render.recording import Recording, RenderError
from spec.settings import load, read_stack
from tests.support.day import TODAY
from tests.support.mocks import UNKNOWN as _UNKNOWN  # noqa: F401 - imports the parts of the SDK that emit warnings
from tests.support.mocks import providers

ROOT = Path(__file__).parents[2]
TOKEN = "slipway:index:Platform"


def settings() -> dict[str, Any]:
    data = read_stack("dev", ROOT / "stacks")
    assert isinstance(data, dict)
    return data


def recorded(data: dict[str, Any]) -> Recording:
    """A program of another project with one platform."""
    platform = load(settings(), stack="dev", today=TODAY).platform

    def program() -> None:
        outputs = Platform("ml", {"settings": data})
        pulumi.export("cluster", outputs.cluster_name)

    return record(program, project="other", stack="main", preview=False, answers=answers(platform))


def floats(value: Any) -> Any:
    """The value as the engine transports it: every number is a float."""
    return json.loads(json.dumps(value), parse_int=float)


def of_package() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Package().schema or "{}")
    return found


def test_the_schema_has_components_with_documented_inputs_and_outputs() -> None:
    found = of_package()["resources"]
    assert list(found) == [f"slipway:index:{one.__name__}" for one in COMPONENTS]
    for component in found.values():
        assert component["isComponent"] is True
        assert all(one["description"] for each in ("properties", "inputProperties") for one in component[each].values())


def test_settings_have_the_types_of_a_stack_file() -> None:
    found = of_package()
    pool = found["types"]["slipway:index:Pool"]["properties"]
    assert pool["mig"] == {"$ref": "#/types/slipway:index:Mig", "plain": True} | {
        "description": pool["mig"]["description"]
    }
    assert pool["instanceTypes"]["items"] == {"type": "string"}
    assert pool["labels"]["additionalProperties"] == {"type": "string"}
    assert found["types"]["slipway:index:Market"]["enum"][0] == {"value": "on-demand"}
    assert found["types"]["slipway:index:Team"]["required"] == ["costCenter", "project"]
    assert "pulumi.json#/Any" not in json.dumps(found["types"])
    given = [one["inputProperties"] for one in found["resources"].values()]
    settings = [one["settings"]["$ref"].rpartition(":")[2] for one in given if "settings" in one]
    assert settings == ["Platform", "Pool", "Team", "GpuOperator", "Cost"]


@pytest.mark.sandbox
def test_pulumi_takes_the_schema(tmp_path: Path) -> None:
    engine, file = locate.search(get("pulumi")), tmp_path / "schema.json"
    assert engine is not None
    file.write_text(Package().schema or "")
    subprocess.run([engine.path, "schema", "check", file], check=True, env={"PULUMI_HOME": str(tmp_path)})


def test_every_resource_is_below_the_component_and_has_an_explicit_provider() -> None:
    found = recorded(floats(settings()))
    urns = [one.urn for one in found if one.type != "pulumi:pulumi:Stack"]
    assert len(urns) > 300
    assert [urn for urn in urns if f"::{TOKEN}" not in urn] == []
    assert not found.default_provider_users


def test_it_declares_what_the_stack_declares() -> None:
    """The same resources as `slipway up` makes, and the component itself."""
    from slipway.render.program import record_platform  # noqa: PLC0415 - the other way to the same resources

    own = record_platform(load(settings(), stack="dev", today=TODAY).platform, stack="dev")
    names = sorted((one.type, one.name) for one in own if one.type != "pulumi:pulumi:Stack")
    packaged = sorted((one.type, one.name) for one in recorded(settings()) if one.type != "pulumi:pulumi:Stack")
    assert packaged == sorted([*names, (TOKEN, "ml")])


def test_the_outputs_of_the_component_are_those_of_the_stack() -> None:
    (component,) = (one for one in recorded(settings()) if one.type == TOKEN)
    known = of_package()["resources"][TOKEN]["properties"]
    assert set(known) == set(component.outputs.plain)
    assert component.outputs.plain["privateSubnetIds"].keys() == {"us-east-1a", "us-east-1b"}
    assert component.outputs.plain["teams"]["vision"] == {
        "namespaces": ["vision"],
        "queue": "default",
        "claims": ["raw", "datasets", "checkpoints", "models"],
    }


CLUSTER: Any = {"name": "ml", "account_id": "111122223333", "region": "us-east-1", "version": "1.35"}
POOL: Any = {"preset": "a100", "mig": {"layout": "all-2g.10gb"}, "max": 2}
TEAM: Any = {"project": "llm", "costCenter": "ml", "gpus": {"a100": {"nominalQuota": 8}}}


def of_parts(pool: dict[str, Any]) -> Recording:
    """A program with a pool and a team on a cluster that exists, as the engine transports their settings."""

    def program() -> None:
        opts = pulumi.ResourceOptions(providers=providers())
        subnets: Any = {"us-east-1a": "subnet-0a1b2c3d"}
        on: Any = {"cluster": CLUSTER, "pools": {"a100": floats(pool)}, "zones": [*subnets]}
        own = {"cluster": CLUSTER, "settings": floats(pool), "subnets": subnets, "instance_profile": "nodes"}
        GpuNodePool("a100", own, opts)
        pulumi.export("namespaces", QueuedTeam("llm", {**on, "settings": floats(TEAM)}, opts).namespaces)
        GpuSoftware("gpus", on, opts)
        claims: Any = {"models": {"bucket": "b"}, "checkpoints": {"storage_class": "gp3", "gib": 500.0}}
        ModelStorage("models", {"cluster": CLUSTER, "namespace": "llm", "claims": claims}, opts)
        nights = {"stop": "0 20 * * *", "start": "0 7 * * *", "pools": ["a100"]}
        CostGuards("guards", {**on, "settings": {"schedules": {"nights": nights}}}, opts)

    known = answers(load(settings(), stack="dev", today=TODAY).platform)
    return record(program, project="other", stack="main", preview=False, answers=known)


def test_parts_are_below_their_components() -> None:
    found = {one.urn: one for one in of_parts(POOL)}
    kinds = {one.type.rpartition(":")[2]: urn for urn, one in found.items()}
    made = ("NodePool", "ClusterQueue", "Release", "PersistentVolumeClaim", "CronJob")
    for component, kind in zip(COMPONENTS[1:], made, strict=True):
        assert f"slipway:index:{component.__name__}" in kinds[kind]
    (claim,) = (one.inputs.plain["spec"] for one in found.values() if one.name == "models-checkpoints")
    assert claim["resources"]["requests"]["storage"] == "500Gi"
    (stack,) = (one for one in found.values() if one.type == "pulumi:pulumi:Stack")
    assert stack.outputs.plain == {"namespaces": ["llm"]}


def test_wrong_settings_of_a_pool_are_refused_with_the_problem() -> None:
    with pytest.raises((RenderError, pulumi.RunError), match="maximum"):
        of_parts({**POOL, "maximum": 3})


@pytest.mark.parametrize(
    ("data", "text"), [({}, "environment"), ({**settings(), "colour": "red"}, "colour: this key is not known")]
)
def test_invalid_settings_are_refused_with_the_problems(data: dict[str, Any], text: str) -> None:
    with pytest.raises((RenderError, pulumi.RunError), match=text):
        recorded(data)


def test_whole_numbers_become_integers_and_fractions_stay() -> None:
    assert whole({"a": [1.0, 1.5, True, "2"], "b": {"c": 3.0}}) == {"a": [1, 1.5, True, "2"], "b": {"c": 3}}

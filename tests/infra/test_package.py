"""The platform as a component: its schema, its resources below it, and settings as the engine transports them."""

import json
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.provider.experimental.component import ComponentProvider

from infra.package import NAME, TOKEN, Platform, whole
from slipway.render.monitor import answers
from slipway.render.recorder import record
from slipway.render.recording import Recording, RenderError
from spec.settings import load, read_stack
from tests.support.day import TODAY
from tests.support.mocks import UNKNOWN as _UNKNOWN  # noqa: F401 - imports the parts of the SDK that emit warnings

ROOT = Path(__file__).parents[2]


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


def test_the_schema_has_the_component_with_its_inputs_and_outputs() -> None:
    provider = ComponentProvider([Platform], NAME, None, "0.0.0")
    assert provider.schema
    component = json.loads(provider.schema)["resources"][TOKEN]
    assert component["isComponent"] is True
    assert component["requiredInputs"] == ["settings"]
    assert set(component["properties"]) == {"clusterName", "clusterEndpoint", "kubeconfigCommand", "vpcId", "buckets"}
    assert all(one["description"] for one in component["properties"].values())


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


@pytest.mark.parametrize(
    ("data", "text"), [({}, "environment"), ({**settings(), "colour": "red"}, "colour: this key is not known")]
)
def test_invalid_settings_are_refused_with_the_problems(data: dict[str, Any], text: str) -> None:
    with pytest.raises((RenderError, pulumi.RunError), match=text):
        recorded(data)


def test_whole_numbers_become_integers_and_fractions_stay() -> None:
    assert whole({"a": [1.0, 1.5, True, "2"], "b": {"c": 3.0}}) == {"a": [1, 1.5, True, "2"], "b": {"c": 3}}

"""CRDs of the shared API server stay between modules if they are the same, and begin without objects."""

from typing import Any, Final

import pytest

from sandbox.kubernetes.objects import Object, Ref
from tests.sandbox.plane import ControlPlane, crd
from tests.support.definitions import define

pytestmark = pytest.mark.sandbox

GROUP: Final = "definitions.example.org"
NAME: Final = f"gadgets.{GROUP}"
GADGET: Final = Ref(f"{GROUP}/v1", "Gadget", "one", "default")
SIZED: Final[dict[str, Any]] = {"size": {"type": "integer"}}


def definition(properties: dict[str, Any]) -> Object:
    return crd(GROUP, "Gadget", properties)


@pytest.fixture
def installed(plane: ControlPlane) -> str:
    """The UID of a CRD that has an object."""
    define(plane.client, [definition(SIZED)])
    plane.client.apply({**GADGET.as_object(), "spec": {"size": 1}}, "test")
    return uid(plane)


def uid(plane: ControlPlane) -> str:
    found = plane.client.metadata(Ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", NAME))
    assert found is not None
    return str(found["metadata"]["uid"])


def test_the_same_definition_stays_and_loses_its_objects(plane: ControlPlane, installed: str) -> None:
    define(plane.client, [definition(SIZED)])
    assert uid(plane) == installed
    assert plane.client.get(GADGET) is None


def test_another_definition_replaces_it(plane: ControlPlane, installed: str) -> None:
    define(plane.client, [definition({"size": {"type": "string"}})])
    assert uid(plane) != installed
    plane.client.apply({**GADGET.as_object(), "spec": {"size": "large"}}, "test")


def test_a_definition_that_somebody_changed_is_replaced(plane: ControlPlane, installed: str) -> None:
    plane.client.apply(definition({**SIZED, "color": {"type": "string"}}), "somebody", force=True)
    define(plane.client, [definition(SIZED)])
    assert uid(plane) != installed

"""Fake add-ons, for tests of the add-on contract."""

from collections.abc import Mapping
from datetime import date
from typing import Any, ClassVar, Final

from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts
from spec.catalog.software import ChartRef
from spec.settings.addons import AddonSettings

CHART: Final = ChartRef(
    name="thing",
    repository="oci://registry.example",
    version="1.2.3",
    released=date(2026, 9, 1),
    source="github.com/example/thing",
)


def settings(name: str, **relations: tuple[type[AddonSettings], ...]) -> type[AddonSettings]:
    """A settings class with `requires`, `follows`, `excludes`."""
    return type(name, (AddonSettings,), {**relations, "__annotations__": dict.fromkeys(relations, ClassVar[Any])})


def addon(
    kind: type[AddonSettings], key: str, parts: Parts | None = None, namespace: Namespace | None = None
) -> AddOn[Any]:
    """An add-on with that name; by default with one release in its own namespace."""
    declared = parts or Parts(releases=[ChartRelease(ref=CHART, release_name=key, values={})])

    class Fake(AddOn[Any]):
        def parts(self, context: AddOnContext) -> Parts:
            return declared

    Fake.name = key
    Fake.namespace = namespace or Namespace(name=f"{key}-system", enforce="restricted")
    return Fake(kind())


def config_map(name: str) -> Mapping[str, Any]:
    """A manifest."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "one-system"}}

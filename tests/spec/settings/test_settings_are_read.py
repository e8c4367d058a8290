"""Every setting is read by something: one that does nothing is a promise that the platform doesn't keep."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

import pulumi
import pytest
from pydantic import BaseModel

from components.addons import registry
from infra.facts import of_addons
from slipway.charts import variants
from slipway.render.program import record_platform
from spec.settings import Platform, load, read_stack
from spec.settings.addons import AddonSettings
from spec.settings.base import Model
from spec.settings.checks import CHECKS as ALL_CHECKS
from tests.components.pools.samples import platform
from tests.support.context import POOLS, addon_context
from tests.support.day import TODAY
from tests.support.mocks import providers, run
from tests.support.stacks import platform_of

ROOT: Final = Path(__file__).parents[3]
SHIPPED: Final = ("components", "infra", "policies", "sandbox", "slipway", "spec")
NAME: Final = re.compile(r"""(?<=[."'])[A-Za-z_]\w*\b""")
CHECKS: Final = ROOT / "spec" / "settings" / "checks"


def models(kind: Any) -> Iterator[type[BaseModel]]:
    """A model, and those of its fields at any depth; `kind` is any annotation."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
        for field in kind.model_fields.values():
            yield from models(field.annotation)
    for part in get_args(kind):
        yield from models(part)


@pytest.fixture(scope="module")
def read() -> set[tuple[type[Model], str]]:
    """What the program reads on stack prod with topologies and on the example with every add-on, and what each add-on
    reads in some variant of its settings."""
    seen: set[tuple[type[Model], str]] = set()

    def reading(self: Model, name: str) -> Any:
        seen.add((type(self), name))
        return object.__getattribute__(self, name)

    prod, sample = platform_of("prod"), platform(POOLS)
    prod = prod.model_copy(update={"queues": prod.queues.model_copy(update={"topology": True})})
    everything = load(read_stack("everything", ROOT / "examples/stacks"), stack="everything", today=TODAY).platform
    settings = list(variants.variants(sample))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Model, "__getattribute__", reading)
        record_platform(prod, stack="prod")
        record_platform(everything, stack="everything")
        run(lambda: build_addons(settings))
    return seen


def build_addons(settings: list[Platform]) -> None:
    context = addon_context(pulumi.ResourceOptions(providers=providers()))
    for each in settings:
        # Storage makes them.
        each.addons.databases()
        for addon in registry.wanted(each.addons).values():
            addon.parts(type(context)(**{**vars(context), **vars(of_addons(each))}))


@cache
def named() -> frozenset[str]:
    """Attributes and texts of the shipped code: settings of other stacks are read as attributes, or as keys of JSON.
    Checks of the settings read all of them, which is no use."""
    files = [file for folder in SHIPPED for file in (ROOT / folder).rglob("*.py") if CHECKS not in file.parents]
    return frozenset(name for file in files for name in NAME.findall(file.read_text(encoding="utf-8")))


def unread(model: type[BaseModel], read: set[tuple[type[Model], str]]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if any(name == attribute and issubclass(kind, model) for kind, attribute in read):
            continue
        if issubclass(model, AddonSettings) or not {name, str(field.alias)} & named():
            yield f"{model.__module__}.{model.__name__}.{name}"


def test_every_setting_is_read(read: set[tuple[type[Model], str]]) -> None:
    nothing = sorted({each for model in models(Platform) for each in unread(model, read)})
    assert not nothing, "nothing reads these settings: use them in the component, or remove them"


def test_a_check_needs_parts_that_a_platform_has() -> None:
    assert {need for check in ALL_CHECKS for need in check.needs} <= Platform.model_fields.keys()


def test_a_setting_that_an_add_on_ignores_is_found(read: set[tuple[type[Model], str]]) -> None:
    class Ignored(AddonSettings):
        replicas: int = 1

    assert [each.rpartition(".")[2] for each in unread(Ignored, read)] == ["replicas"]

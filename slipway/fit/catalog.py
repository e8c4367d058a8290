"""Published models: facts from their config.json files, read as a user's file is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from slipway.fit import config, diffusion
from slipway.fit.architectures import Architecture
from spec.catalog.document import load

FILE: Final = "architectures.yaml"


@cache
def architectures() -> Mapping[str, Architecture]:
    """The published models of the catalog by name."""
    entries = load(FILE)["architectures"]
    return MappingProxyType({name: _architecture(name, entry) for name, entry in sorted(entries.items())})


def nearest(params: float) -> Architecture:
    """The published language model without experts that has the nearest number of parameters, by ratio."""
    plain = (one for one in architectures().values() if not one.expert_params and not one.diffusion and not one.vision)
    return min(plain, key=lambda one: (max(one.params / params, params / one.params), one.name))


def _architecture(name: str, entry: Mapping[str, Any]) -> Architecture:
    source = f"{entry['at']}, {entry['as_of']}"
    # YAML 1.1 reads `7e9` as text: its floats need a point and a sign.
    params = float(entry.get("params", 0))
    if "components" in entry:
        return diffusion.pipeline(entry["components"], name=name, source=source)
    return config.read(entry["config"], name=name, params=params, source=source)

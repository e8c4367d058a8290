"""Builds a workload from command-line options; every problem is reported at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

from slipway.fit.architectures import Architecture, architectures, nearest
from slipway.fit.workload import Workload, problems
from spec.settings.problems import ConfigurationError, Problem

SOURCE: Final = "slipway fit"
NEAR: Final = 1.2
"""Maximum ratio between the given number of parameters and that of the nearest model, to use its shape."""
_SUFFIXES: Final = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_AMOUNT: Final = re.compile(r"(?P<number>-?[0-9_]*\.?[0-9]+(e[+-]?[0-9]+)?)(?P<suffix>[KMBT]?)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The model options of the command line; None if not given."""

    model: str | None = None
    params: str | None = None
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    ffn: int | None = None
    vocab: int | None = None
    gated: bool = False
    tied: bool = False

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes that were given, by option."""
        names = ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def workload(shape: Shape, **options: Any) -> Workload:
    """The workload that the options describe.

    Args:
        shape: The options that describe the model.
        options: All other fields of a `Workload`.

    Raises:
        ConfigurationError: The options are invalid; the error lists every problem.
    """
    invalid = list(_shape_problems(shape))
    if invalid:
        raise ConfigurationError(invalid, SOURCE)
    work = Workload(model=_architecture(shape), **options)
    invalid = list(problems(work))
    if invalid:
        raise ConfigurationError(invalid, SOURCE)
    return work


def amount(text: str) -> float | None:
    """A number of parameters: `7e9`, `7B`, `6_738_415_616`; None if it is not a number."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        return None
    return float(match["number"].replace("_", "")) * _SUFFIXES[match["suffix"].upper()]


def _shape_problems(shape: Shape) -> Iterator[Problem]:
    params = None if shape.params is None else amount(shape.params)
    if shape.params is not None and params is None:
        yield Problem("--params", "must be a number", shape.params, "Use a form such as 7e9, 7B or 6738415616")
    elif params is not None and params <= 0:
        yield Problem("--params", "must be above zero", shape.params, "Use 7e9 or 7B for 7 billion")
    elif shape.model is not None:
        yield from _named_problems(shape)
    elif shape.sizes or shape.gated or shape.tied:
        yield from _sized_problems(shape)
    elif params is None:
        yield Problem("--params", "or --model is required", None, f"Models: {', '.join(architectures())}")
    else:
        near = nearest(params)
        if max(near.params / params, params / near.params) > NEAR:
            rule = f"must be near a published model; the nearest is {near.name} with {near.params:.3g} parameters"
            fix = "Give the shape: --layers, --hidden, --heads, --vocab (and --kv-heads, --ffn, --gated, --tied)"
            yield Problem("--params", rule, shape.params, fix)


def _named_problems(shape: Shape) -> Iterator[Problem]:
    name = shape.model or ""
    if name not in architectures():
        close = get_close_matches(name.lower(), architectures(), n=1)
        fix = f"Did you mean {close[0]}?" if close else f"Choose from {', '.join(architectures())}"
        yield Problem("--model", "must be a model of the catalog", name, fix)
    for option in shape.sizes:
        fix = "Omit it, or omit --model and give the whole shape"
        yield Problem(_flag(option), "can't be combined with --model", shape.sizes[option], fix)


def _sized_problems(shape: Shape) -> Iterator[Problem]:
    for option in ("layers", "hidden", "heads", "vocab"):
        if option not in shape.sizes:
            yield Problem(_flag(option), "is required for a shape", None, "Use the value in the model's config.json")


def _architecture(shape: Shape) -> Architecture:
    params = None if shape.params is None else amount(shape.params)
    if shape.model is not None:
        known = architectures()[shape.model]
        return known if params is None else replace(known, params=params)
    if not shape.sizes:
        near = nearest(params or 0)
        return replace(near, name=f"a model like {near.name}", params=params or near.params)
    sizes = shape.sizes
    model = Architecture(
        name="the given model",
        params=params or 0,
        layers=sizes["layers"],
        hidden=sizes["hidden"],
        heads=sizes["heads"],
        kv_heads=sizes.get("kv_heads", sizes["heads"]),
        ffn=sizes.get("ffn", 4 * sizes["hidden"]),
        gated=shape.gated,
        vocab=sizes["vocab"],
        tied=shape.tied,
    )
    return model if params is not None else replace(model, params=float(model.counted))


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")

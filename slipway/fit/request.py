"""A workload from the words of a command line, with everything that is wrong in one report."""

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
"""How many times more or fewer parameters the nearest published model may have, to lend its shape."""
_SUFFIXES: Final = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_AMOUNT: Final = re.compile(r"(?P<number>-?[0-9_]*\.?[0-9]+(e[+-]?[0-9]+)?)(?P<suffix>[KMBT]?)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What was said of the model; None where nothing was."""

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
    """The workload that was asked for.

    Args:
        shape: What was said of the model.
        options: Everything else of a `Workload`.

    Raises:
        ConfigurationError: With everything that is wrong.
    """
    wrong = list(_shape_problems(shape))
    if wrong:
        raise ConfigurationError(wrong, SOURCE)
    work = Workload(model=_architecture(shape), **options)
    wrong = list(problems(work))
    if wrong:
        raise ConfigurationError(wrong, SOURCE)
    return work


def amount(text: str) -> float | None:
    """A number of parameters: `7e9`, `7B`, `6_738_415_616`; None for what is none."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        return None
    return float(found["number"].replace("_", "")) * _SUFFIXES[found["suffix"].upper()]


def _shape_problems(shape: Shape) -> Iterator[Problem]:
    params = None if shape.params is None else amount(shape.params)
    if shape.params is not None and params is None:
        yield Problem("--params", "is a number", shape.params, "Write 7e9, 7B or 6738415616")
    elif params is not None and params <= 0:
        yield Problem("--params", "is above zero", shape.params, "Write 7e9 or 7B for 7 billion")
    elif shape.model is not None:
        yield from _named_problems(shape)
    elif shape.sizes or shape.gated or shape.tied:
        yield from _sized_problems(shape)
    elif params is None:
        yield Problem("--params", "or --model says what runs", None, f"Models: {', '.join(architectures())}")
    else:
        near = nearest(params)
        if max(near.params / params, params / near.params) > NEAR:
            rule = f"is near a published model, the nearest has {near.params:.3g} ({near.name})"
            fix = "Give the shape: --layers, --hidden, --heads, --vocab (and --kv-heads, --ffn, --gated, --tied)"
            yield Problem("--params", rule, shape.params, fix)


def _named_problems(shape: Shape) -> Iterator[Problem]:
    name = shape.model or ""
    if name not in architectures():
        close = get_close_matches(name.lower(), architectures(), n=1)
        fix = f"Did you mean {close[0]}?" if close else f"It has {', '.join(architectures())}"
        yield Problem("--model", "is in the catalog", name, fix)
    for option in shape.sizes:
        fix = "Leave it out, or leave --model out and give the whole shape"
        yield Problem(_flag(option), "is said by --model", shape.sizes[option], fix)


def _sized_problems(shape: Shape) -> Iterator[Problem]:
    for option in ("layers", "hidden", "heads", "vocab"):
        if option not in shape.sizes:
            yield Problem(_flag(option), "is given where the shape is", None, "Give what the model's config.json has")


def _architecture(shape: Shape) -> Architecture:
    params = None if shape.params is None else amount(shape.params)
    if shape.model is not None:
        known = architectures()[shape.model]
        return known if params is None else replace(known, params=params)
    if not shape.sizes:
        near = nearest(params or 0)
        return replace(near, name=f"a model like {near.name}", params=params or near.params)
    sizes = shape.sizes
    given = Architecture(
        name="the model given",
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
    return given if params is not None else replace(given, params=float(given.counted))


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")

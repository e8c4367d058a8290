"""Builds a workload from command-line options; every problem is reported at once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from slipway.fit import checkpoint
from slipway.fit.architectures import Architecture
from slipway.fit.checkpoint import architectures, nearest
from slipway.fit.formats import CHECKPOINT, FULL_BITS
from slipway.fit.workload import Workload, problems
from spec.settings.problems import ConfigurationError, Problem

SOURCE: Final = "slipway fit"
NEAR: Final = 1.2
"""Maximum ratio between the given number of parameters and that of the nearest model, to use its shape."""
_SUFFIXES: Final = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_IMAGE: Final = re.compile(r"([0-9]+)x([0-9]+)")
_AMOUNT: Final = re.compile(r"(?P<number>-?[0-9_]*\.?[0-9]+(e[+-]?[0-9]+)?)(?P<suffix>[KMBT]?)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The model options of the command line; None if not given."""

    model: str | None = None
    config: str | None = None
    params: str | None = None


def workload(
    shape: Shape, *, seq: int | None = None, precision: str | None = None, image: str | None = None, **options: Any
) -> Workload:
    """The workload that the options describe.

    Args:
        shape: The options that describe the model.
        seq: Tokens per sequence; a diffusion pipeline needs none.
        precision: Number format; if unset, that of the model's files where nothing but adapters is trained, else bf16.
        image: Width and height in pixels, as `1024x1024`.
        options: All other fields of a `Workload`.

    Raises:
        ConfigurationError: The options are invalid; the error lists every problem.
    """
    invalid = [*_shape_problems(shape), *_image_problems(image)]
    if invalid:
        raise ConfigurationError(invalid, SOURCE)
    model = _architecture(shape)
    if seq is None and not model.diffusion:
        raise ConfigurationError([Problem("--seq", "is required", None, "Use the tokens of prompt and answer")], SOURCE)
    frozen = options["mode"] == "serve" or bool(options.get("lora"))
    kept = CHECKPOINT if frozen and model.stored.bits != FULL_BITS else "bf16"
    size = _pixels(image)
    work = Workload(model=model, seq=seq or 0, precision=precision or kept, image=size or (0, 0), **options)
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


def _pixels(text: str | None) -> tuple[int, int] | None:
    """Width and height of `1024x1024`; None if that isn't what the text is."""
    match = _IMAGE.fullmatch(text or "")
    return (int(match[1]), int(match[2])) if match else None


def _image_problems(text: str | None) -> Iterator[Problem]:
    if text is not None and _pixels(text) is None:
        yield Problem("--image", "must be width x height in pixels", text, "Use a form such as 1024x1024")


def _shape_problems(shape: Shape) -> Iterator[Problem]:
    params = None if shape.params is None else amount(shape.params)
    if shape.params is not None and params is None:
        yield Problem("--params", "must be a number", shape.params, "Use a form such as 7e9, 7B or 6738415616")
    elif params is not None and params <= 0:
        yield Problem("--params", "must be above zero", shape.params, "Use 7e9 or 7B for 7 billion")
    elif shape.model is not None or shape.config is not None:
        yield from _named_problems(shape)
    elif params is None:
        fix = f"Models: {', '.join(architectures())}"
        yield Problem("--params", "or --model or --config is required", None, fix)
    else:
        near = nearest(params)
        if max(near.params / params, params / near.params) > NEAR and not _smallest(params):
            rule = f"must be near a published model; the nearest is {near.name} with {near.params:.3g} parameters"
            fix = "Write a config.json with its shape, and name it by --config"
            yield Problem("--params", rule, shape.params, fix)


def _named_problems(shape: Shape) -> Iterator[Problem]:
    name = shape.model
    if name is not None and shape.config is not None:
        yield Problem("--config", "can't be combined with --model", shape.config, "Omit one of them")
    if name is not None and name not in architectures():
        close = get_close_matches(name.lower(), architectures(), n=3)
        fix = f"Did you mean {' or '.join(close)}?" if close else f"Choose from {', '.join(architectures())}."
        yield Problem("--model", "must be a model of the catalog", name, f"{fix} For another model, use --config")


def _architecture(shape: Shape) -> Architecture:
    params = None if shape.params is None else amount(shape.params)
    if shape.config is not None:
        return checkpoint.load(Path(shape.config), params or 0)
    if shape.model is not None:
        known = architectures()[shape.model]
        return known if params is None else replace(known, params=params)
    near = nearest(params or 0)
    if params and _smallest(params) and near.params > NEAR * params:
        return replace(near, name=f"at most a model like {near.name}")
    return replace(near, name=f"a model like {near.name}", params=params or near.params)


def _smallest(params: float) -> bool:
    """Whether a number of parameters is below that of every published model: any GPU holds the smallest of those."""
    return params <= min(one.params for one in architectures().values())

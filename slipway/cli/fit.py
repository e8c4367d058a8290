"""`slipway fit`: the GPU memory of a model, and the cheapest GPUs that hold it."""

import argparse
import json
from pathlib import Path

from slipway.cli.check import checked
from slipway.engine.project import find
from slipway.fit import choose, fixes, places, request, table
from spec.errors import EXIT_FAILURE
from spec.settings import Platform

_OPTIONS = (
    *("mode", "precision", "batch", "seq", "optimizer", "checkpointing", "zero", "lora", "loss", "classes"),
    *("cache", "image", "tensor_parallel", "pipeline_parallel"),
)
"""Options of a workload."""


def run(options: argparse.Namespace) -> int:
    """Print the memory, and the placements that hold it; 1 if none does."""
    shape = request.Shape(**{name: getattr(options, name) for name in request.Shape.__dataclass_fields__})
    work = request.workload(shape, **{name: getattr(options, name) for name in _OPTIONS})
    where = places.of_stack(_platform(options)) if _named(options) else places.of_catalog()
    answer = choose(work, where)
    hints = () if answer.choices else fixes(work, where)
    if options.json:
        print(json.dumps(table.data(work, answer, hints), indent=2))
    else:
        print(table.text(work, answer, hints), end="")
    return 0 if answer.choices else EXIT_FAILURE


def _named(options: argparse.Namespace) -> bool:
    return bool(options.stack or options.source or options.nodes or options.region)


def _platform(options: argparse.Namespace) -> Platform:
    if options.source is None and options.stack:
        return checked(find(Path.cwd()), options.stack).platform
    from slipway.cli.given import given  # noqa: PLC0415 - needs more than the part of the wheel that `fit` is

    return given(options).platform

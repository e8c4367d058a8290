"""`slipway fit`: the GPU memory of a model, and the cheapest GPUs that hold it."""

import argparse
import json
from pathlib import Path

from slipway.cli.check import checked
from slipway.engine.project import find
from slipway.fit import choose, fixes, places, request, table
from slipway.fit.places import FitPlace
from spec.errors import EXIT_FAILURE

_OPTIONS = (
    *("mode", "precision", "batch", "seq", "optimizer", "checkpointing", "zero", "lora", "loss", "classes"),
    *("cache", "image", "tensor_parallel", "pipeline_parallel"),
)
"""Options of a workload."""


def run(options: argparse.Namespace) -> int:
    """Print the memory, and the placements that hold it; 1 if none does."""
    shape = request.Shape(**{name: getattr(options, name) for name in request.Shape.__dataclass_fields__})
    work = request.workload(shape, **{name: getattr(options, name) for name in _OPTIONS})
    where = places.of_catalog() if options.stack is None else _of_stack(options.stack)
    answer = choose(work, where)
    hints = () if answer.choices else fixes(work, where)
    if options.json:
        print(json.dumps(table.data(work, answer, hints), indent=2))
    else:
        print(table.text(work, answer, hints), end="")
    return 0 if answer.choices else EXIT_FAILURE


def _of_stack(stack: str) -> tuple[FitPlace, ...]:
    return places.of_stack(checked(find(Path.cwd()), stack).platform)

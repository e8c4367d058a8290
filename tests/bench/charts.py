"""Where Helm charts are on this machine, for the numbers that need them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

VARIABLE: Final = "SLIPWAY_CHARTS"
SHARED: Final = "SLIPWAY_SHARED"
"""The directory of shared samples, which the tests of whole stacks use too: its folder `charts`."""


def directory(environment: Mapping[str, str], checkout: Path) -> Path | None:
    """The folder of charts: `SLIPWAY_CHARTS`, or `charts` of `SLIPWAY_SHARED`, or of a folder `shared` beside the
    checkout, which is where `.ci/run` looks; None where there is none of them."""
    shared = environment.get(SHARED)
    named = environment.get(VARIABLE)
    candidates = [
        *([Path(named)] if named else []),
        *([Path(shared) / "charts"] if shared else []),
        checkout.parent / "shared" / "charts",
    ]
    return next((path.absolute() for path in candidates if path.is_dir()), None)

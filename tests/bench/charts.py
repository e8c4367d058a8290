"""Where Helm charts are on this machine, for the numbers that need them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

VARIABLE: Final = "SLIPWAY_CHARTS"
SHARED: Final = "SLIPWAY_SHARED"
"""The directory of shared samples, which the tests of whole stacks use too."""
FOLDERS: Final = ("charts-full", "charts")
"""Its folders of charts: whole ones, and those of values and CRDs alone."""


def directory(environment: Mapping[str, str], checkout: Path) -> Path | None:
    """The folder of charts: `SLIPWAY_CHARTS`, or a folder of `SLIPWAY_SHARED`, or of a folder `shared` beside the
    checkout, which is where `.ci/run` looks; None where there is none of them."""
    shared = environment.get(SHARED)
    named = environment.get(VARIABLE)
    candidates = [
        *([Path(named)] if named else []),
        *(Path(place) / folder for place in (shared, checkout.parent / "shared") if place for folder in FOLDERS),
    ]
    return next((path.absolute() for path in candidates if path.is_dir()), None)

"""What may be skipped where nothing else may: the rows of allowed_skips.yaml."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Final

from tests.support.cases import beside


def anywhere() -> bool:
    """The reason holds on every machine."""
    return True


def where_nothing_can_be_installed() -> bool:
    """`.ci/run` installs packages of Debian where it is root; elsewhere the machine has them or has them not."""
    return os.geteuid() != 0 or shutil.which("apt-get") is None


@dataclass(frozen=True)
class Allowed:
    """A skip that is no failure."""

    tests: str  # pattern of the test's file, from the top of the tree
    reason: str  # what the reason of the skip begins with
    why: str  # why it may be skipped
    where: Callable[[], bool]  # the machines on which it may


WITHOUT_SAMPLES: Final = "SLIPWAY_SHARED names no "
"""What the reason of a test begins with that compares with the folder of samples; tests/required.py counts them."""

_MACHINES: Final = {"anywhere": anywhere, "nothing can be installed": where_nothing_can_be_installed}
ALLOWED: Final = tuple(Allowed(**{**row, "where": _MACHINES[row.get("where", "anywhere")]}) for row in beside(__file__))


def allowed(file: str, reason: str) -> Allowed | None:
    """What allows a test of a file to be skipped for a reason, if anything does."""
    fitting = (one for one in ALLOWED if fnmatch(file, one.tests) and reason.startswith(one.reason))
    return next((one for one in fitting if one.where()), None)

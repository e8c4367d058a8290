"""All checks across the parts of a stack's settings: the functions of these modules that begin with a context."""

from typing import Final

from spec.settings.checks import (
    addons,
    cluster,
    cost,
    environment,
    existing,
    gpus,
    machines,
    names,
    network,
    pools,
    schedulers,
    storage,
    teams,
)
from spec.settings.checks.base import Check, Context, checks_of, run

_MODULES: Final = (
    environment,
    network,
    existing,
    cluster,
    pools,
    machines,
    gpus,
    names,
    storage,
    cost,
    addons,
    teams,
    schedulers,
)
CHECKS: Final = tuple(check for module in _MODULES for check in checks_of(module))
"""Problems are reported in this order."""

__all__ = ["CHECKS", "Check", "Context", "run"]

"""All checks across the parts of a stack's settings: the functions of these modules that begin with a context."""

from importlib import import_module
from typing import Final

from spec.settings.checks.base import Check, Context, checks_of, run

_MODULES: Final = "environment network existing cluster pools machines gpus names storage cost addons teams schedulers"
"""In the order in which problems are reported."""
CHECKS: Final = tuple(
    check for module in _MODULES.split() for check in checks_of(import_module(f"{__name__}.{module}"))
)

__all__ = ["CHECKS", "Check", "Context", "run"]

"""Refusing a destroy that protected resources stand in the way of, with all of them named, before the engine starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from slipway.engine.invocation import Operation, Request
from slipway.engine.state import StackResource, StackState
from spec.errors import EXIT_PROTECTED, SlipwayError

_PARTIAL: Final = ("--ignore-protect", "--exclude-protected", "-t", "--target", "-x", "--exclude", "--preview-only")
"""Arguments by which the user has said which part is meant: the engine then knows better than we do."""


def refuse_protected(request: Request, state: Callable[[], StackState]) -> None:
    """Refuse to destroy a stack with protected resources, before anything is destroyed.

    Raises:
        SlipwayError: With code 3 and the list of what is protected.
    """
    if request.operation is not Operation.DESTROY or request.except_protected:
        return
    if any(argument.partition("=")[0] in _PARTIAL for argument in request.extra):
        return
    protected = state().protected
    if protected:
        raise SlipwayError(_refusal(request.stack, protected), EXIT_PROTECTED)


def _refusal(stack: str, protected: Sequence[StackResource]) -> str:
    rows = sorted(f"{resource.kind} {resource.name}" for resource in protected)
    count = f"{len(rows)} protected resource{'s' if len(rows) != 1 else ''}"
    return "\n".join(
        [
            f"stack {stack} has {count}; nothing was destroyed:",
            *(f"  - {row}" for row in rows),
            "To remove everything else: add --except-protected (what the protected ones need stays too).",
            f"To remove these as well: in stacks/Pulumi.{stack}.yaml set `environment.protect: false`",
            "(and `cluster.deletionProtection: false`), then `up`, then `destroy`.",
        ]
    )

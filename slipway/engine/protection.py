"""What is refused before the engine starts: losing protected resources, a killed run, half a network."""

from collections.abc import Callable, Sequence
from typing import Final

from slipway.engine.invocation import Operation, Request
from slipway.engine.state import StackResource, StackState
from spec.errors import EXIT_PROTECTED, SlipwayError, fail, refuse

# Refusing, before the engine starts, to destroy protected resources, or to change a stack after a killed run.


_PARTIAL: Final = ("--ignore-protect", "--exclude-protected", "-t", "--target", "-x", "--exclude", "--preview-only")
"""Arguments that select a part of the stack: the engine alone knows which resources that is."""


def refuse_protected(request: Request, state: Callable[[], StackState]) -> None:
    """Refuse to destroy a stack with protected resources, before anything is destroyed.

    Raises:
        SlipwayError: With code 3 and the list of protected resources.
    """
    if request.operation is not Operation.DESTROY or not removes_all(request):
        return
    protected = state().protected
    if protected:
        raise SlipwayError(_refusal(request.stack, protected), EXIT_PROTECTED)


def refuse_interrupted(request: Request, state: Callable[[], StackState]) -> None:
    """Refuse to create or destroy anything while operations of a killed run are open.

    The engine would drop them, and then create once more what the killed run had made.
    """
    if request.operation not in (Operation.UP, Operation.DESTROY):
        return
    try:
        pending = state().pending
    except SlipwayError:
        return  # there is no such stack yet, or the engine reports what is wrong with its state
    if pending:
        lines = "".join(f"  - {one}\n" for one in pending)
        fail(
            f"stack {request.stack}: a killed run left {len(pending)} operations open; nothing was changed:\n{lines}"
            f"What they created is not in the state. Settle them first: slipway state repair {request.stack}"
        )


def removes_all(request: Request) -> bool:
    """Whether a `destroy` removes the whole stack, and not only shows it or removes a part."""
    return not request.except_protected and not any(
        argument.partition("=")[0] in _PARTIAL for argument in request.extra
    )


def _refusal(stack: str, protected: Sequence[StackResource]) -> str:
    names = sorted(f"{resource.kind} {resource.name}" for resource in protected)
    count = f"{len(names)} protected resource{'s' if len(names) != 1 else ''}"
    return "\n".join(
        [
            f"stack {stack} has {count}; nothing was destroyed:",
            *(f"  - {name}" for name in names),
            "To remove everything else, add --except-protected (the protected resources and their dependencies stay).",
            f"To remove these as well, set `environment.protect: false` in stacks/Pulumi.{stack}.yaml",
            "(and `cluster.deletionProtection: false`), then run `up`, then `destroy`.",
        ]
    )


# `--network-only`: the first of two steps to a cluster whose API server has only a private endpoint.


CLUSTER: Final = "aws:eks/cluster:Cluster"


def refuse_network_only(request: Request, state: Callable[[], StackState]) -> None:
    """Refuse a run of the network alone once the cluster exists: the whole stack is to be updated then."""
    if request.network_only and any(resource.type == CLUSTER for resource in state().resources):
        refuse(
            f"stack {request.stack} has a cluster, and --network-only is the first step before there is one: "
            f"run `slipway {request.operation} {request.stack}`"
        )

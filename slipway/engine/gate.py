"""The gate: a plan that replaces or deletes a resource with state is refused, unless the user names the resource.

Policies evaluate the desired state, not the live state, so no rule can foresee a replacement; the engine's plan can.
The gate does not apply to `destroy`: the user asked for the removal, and protected resources block it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slipway.engine.plan import Removal
from slipway.engine.stateful import TABLE
from spec.errors import EXIT_REFUSED, SlipwayError


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The gate's decision on a plan.

    Attributes:
        refused: Resources that keep state, would be replaced or deleted, and are not named in `--allow-replace`.
        allowed: Those that are named.
        unused: Names that match no such resource of the plan.
    """

    refused: tuple[Removal, ...]
    allowed: tuple[Removal, ...]
    unused: tuple[str, ...]


def check_names(allowed: Sequence[str]) -> None:
    """Refuse values of `--allow-replace` that can't be URNs, before the engine starts.

    Raises:
        SlipwayError: With code 2, naming the first invalid value.
    """
    for name in allowed:
        if not name.startswith("urn:pulumi:") or name.count("::") < 3:
            msg = (
                f"--allow-replace takes the full URN of one resource, as the refusal prints it; got {name!r}. "
                "Wildcards aren't supported: name each resource."
            )
            raise SlipwayError(msg, EXIT_REFUSED)


def evaluate(plan: Iterable[Removal], allowed: Sequence[str] = ()) -> Verdict:
    """The gate's verdict on a plan."""
    losses = [removal for removal in plan if _loses_state(removal)]
    return Verdict(
        refused=tuple(loss for loss in losses if loss.urn not in allowed),
        allowed=tuple(loss for loss in losses if loss.urn in allowed),
        unused=tuple(name for name in allowed if name not in {loss.urn for loss in losses}),
    )


def _loses_state(removal: Removal) -> bool:
    stateful = TABLE.get(removal.type)
    if stateful is None or (removal.operation == "delete" and removal.retained):
        return False
    return stateful.holds is None or stateful.holds(removal.inputs, removal.outputs)


def refusal(stack: str, refused: Sequence[Removal], *, done: bool = False) -> str:
    """Why a plan is refused, resource by resource.

    Args:
        stack: Name of the stack.
        refused: Resources that keep state.
        done: Whether the plan was carried out nevertheless, because it was a rehearsal.
    """
    many = f"{len(refused)} resource{'s' if len(refused) != 1 else ''}"
    keep = "keep" if len(refused) != 1 else "keeps"
    head = (
        f"stack {stack}: on AWS this would have been refused: {many} that {keep} state would be replaced or deleted:"
        if done
        else f"stack {stack}: {many} that {keep} state would be replaced or deleted; nothing was changed:"
    )
    lines = [head]
    for removal in refused:
        stateful = TABLE[removal.type]
        lines += [f"  - {removal.operation} {removal.urn}", f"      loses: {stateful.loses}"]
        lines += [f"      because: {reason}" for reason in _reasons(removal)]
        lines += [f"      fix: {stateful.fix}"]
    lines.append("If you accept the loss, name each resource and run the command again:")
    lines += [f"  --allow-replace '{removal.urn}'" for removal in refused]
    return "\n".join(lines)


def _reasons(removal: Removal) -> list[str]:
    if removal.operation == "delete":
        return ["the program no longer declares it (it was removed, renamed or switched off)"]
    if not removal.forced:
        return ["the engine names no property: the resource's provider changed, or --replace named it"]
    return [f"{forced.path} can't be changed in place: {forced.old} -> {forced.new}" for forced in removal.forced]

"""The gate: a plan that would replace or delete what keeps state is refused, unless each such resource is named.

Policies see what shall be and never what stands, so no rule can see a replacement coming; the engine's plan does.
`destroy` is not judged here: it says what it removes, and protected resources stand in its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slipway.engine.plan import Removal
from slipway.engine.stateful import TABLE
from spec.errors import EXIT_REFUSED, SlipwayError


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the gate says of a plan.

    Attributes:
        refused: Resources that keep state and would be replaced or deleted without anybody having named them.
        allowed: Those that were named.
        unused: Names that fit nothing of the plan.
    """

    refused: tuple[Removal, ...]
    allowed: tuple[Removal, ...]
    unused: tuple[str, ...]


def check_names(allowed: Sequence[str]) -> None:
    """Refuse what can't be a URN before the engine is started.

    Raises:
        SlipwayError: With code 2, naming the first that is none.
    """
    for name in allowed:
        if not name.startswith("urn:pulumi:") or name.count("::") < 3:
            msg = (
                f"--allow-replace takes the whole URN of one resource, as the refusal prints it; got {name!r}. "
                "There are no patterns: what is lost is to be named."
            )
            raise SlipwayError(msg, EXIT_REFUSED)


def evaluate(plan: Iterable[Removal], allowed: Sequence[str] = ()) -> Verdict:
    """The gate's verdict on a plan."""
    stopped = [one for one in plan if _keeps_state(one)]
    return Verdict(
        refused=tuple(one for one in stopped if one.urn not in allowed),
        allowed=tuple(one for one in stopped if one.urn in allowed),
        unused=tuple(name for name in allowed if name not in {one.urn for one in stopped}),
    )


def _keeps_state(one: Removal) -> bool:
    row = TABLE.get(one.type)
    if row is None or (one.operation == "delete" and one.retained):
        return False
    return row.holds is None or row.holds(one.inputs, one.outputs)


def refusal(stack: str, refused: Sequence[Removal], *, done: bool = False) -> str:
    """Why a plan is not carried out, resource by resource.

    Args:
        stack: Name of the stack.
        refused: Resources that keep state.
        done: Whether it happened all the same, in a rehearsal.
    """
    many = f"{len(refused)} resource{'s' if len(refused) != 1 else ''}"
    keep = "keep" if len(refused) != 1 else "keeps"
    head = (
        f"stack {stack}: on AWS this would have been refused, because {many} that {keep} state went:"
        if done
        else f"stack {stack}: {many} that {keep} state would be replaced or deleted; nothing was changed:"
    )
    lines = [head]
    for one in refused:
        row = TABLE[one.type]
        lines += [f"  - {one.operation} {one.urn}", f"      loses: {row.loses}"]
        lines += [f"      because: {reason}" for reason in _because(one)]
        lines += [f"      mend: {row.fix}"]
    lines.append("Where the loss is meant, name each of them and run it again:")
    lines += [f"  --allow-replace '{one.urn}'" for one in refused]
    return "\n".join(lines)


def _because(one: Removal) -> list[str]:
    if one.operation == "delete":
        return ["the program no longer declares it (it was removed, renamed or switched off)"]
    if not one.forced:
        return ["the engine names no property: its provider changed, or --replace asked for it"]
    return [f"{found.path} can't be changed in place: {found.old} -> {found.new}" for found in one.forced]

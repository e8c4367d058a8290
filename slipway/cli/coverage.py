"""What of a stack was done as AWS and Kubernetes would, and what was only written down: said after every run."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from slipway.engine.state import StackResource, StackState

if TYPE_CHECKING:
    from slipway.sandbox.notes import Note

WIDTH: Final = 110
_TOGETHER: Final = "\xa0"
"""A space at which `textwrap` does not break."""
_RELEASES: Final = ("rendered", "checked", "recorded")
"""Values of `NoteKind` that are about a Helm release, the most that can be done first."""
TEXTS_SHOWN: Final = 5
"""Remarks of a kind that are shown in full."""


def of_aws(state: StackState, in_moto: Collection[str]) -> str:
    """Types of pulumi_aws in the state, by whether moto has them or they are records."""
    found = Counter((resource.type in in_moto, resource.kind) for resource in state.existing if _is_aws(resource))
    if not found:
        return ""
    by_world = {"in moto": _kinds(found, moto=True), "recorded": _kinds(found, moto=False)}
    lines = [_line(label, kinds) for label, kinds in by_world.items() if kinds]
    head = "AWS resources (in moto: references and drift are real; recorded: checked against the SDK's schema alone):"
    return "\n".join([head, *lines])


def of_charts(state: StackState, notes: Iterable[Note]) -> str:
    """Helm releases of this stack by how far they were rehearsed; nothing where there is none."""
    found = _by_kind(state, notes)
    if not any(found[kind] for kind in _RELEASES):
        return ""
    head = (
        "Helm releases (rendered: applied as Helm would, without hooks; checked: values held against the chart, its "
        "CRDs applied; recorded: the chart is not at hand):"
    )
    names = {
        kind: [note.urn.rpartition("::")[2].removesuffix("-release") for note in found[kind]] for kind in _RELEASES
    }
    return "\n".join([head, *(_list(f"{kind} {len(names[kind])}", names[kind]) for kind in _RELEASES)])


def of_kubernetes(state: StackState, notes: Iterable[Note]) -> str:
    """The other remarks of the sandbox on this stack: CRDs that were made up, manifests that nobody validated."""
    by_kind = {kind: found for kind, found in _by_kind(state, notes).items() if kind not in _RELEASES}
    lines = []
    for kind, found in sorted(by_kind.items()):
        lines.append(f"  {kind}: {len(found)}")
        lines += [f"    {note.urn.rpartition('::')[2]}: {note.text}" for note in found[:TEXTS_SHOWN]]
        if len(found) > TEXTS_SHOWN:
            lines.append(f"    and {len(found) - TEXTS_SHOWN} more")
    return "\n".join(["Kubernetes, where it is not as in a real cluster:", *lines]) if lines else ""


def _by_kind(state: StackState, notes: Iterable[Note]) -> defaultdict[str, list[Note]]:
    ours = {resource.urn for resource in state.resources}
    found: defaultdict[str, list[Note]] = defaultdict(list)
    for note in notes:
        if note.urn in ours:
            found[note.kind.value].append(note)
    return found


def _list(label: str, names: Iterable[str]) -> str:
    text = f"{label}: {', '.join(names)}".removesuffix(": ")
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _line(label: str, kinds: Mapping[str, int]) -> str:
    parts = [f"{kind} {count}".replace(" ", _TOGETHER) for kind, count in sorted(kinds.items())]
    text = f"{label} {sum(kinds.values())}: {', '.join(parts)}"
    lines = textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return lines.replace(_TOGETHER, " ")


def _is_aws(resource: StackResource) -> bool:
    return resource.type.startswith("aws:")


def _kinds(found: Counter[tuple[bool, str]], *, moto: bool) -> dict[str, int]:
    return {kind: count for (in_moto, kind), count in found.items() if in_moto is moto}

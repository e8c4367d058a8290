"""Which resources the sandbox emulated and which it only recorded: reported after every run."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from sandbox import CHARTS
from sandbox.notes import BECAUSE, Note
from slipway.engine.state import StackResource, StackState

WIDTH: Final = 110
_TOGETHER: Final = "\xa0"  # a no-break space, at which `textwrap` does not wrap
_RELEASES: Final = ("installed", "checked", "recorded")
"""Values of `NoteKind` for Helm releases, the most thorough first."""
_RELEASED: Final[Mapping[str, str]] = {
    "installed": "installed by Helm",
    "checked": "with their values checked and their CRDs applied",
    "recorded": "only recorded",
}
KINDS_SHOWN: Final = 4  # types that the short form names
_ADDONS: Final = ("installed", "recorded")  # the same for EKS add-ons
_ADDON: Final = "aws:eks/addon:Addon::"  # part of the URN of an EKS add-on
TEXTS_SHOWN: Final = 5  # notes of a kind that are shown in full


def nothing_installed(state: StackState, notes: Iterable[Note], charts: Path | None) -> str:
    """Why no chart of the stack is installed; empty if one is. `charts` is the folder of charts that is in use."""
    by_kind = _by_kind(state, notes)
    if by_kind["installed"]:
        return ""
    if by_kind["checked"]:
        return by_kind["checked"][0].text.rpartition(BECAUSE)[2]
    if charts is None:
        return f"none is on this machine (`slipway catalog pull --dir DIR`, then {CHARTS}=DIR)"
    return f"{charts} has none of its charts (`slipway catalog pull --dir {charts}`)"


def in_short(state: StackState, in_moto: Collection[str], notes: Iterable[Note], charts: Path | None = None) -> str:
    """How many resources exist, how the releases were checked, and what was only recorded: a line each."""
    notes = list(notes)
    by_kind = _by_kind(state, (note for note in notes if _ADDON not in note.urn))
    addons = _by_kind(state, (note for note in notes if _ADDON in note.urn))
    aws = [resource for resource in state.existing if _is_aws(resource)]
    recorded = Counter(resource.kind for resource in aws if resource.type not in in_moto)
    lines = [f"Resources: {len(state.existing)}, {len(aws)} of them in AWS."]
    if releases := {kind: len(by_kind[kind]) for kind in _RELEASES if by_kind[kind]}:
        counts = ", ".join(f"{count} {_RELEASED[kind]}" for kind, count in releases.items())
        reasons = "; ".join(dict.fromkeys(note.text.rpartition(BECAUSE)[2] for note in by_kind["checked"]))
        lines.append(f"Helm releases: {counts}{f' ({reasons})' if reasons else ''}.")
        if charts is not None and by_kind["recorded"] and len(releases) > 1:
            names = sorted(_name(note) for note in by_kind["recorded"])
            rest = f" and {len(names) - KINDS_SHOWN} more" if len(names) > KINDS_SHOWN else ""
            lines.append(f"  Without a chart in {charts}: {', '.join(names[:KINDS_SHOWN])}{rest}.")
    if any(addons[kind] for kind in _ADDONS):
        lines.append(f"EKS add-ons: {len(addons['installed'])} with their pods, {len(addons['recorded'])} without.")
    if recorded:
        kinds = ", ".join(f"{count} {kind}" for kind, count in recorded.most_common(KINDS_SHOWN))
        more = f" and {len(recorded) - KINDS_SHOWN} more types" if len(recorded) > KINDS_SHOWN else ""
        what = "1 resource is" if recorded.total() == 1 else f"{recorded.total()} resources are"
        lines.append(f"AWS: {what} recorded without being emulated; AWS itself checks more ({kinds}{more}).")
    if partly := by_kind["in the state"]:
        texts = dict.fromkeys(f"{note.urn.split('::')[2].rpartition(':')[2]}: {note.text}" for note in partly)
        lines.append(f"AWS: only in the state, because the provider or the account here lacks it: {'; '.join(texts)}.")
    if drifted := by_kind["drifted"]:
        lines.append("Changed by hand in the cluster, and not repaired by `up`:")
        lines += [f"  {_name(note)}: {note.text}" for note in drifted]
    if stand_ins := len(by_kind["stand-in"]):
        lines.append(
            f"Kubernetes: {stand_ins} objects or releases were accepted unchecked, because no CRD of theirs is here."
        )
    return "\n".join(lines)


def left_out(state: StackState, notes: Iterable[Note]) -> str:
    """Webhooks and aggregated APIs that were not applied, because their servers don't run."""
    found = _by_kind(state, notes)["left out"]
    if not found:
        return ""
    lines = [f"  {note.urn.rpartition('::')[2].removesuffix('-release')}: {note.text}" for note in found]
    return "\n".join(["Left out of the cluster, because their server does not run here:", *lines])


def of_aws(state: StackState, in_moto: Collection[str]) -> str:
    """Counts of the AWS types in the state, split into those in moto and those that are only recorded."""
    counts = Counter((resource.type in in_moto, resource.kind) for resource in state.existing if _is_aws(resource))
    if not counts:
        return ""
    groups = {"in moto": _kinds(counts, moto=True), "recorded": _kinds(counts, moto=False)}
    lines = [_line(label, kinds) for label, kinds in groups.items() if kinds]
    head = "AWS resources (in moto: references and drift are checked; recorded: values only):"
    return "\n".join([head, *lines])


def of_charts(state: StackState, notes: Iterable[Note]) -> str:
    """Helm releases and EKS add-ons of this stack by how much of them was checked; empty if the stack has none."""
    notes = list(notes)
    releases = _by_depth(
        "Helm releases (installed: by Helm, hooks and waits included; checked: values checked against the chart, its "
        "CRDs applied; recorded: the chart is not available):",
        _RELEASES,
        _by_kind(state, (note for note in notes if _ADDON not in note.urn)),
    )
    addons = _by_depth(
        "EKS add-ons (installed: their pods run; recorded: they have no pods, because they have no chart here):",
        _ADDONS,
        _by_kind(state, (note for note in notes if _ADDON in note.urn)),
    )
    return "\n".join(filter(None, (releases, addons)))


def of_kubernetes(state: StackState, notes: Iterable[Note]) -> str:
    """The sandbox's other notes on this stack: generated stand-in CRDs, manifests that were not validated."""
    by_kind = {kind: group for kind, group in _by_kind(state, notes).items() if kind not in _RELEASES}
    lines = []
    for kind, group in sorted(by_kind.items()):
        lines.append(f"  {kind}: {len(group)}")
        lines += [f"    {note.urn.rpartition('::')[2]}: {note.text}" for note in group[:TEXTS_SHOWN]]
        if len(group) > TEXTS_SHOWN:
            lines.append(f"    and {len(group) - TEXTS_SHOWN} more")
    return "\n".join(["Differences from a real cluster:", *lines]) if lines else ""


def _by_depth(head: str, kinds: Collection[str], by_kind: Mapping[str, list[Note]]) -> str:
    found = {kind: by_kind.get(kind) or [] for kind in kinds}
    if not any(found.values()):
        return ""
    names = {kind: [_name(note) for note in group] for kind, group in found.items()}
    return "\n".join([head, *(_list(f"{kind} {len(names[kind])}", names[kind]) for kind in kinds)])


def _name(note: Note) -> str:
    return note.urn.rpartition("::")[2].removesuffix("-release")


def _by_kind(state: StackState, notes: Iterable[Note]) -> defaultdict[str, list[Note]]:
    urns = {resource.urn for resource in state.resources}
    by_kind: defaultdict[str, list[Note]] = defaultdict(list)
    for note in notes:
        if note.urn in urns:
            by_kind[note.kind.value].append(note)
    return by_kind


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


def _kinds(counts: Counter[tuple[bool, str]], *, moto: bool) -> dict[str, int]:
    return {kind: count for (in_moto, kind), count in counts.items() if in_moto is moto}

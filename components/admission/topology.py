"""The rule about topologies: queued pods ask for one where only pools that have a topology are left for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from components.admission import kinds, placement
from components.admission.context import StackContext
from components.admission.rule import Fill, Rule, listed, literal
from components.admission.templates import TEMPLATE_METADATA, TEMPLATE_NOTES
from spec.jobs import PODSET
from spec.teams.labels import TEAM

NAME: Final = "queue-topology"
_NOTES: Final = "(has(t.metadata) && has(t.metadata.annotations) ? t.metadata.annotations : {})"
_UNCONSTRAINED: Final = f"{PODSET}unconstrained-topology"
_SLICES: Final = f"{PODSET}slice-required-topology"
_SIZE: Final = f"{PODSET}slice-size"
_BOOLEAN: Final = "matches('^(1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$')"  # Go's strconv.ParseBool
_BY_ITSELF: Final = literal([f"{PODSET}required-topology", f"{PODSET}preferred-topology", f"{_SLICES}-constraints"])
_ASKED: Final = (
    f"[{_NOTES}].exists(a, a.exists(k, k in {_BY_ITSELF}) || "
    f"('{_UNCONSTRAINED}' in a && string(a['{_UNCONSTRAINED}']).{_BOOLEAN}) || "
    f"('{_SLICES}' in a && '{_SIZE}' in a && string(a['{_SIZE}']).matches('^[0-9]+$')))"
)
"""Whether template `t` asks for a topology (kueue v0.19.2, pkg/controller/jobframework/tas.go)."""
_PLACED: Final = "params.data.topologies.split(',')"


def _placed(context: StackContext) -> str:
    """Whether only pools with a topology can have the pods of template `t`, in a queue that has others, too: in one
    without others Kueue implies the annotation (pkg/scheduler/flavorassigner/tas_flavorassigner.go, isTASImplied)."""
    offered = "params.data.pools.split('\\n').map(l, l.split(' ')[0])"
    if context.shares is not None:
        offered = (
            f"{listed('shares')}.filter(s, s.startsWith(namespaceObject.metadata.labels['{TEAM}'] + ' '))"
            ".map(s, s.split(' ')[1])"
        )
    fitting = (
        f"[t.spec].map(s, variables.pools.filter(p, p.name in q && ({placement.SELECTED}) && ({placement.OFFERS}) && "
        f"({placement.TOLERATED})))[0]"
    )
    only = f"[{fitting}].exists(ps, ps.size() > 0 && ps.all(p, p.name in {_PLACED}))"
    return f"[{offered}].exists(q, !q.all(n, n in {_PLACED}) && {only})"


def _fills(
    when: str, metadata: Mapping[str, Sequence[str]], notes: Mapping[str, Sequence[str]], *, of_server: bool = True
) -> Iterator[Fill]:
    """The annotation where there are none, or others; what others of a topology lack, only their author knows."""
    value = literal({_UNCONSTRAINED: "true"})
    yield Fill(paths=metadata, field="annotations", value=value, when=when, of_server=of_server)
    yield Fill(
        paths=notes,
        field=_UNCONSTRAINED,
        value="'true'",
        when=f"!s.exists(k, k.startsWith('{PODSET}')) && {when}",
        wrong=f"!string(s['{_UNCONSTRAINED}']).{_BOOLEAN} && {when}",
        of_server=of_server,
    )


def queue_topology(context: StackContext) -> Rule:
    """Jobs for pools with a topology ask for one."""
    placed = _placed(context)
    filled = f"variables.queued && {placed}"
    return Rule(
        name=NAME,
        kinds=tuple(kind for kind in kinds.WITH_PODS if kind != kinds.DAEMON_SET),
        parameters={
            "topologies": ",".join(sorted(context.by_topology)),
            "shares": ",".join(f"{team} {pool}" for team, pools in (context.shares or {}).items() for pool in pools),
        },
        expression=f"!variables.queued || variables.templates.all(t, {_ASKED} || !{placed})",
        names={"unconstrained": _UNCONSTRAINED, "podset": PODSET},
        fills=(
            *_fills(filled, TEMPLATE_METADATA, TEMPLATE_NOTES),
            # The API server notes what it filled in in the annotations of the object, which those of a pod are.
            *_fills(filled, {"Pod": ["metadata"]}, {"Pod": ["metadata.annotations"]}, of_server=False),
        ),
    )

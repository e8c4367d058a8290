"""The plan of an upgrade: what is in the way, the steps in their order, and the way back."""

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import Any, Final

from slipway.upgrade import checks, drains
from slipway.upgrade.checks import Finding
from slipway.upgrade.world import World
from spec.catalog import addons, upgrades
from spec.errors import visible

_SHOWN: Final = 3
"""Subjects of a finding, and pools, that the text names."""
_WIDTH: Final = 120


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A plan; `blocked` if something has to be done before it can begin."""

    world: World
    findings: tuple[Finding, ...]

    @property
    def blocked(self) -> bool:
        """Whether anything is in the way that does not end by itself."""
        return not all(one.waits for one in self.findings)

    def steps(self) -> Iterator[tuple[str, str]]:
        """Titles and texts of the steps, in their order."""
        world = self.world
        before, coming = world.running(), world.coming()
        software = [name for name, row in upgrades.SOFTWARE.items() if row.behind is None and not row.addon]
        newer = [
            f"{upgrades.SOFTWARE[name].title} {before[name]} -> {coming[name]}"
            for name in software if name in before and name in coming and before[name] != coming[name]
        ]  # fmt: skip
        pins = {name: (row.version(world.version), row.version(world.target)) for name, row in addons.ADDONS.items()}
        moved = [f"{name} {old} -> {new}" for name, (old, new) in pins.items() if old and new and old != new]
        nodes = [
            f"{name}: {one.nodes} nodes, {one.surge} more meanwhile"
            f"{'' if one.hourly is None else f' ({one.hourly:.2f} USD/h)'}, {one.addresses} addresses; {one.how}"
            for name, one in drains.replacements(world).items()
        ]
        plane = f"Kubernetes {world.version} -> {world.target}: several minutes, up to 5 addresses"
        if world.back:
            yield (
                "nodes",
                f'each pool\'s `version: "{world.target}"`, while the cluster keeps {world.version}, and `up`',
            )
            yield "add-ons", f"those that don't support {world.target}"
            yield "control plane", f'`cluster.version: "{world.target}"`, within seven days of the upgrade, and `up`'
            return
        yield "charts", ", ".join(newer) or "none of those that are known changes"
        yield "control plane", plane
        yield "add-ons", ", ".join(moved) or "EKS's defaults of the version"
        yield "nodes", "\n".join(nodes) or "not known without a stack"
        yield (
            "way back",
            f"`slipway upgrade plan --to {world.version}` within seven days; easy while nodes are not newer",
        )

    def document(self) -> dict[str, Any]:
        """The plan as plain values."""
        return {
            "from": self.world.version,
            "to": self.world.target,
            "blocked": self.blocked,
            "findings": [asdict(one) for one in self.findings],
            "steps": [{"step": title, "text": text} for title, text in self.steps()],
            "pools": {name: one.document() for name, one in drains.replacements(self.world).items()},
            "free": self.world.free,
            "unread": list(self.world.unread),
        }

    def text(self) -> str:
        """The plan as text: findings of one rule and text together, then the steps."""
        count = sum(not one.waits for one in self.findings)
        lines = [f"Kubernetes {self.world.version} -> {self.world.target}: {count or 'nothing'} in the way"]
        for (rule, said, fix), group in itertools.groupby(
            sorted(self.findings, key=lambda one: (one.waits, one.rule, one.text, one.fix)),
            key=lambda one: (one.rule, one.text, one.fix),
        ):
            subjects = [one.subject for one in group]
            more = f" and {len(subjects) - _SHOWN} more" if len(subjects) > _SHOWN else ""
            lines += _wrapped(f"  {rule}: {', '.join(subjects[:_SHOWN])}{more} {said}", "    ")
            lines += _wrapped(f"    next: {fix}", "      ")
        for number, (title, said) in enumerate(self.steps(), 1):
            first, *rest = said.splitlines()
            lines += _wrapped(f"{number}. {title}: {first}", "   ")
            lines += [line for one in rest for line in _wrapped(f"   {one}", "     ")]
        unread = self.world.unread
        lines += [f"not read: {one}" for one in unread[:_SHOWN]]
        return "\n".join(
            [*lines, *([f"not read: {len(unread) - _SHOWN} more; --json has them"] if unread[_SHOWN:] else [])]
        )


def _wrapped(text: str, indent: str) -> list[str]:
    return wrap(visible(text), _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def plan(world: World) -> Plan:
    """The plan from a world, with each finding once."""
    found = (*checks.findings(world), *drains.findings(world))
    return Plan(world=world, findings=tuple(dict.fromkeys(found)))

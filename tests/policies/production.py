"""The real production stack, and what goes wrong with one thing of it at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from policies import pack
from policies.access import MISSING, tree
from policies.fixtures import FixtureResource
from policies.levels import STRICTEST
from policies.resource import Resource, Stack
from policies.rule import AnyRule, Context, ResourceRule
from policies.rules import RULES
from policies.runner import findings
from policies.suppressions import load as load_suppressions
from slipway.render.evaluation import resources
from tests.support.day import TODAY
from tests.support.stacks import recorded

Found = set[tuple[str, str]]


class Production:
    """Resources of the program for `prod`, with inputs for rules of one resource and outputs for those of the stack."""

    def __init__(self) -> None:
        recording = recorded(STRICTEST)
        self.inputs = list(resources(recording, outputs=False).values())
        self.outputs = list(resources(recording, outputs=True).values())
        self.suppressions = load_suppressions(pack.identities())

    @cached_property
    def before(self) -> Found:
        """What is found of the program as it is; nothing that is mandatory."""
        return self.found({one.type for one in self.inputs})

    def found(self, types: set[str]) -> Found:
        """Check and name of everything that rules about some types find and nothing excuses."""
        seen: Found = set()
        for rule in RULES:
            if not any(rule.looks_at(kind) for kind in types):
                continue
            context = Context(settings=rule.defaults(STRICTEST), today=TODAY)
            for subject in self._subjects(rule, types):
                for one in findings(rule, subject, context, self.suppressions):
                    if one.counts(TODAY):
                        seen.add((one.id, one.urn.rpartition("::")[2]))
        return seen

    def _subjects(self, rule: AnyRule, types: set[str]) -> list[Any]:
        if isinstance(rule, ResourceRule):
            return [one for one in self.inputs if one.type in types]
        return [Stack(tuple(self.outputs))]

    def named(self, name: str) -> tuple[Resource, Resource]:
        """The one resource of a name, as both kinds of rules see it."""
        found = [(a, b) for a, b in zip(self.inputs, self.outputs, strict=True) if a.name == name]
        assert len(found) == 1, (name, [one.type for one, _ in found])
        return found[0]

    def first(self, kind: str) -> tuple[Resource, Resource] | None:
        """The first resource of a type."""
        pairs = zip(self.inputs, self.outputs, strict=True)
        return next(((a, b) for a, b in pairs if a.type == kind), None)

    @contextmanager
    def plus(self, one: Resource) -> Iterator[None]:
        """One resource more, for a while."""
        self.inputs.append(one)
        self.outputs.append(one)
        try:
            yield
        finally:
            self.inputs.remove(one)
            self.outputs.remove(one)

    @contextmanager
    def minus(self, name: str) -> Iterator[None]:
        """One resource less, for a while."""
        index = next(n for n, one in enumerate(self.inputs) if one.name == name)
        taken = self.inputs.pop(index), self.outputs.pop(index)
        try:
            yield
        finally:
            self.inputs.insert(index, taken[0])
            self.outputs.insert(index, taken[1])

    def news(self, types: set[str]) -> set[str]:
        """Checks that find what they did not find before."""
        return {check for check, _ in self.found(types) - self.before}


@contextmanager
def changed(resource: Resource, edits: Mapping[tuple[Any, ...], Any]) -> Iterator[None]:
    """A resource with other properties, for a while; links to it stay as they are."""
    before = resource.props
    props = before.raw
    for path, value in edits.items():
        props = put(props, path, value)
    resource.__dict__["props"] = tree(props)
    try:
        yield
    finally:
        resource.__dict__["props"] = before


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with one place changed, or gone; maps on the way are made where there are none."""
    if not path:
        return new
    key, *rest = path
    if isinstance(key, int) and isinstance(value, list):
        copy: Any = list(value)
        if new is MISSING and not rest:
            del copy[key]
        elif key < len(copy):
            copy[key] = put(copy[key], tuple(rest), new)
        else:
            copy.append(put(None, tuple(rest), new))
        return copy
    if isinstance(key, int):
        return [put(None, tuple(rest), new)]
    copy = dict(value) if isinstance(value, Mapping) else {}
    if new is MISSING and not rest:
        copy.pop(key, None)
    else:
        copy[key] = put(copy.get(key), tuple(rest), new)
    return copy


def differences(good: Any, bad: Any, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Places at which a bad value is not the good one, with what is there."""
    if isinstance(good, Mapping) and isinstance(bad, Mapping):
        found: dict[tuple[Any, ...], Any] = {}
        for key in [*good, *(key for key in bad if key not in good)]:
            if key not in bad:
                found[(*path, key)] = MISSING
            elif key not in good:
                found[(*path, key)] = bad[key]
            else:
                found |= differences(good[key], bad[key], (*path, key))
        return found
    if isinstance(good, list) and isinstance(bad, list) and len(good) == len(bad):
        merged: dict[tuple[Any, ...], Any] = {}
        for index, (one, other) in enumerate(zip(good, bad, strict=True)):
            merged |= differences(one, other, (*path, index))
        return merged
    return {} if good == bad else {path: bad}


def nearest(rule: AnyRule, bad: FixtureResource) -> FixtureResource:
    """The good fixture of the same type that differs least from a bad one."""
    kind = bad.type or rule.types[0]
    goods = [made for good in rule.good for made in good.values() if (made.type or rule.types[0]) == kind]
    return min(goods, key=lambda made: len(differences(made.props, bad.props)), default=FixtureResource())

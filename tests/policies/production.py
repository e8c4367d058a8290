"""The production stack, with one temporary change at a time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from policies import pack
from policies.resources.access import MISSING, tree
from policies.resources.resource import Resource, Stack
from policies.rule import STRICTEST, AnyRule, Context, ResourceRule
from policies.rules import RULES
from policies.runner import findings
from policies.stack_file import from_platform, program_of
from policies.suppressions import load as load_suppressions
from slipway.render.evaluation import resources
from slipway.render.layout import as_data
from tests.policies.build import FixtureResource
from tests.policies.fixtures import FIXTURES
from tests.support.day import TODAY
from tests.support.stacks import platform_of, recorded

Violations = set[tuple[str, str]]


class Production:
    """Resources of the program for `prod`: inputs for resource rules, outputs for stack rules.

    Args:
        compared: Whether each resource is compared with what the settings give.
    """

    def __init__(self, *, compared: bool = False) -> None:
        recording = recorded(STRICTEST)
        self.inputs = list(resources(recording, outputs=False).values())
        self.outputs = list(resources(recording, outputs=True).values())
        self.stack_file = from_platform(
            platform_of(STRICTEST), program_of(map(as_data, recording), recording.exports.plain) if compared else None
        )
        self.suppressions = load_suppressions(pack.identities())

    @cached_property
    def before(self) -> Violations:
        """Violations of the unchanged program, all of them advisory."""
        return self.violations({one.type for one in self.inputs})

    def violations(self, types: set[str]) -> Violations:
        """Check and resource name of all violations by rules for some types that are not suppressed."""
        reported: Violations = set()
        for rule in RULES:
            if not any(rule.looks_at(kind) for kind in types):
                continue
            context = Context(settings=rule.defaults(STRICTEST), today=TODAY, stack_file=self.stack_file)
            for subject in self._subjects(rule, types):
                for one in findings(rule, subject, context, self.suppressions):
                    if one.counts(TODAY):
                        reported.add((one.id, one.urn.rpartition("::")[2]))
        return reported

    def _subjects(self, rule: AnyRule, types: set[str]) -> list[Any]:
        if isinstance(rule, ResourceRule):
            return [one for one in self.inputs if one.type in types]
        return [Stack(tuple(self.outputs))]

    def named(self, name: str) -> tuple[Resource, Resource]:
        """The resource with a name, with inputs and with outputs."""
        pairs = [(a, b) for a, b in zip(self.inputs, self.outputs, strict=True) if a.name == name]
        assert len(pairs) == 1, (name, [one.type for one, _ in pairs])
        return pairs[0]

    def first(self, kind: str) -> tuple[Resource, Resource] | None:
        """The first resource of a type, with inputs and with outputs."""
        pairs = zip(self.inputs, self.outputs, strict=True)
        return next(((a, b) for a, b in pairs if a.type == kind), None)

    @contextmanager
    def with_resource(self, one: Resource) -> Iterator[None]:
        """Add a resource temporarily."""
        self.inputs.append(one)
        self.outputs.append(one)
        try:
            yield
        finally:
            self.inputs.remove(one)
            self.outputs.remove(one)

    @contextmanager
    def without_resource(self, name: str) -> Iterator[None]:
        """Remove a resource temporarily."""
        index = next(n for n, one in enumerate(self.inputs) if one.name == name)
        removed = self.inputs.pop(index), self.outputs.pop(index)
        try:
            yield
        finally:
            self.inputs.insert(index, removed[0])
            self.outputs.insert(index, removed[1])

    def new_violations(self, types: set[str]) -> set[str]:
        """Checks with violations that the unchanged program does not have."""
        return {check for check, _ in self.violations(types) - self.before}


@contextmanager
def changed(resource: Resource, edits: Mapping[tuple[Any, ...], Any]) -> Iterator[None]:
    """Change properties of a resource temporarily; dependencies stay."""
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
    """A copy with the value at a path changed or removed; missing maps on the path are created."""
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
    """Paths at which a bad value differs from the good one, with the bad value."""
    if isinstance(good, Mapping) and isinstance(bad, Mapping):
        changes: dict[tuple[Any, ...], Any] = {}
        for key in [*good, *(key for key in bad if key not in good)]:
            if key not in bad:
                changes[(*path, key)] = MISSING
            elif key not in good:
                changes[(*path, key)] = bad[key]
            else:
                changes |= differences(good[key], bad[key], (*path, key))
        return changes
    if isinstance(good, list) and isinstance(bad, list) and len(good) == len(bad):
        merged: dict[tuple[Any, ...], Any] = {}
        for index, (one, other) in enumerate(zip(good, bad, strict=True)):
            merged |= differences(one, other, (*path, index))
        return merged
    return {} if good == bad else {path: bad}


def nearest(rule: AnyRule, bad: FixtureResource) -> FixtureResource:
    """The good fixture of the same type that differs least from a bad one."""
    kind = bad.type or rule.types[0]
    goods = [
        resource
        for good in FIXTURES[rule.name].good
        for resource in good.values()
        if (resource.type or rule.types[0]) == kind
    ]
    return min(goods, key=lambda good: len(differences(good.props, bad.props)), default=FixtureResource())

"""Predicates for single properties that many checks use, as functions that return a check's `find`.

Each reports only what is certain: an unknown value is never a violation. A place is a dotted path, or a function that
finds the property where it is not at the same path in each type. `types` are those that are evaluated, by default all.
"""

from collections.abc import Callable, Iterator
from typing import Any

from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.rule import Context, Violation, violation

Find = Callable[[Resource, Context], Iterator[Violation]]
Place = str | Callable[[Resource], Node]


def present(place: Place, *types: str) -> Find:
    """It must be set."""
    return _check(place, lambda node, _: node.missing, types)


def absent(place: Place, *types: str) -> Find:
    """It must not be set."""
    return _check(place, lambda node, _: node.known, types)


def true(place: Place, *types: str, default: bool = False) -> Find:
    """It must be true; `default` is AWS's default."""
    return _check(place, lambda node, _: node.is_false(default=default), types)


def false(place: Place, *types: str, default: bool = False) -> Find:
    """It must be false; `default` is AWS's default."""
    return _check(place, lambda node, _: node.is_true(default=default), types)


def is_in(place: Place, *accepted: Any, types: tuple[str, ...] = (), default: Any = None) -> Find:
    """It, or AWS's default where it is not set, must be one of these values."""

    def wrong(node: Node, _: Context) -> bool:
        return (default if node.missing else node.raw) not in accepted and not node.unknown

    return _check(place, wrong, types)


def not_in(place: Place, *refused: Any, types: tuple[str, ...] = (), default: Any = None) -> Find:
    """It, or AWS's default where it is not set, must be none of these values."""
    return _check(place, lambda node, _: (default if node.missing else node.raw) in refused, types)


def in_setting(place: Place, setting: str, *types: str) -> Find:
    """It must be one of the values of a setting."""
    return _check(place, lambda node, context: node.is_not(*context.settings[setting]), types)


def listed(place: Place, setting: str, *types: str) -> Find:
    """Where it is set, it must be one of the values of a setting."""
    return _check(place, lambda node, context: node.known and node.raw not in context.settings[setting], types)


def at_least(place: Place, setting: str, *types: str, default: float = 0) -> Find:
    """It must be a number that is at least the value of a setting."""

    def small(node: Node, context: Context) -> bool:
        number = default if node.missing else node.number()
        return number is not None and number < context.settings[setting]

    return _check(place, small, types)


def at_most(place: Place, setting: str, *types: str, default: float = 0) -> Find:
    """It must be a number that is at most the value of a setting."""

    def large(node: Node, context: Context) -> bool:
        number = default if node.missing else node.number()
        return number is not None and number > context.settings[setting]

    return _check(place, large, types)


def filled(place: Place, *types: str) -> Find:
    """It must be a list that is not empty."""
    return _check(place, lambda node, _: node.missing or node.raw == [], types)


def _check(place: Place, wrong: Callable[[Node, Context], bool], types: tuple[str, ...]) -> Find:
    def find(resource: Resource, context: Context) -> Iterator[Violation]:
        if not types or resource.type in types:
            node = resource.props.at(*place.split(".")) if isinstance(place, str) else place(resource)
            if wrong(node, context):
                yield violation(node, at=resource)

    return find


def both(*finds: Find) -> Find:
    """All of them must hold."""

    def find(resource: Resource, context: Context) -> Iterator[Violation]:
        for one in finds:
            yield from one(resource, context)

    return find


def unless_set(setting: str, find: Find) -> Find:
    """It must hold, unless a setting allows otherwise."""

    def refused(resource: Resource, context: Context) -> Iterator[Violation]:
        yield from (found for found in find(resource, context) if not context.settings[setting])

    return refused


def each(
    token: str | tuple[str, ...], find: Find, unless: Callable[[Stack, Resource], bool] | None = None
) -> Callable[..., Any]:
    """A check of every resource of a type, or of several, in the stack, except those for which `unless` is true."""
    types = (token,) if isinstance(token, str) else token

    def every(stack: Stack, context: Context) -> Iterator[Violation]:
        for resource in stack.of(*types):
            if unless is None or not unless(stack, resource):
                yield from find(resource, context)

    return every


def companions(stack: Stack, subject: Resource, token: str, key: str) -> list[Resource]:
    """Resources of a type that refer to another one: a property is an output of it, or its name."""
    name = subject[key].text()
    return [
        other
        for other in stack.of(token)
        if subject in other.source(key, subject.type) or (name is not None and other[key].raw == name)
    ]


def has_companion(
    token: str,
    key: str,
    of: str,
    got: str,
    *,
    inline: Callable[[Resource], bool] = lambda _: False,
    counts: Callable[[Resource], bool] = lambda _: True,
) -> Callable[..., Any]:
    """Every resource of a type must have a companion, such as a bucket its public access block.

    Args:
        token: Type of the companion.
        key: Property of the companion that refers to the resource.
        of: Type of the resource.
        got: What a resource without one is.
        inline: Whether the resource says the same in properties of its own.
        counts: Whether a companion is enough.
    """

    def missing(stack: Stack, _: Context) -> Iterator[Violation]:
        for subject in stack.of(of):
            there = inline(subject) or any(map(counts, companions(stack, subject, token, key)))
            if not there and not _undecided(stack, subject, token, key):
                yield Violation(path="", got=got, at=subject)

    return missing


def _undecided(stack: Stack, subject: Resource, token: str, key: str) -> bool:
    """Whether a resource without a dependency may be the companion: one of the two names is unknown."""
    independent = [other[key] for other in stack.of(token) if not other.sources.get(key)]
    return any(name.unknown or subject[key].unknown for name in independent)

"""Whether an object is one that the stack file gives, and the same, by its inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.rule import Violation, violation
from spec.quantities import parse

if TYPE_CHECKING:
    from components.composition.boundaries import Boundaries, Identity

_OF_TYPE = ("apiVersion", "kind")
"""`kubernetes-kind-of-type` compares these with the type."""
_DROPPED = "globalDefault"


def identity_of(one: Resource) -> Identity | None:
    """Type, namespace and name of an object; None if one of them is not known yet."""
    place, name = one["metadata"]["namespace"], one["metadata"]["name"]
    return None if place.unknown or name.unknown else (one.type, place.text() or "", name.text() or "")


def may_be_given(known: Boundaries | None, one: Resource) -> bool:
    """Whether the stack file gives an object of this name, as far as it is known: `boundaries-as-given` compares it."""
    identity = identity_of(one)
    return known is not None and (identity is None or identity in known.objects)


def differences(given: Mapping[str, Any], got: Node) -> Iterator[Violation]:
    """Where an object differs from the manifest that the stack file gives; nothing for unknown values.

    A field that the manifest has as empty may be missing: the provider drops it, and the `globalDefault` that is false
    (pulumi-kubernetes v4.34.2, provider/pkg/clients/unstructured.go, Normalize). One that the manifest lacks may not be
    there, even empty: `{}` selects everything.
    """
    wanted = {key: value for key, value in given.items() if key not in _OF_TYPE}
    yield from _maps(wanted, got, _OF_TYPE)


def _compare(given: Any, got: Node) -> Iterator[Violation]:
    if got.unknown or (got.missing and (given in ({}, [], "", None) or got.path == _DROPPED)):
        return
    if isinstance(given, Mapping) and isinstance(got.raw, dict):
        yield from _maps(given, got)
    elif isinstance(given, list | tuple) and isinstance(got.raw, list) and len(given) == len(got.raw):
        for one, node in zip(given, got.items(), strict=True):
            yield from _compare(one, node)
    elif not _equal(given, got.raw):
        yield violation(got)


def _maps(given: Mapping[str, Any], got: Node, skipped: tuple[str, ...] = ()) -> Iterator[Violation]:
    for key, value in given.items():
        yield from _compare(value, got[key])
    for key, node in got.fields().items():
        if key not in given and key not in skipped and not node.missing and not node.unknown:
            yield violation(node)


def _equal(given: Any, got: Any) -> bool:
    """Whether scalars are equal: numbers arrive as floats, and the provider writes a quantity in its own way."""
    if isinstance(given, str) and isinstance(got, str) and given != got:
        try:
            return parse(given) == parse(got)
        except ValueError:
            return False
    return bool(given == got) and isinstance(given, bool) == isinstance(got, bool)

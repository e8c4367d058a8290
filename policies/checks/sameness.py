"""Whether a resource is one that the stack file gives, and the same, by its inputs."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.rule import Violation
from spec.quantities import parse

if TYPE_CHECKING:
    from infra.boundaries import Boundaries, Identity
    from spec.settings.extensions import Extension

_OF_TYPE = ("apiVersion", "kind")  # `kubernetes-kind-of-type` compares these with the type
_DROPPED = "globalDefault"
HIDDEN: Final = "[unknown]"
MASKED: Final = ("[secret]", HIDDEN)  # values that a rendering does not show (`slipway.render.recording`)
_DIGEST: Final = r"(?<![0-9a-f:])(?!\d{12}\b)[0-9a-f]{7,40}(?![0-9a-f])"
"""Digits of a digest, but no account number, and no digest of an image."""
_PLAIN: Final = re.compile(r"[\w ./-]*")  # a text that names no resource, address, document or pattern


def identity_of(one: Resource) -> Identity | None:
    """Type, namespace and name of an object; None if one of them is not known yet."""
    place, name = one["metadata"]["namespace"], one["metadata"]["name"]
    return None if place.unknown or name.unknown else (one.type, place.text() or "", name.text() or "")


def may_be_given(known: Boundaries | None, one: Resource) -> bool:
    """Whether the stack file gives an object of this name, as far as it is known: `boundaries-as-given` compares it."""
    identity = identity_of(one)
    return known is not None and (identity is None or identity in known.objects)


def named(known: Boundaries | None, one: Resource) -> Extension | None:
    """What the stack file says of an object that the program's code adds, if it names it, as far as it is known."""
    place, name = one["metadata"]["namespace"], one["metadata"]["name"]
    for (kind, *where), extension in known.extensions.items() if known else ():
        parts = zip(where, (place, name), strict=True)
        if kind == one.type and all(node.unknown or text == (node.text() or "") for text, node in parts):
            return extension
    return None


def differences(given: Mapping[str, Any], got: Node) -> Iterator[Violation]:
    """Where an object differs from the manifest that the stack file gives; nothing for unknown values.

    A field that the manifest has as empty may be missing: the provider drops it, and the `globalDefault` that is false
    (pulumi-kubernetes v4.34.2, provider/pkg/clients/unstructured.go, Normalize). One that the manifest lacks may not be
    there, even empty: `{}` selects everything.
    """
    yield from Comparison().maps({key: value for key, value in given.items() if key not in _OF_TYPE}, got, _OF_TYPE)


class Comparison:
    """Compares inputs with given ones.

    Args:
        outputs: Expressions of other resources' outputs, by the sample in the given inputs.
        filled: Whether the provider of AWS has filled in names and defaults. The engine leaves out its list of them
            (pulumi v3.258.0, sdk/go/common/resource/plugin/analyzer_plugin.go, SkipInternalKeys): a number, a truth
            value or a text of words may be one.
    """

    def __init__(self, outputs: Mapping[str, str] | None = None, *, filled: bool = False) -> None:
        self._outputs = outputs or {}
        self._filled = filled

    def maps(self, given: Mapping[str, Any], got: Node, skipped: Collection[str] = ()) -> Iterator[Violation]:
        """Where a map differs, besides what it has at skipped keys and the given one has not."""
        for key, value in given.items():
            yield from self._values(value, got[key])
        for key, node in got.fields().items():
            if key not in given and key not in skipped and node.known and not self._default(node.raw):
                yield _violation("nothing", node)

    def _default(self, value: Any) -> bool:
        plain = _PLAIN.fullmatch(value) is not None if isinstance(value, str) else isinstance(value, bool | float | int)
        return self._filled and (plain or not value)

    def _values(self, given: Any, got: Node) -> Iterator[Violation]:
        if given in MASKED or got.unknown:
            return
        if got.missing and (given in ({}, [], "", None) or got.path == _DROPPED):
            return
        if isinstance(given, Mapping) and isinstance(got.raw, dict):
            yield from self.maps(given, got)
        elif isinstance(given, list | tuple) and isinstance(got.raw, list) and len(given) == len(got.raw):
            for one, node in zip(given, got.items(), strict=True):
                yield from self._values(one, node)
        elif not (_equal(given, got.raw) or (self._filled and _typed(given) == _typed(got.raw))):
            yield from self._texts(given, got)

    def _texts(self, given: Any, got: Node) -> Iterator[Violation]:
        """A text may be JSON, or base64 of another, and may have outputs of other resources in it."""
        if isinstance(given, str) and isinstance(got.raw, str):
            one, other = _document(given), _document(got.raw)
            if one is not None and other is not None:
                yield from self._values(one, Node(got.path, other))
                return
            if any(self._alike(form(given), form(got.raw)) for form in (str, _plain)):
                return
        yield _violation(given, got)

    def _alike(self, given: str, got: str) -> bool:
        if self._samples is None:
            return False
        parts, end = [], 0
        for found in self._samples.finditer(given):
            parts += [
                re.escape(given[end : found.start()]),
                self._outputs.get(found[0], f"[0-9a-f]{{{len(found[0])}}}"),
            ]
            end = found.end()
        return bool(parts) and re.fullmatch("".join([*parts, re.escape(given[end:])]), got) is not None

    @cached_property
    def _samples(self) -> re.Pattern[str] | None:
        """Any of the samples, the longest first, because an ARN has a name in it; or a digest, which may be of some."""
        longest = sorted(self._outputs, key=len, reverse=True)
        return (
            re.compile("|".join([*map(re.escape, longest), *([_DIGEST] if self._filled else [])])) if longest else None
        )


def _violation(given: Any, got: Node) -> Violation:
    shown = given if given == "nothing" else Node("", given).shown
    return Violation(path=got.path, got=f"{got.shown}, and the settings give {shown}", value=got.whole)


def _typed(value: Any) -> Any:
    """A number or truth value as text: the provider gives a scalar the type of its schema."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value) if value == int(value) else value) if isinstance(value, int | float) else value


def _document(text: str) -> Any:
    """The map or list that a text has as JSON; None for another text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


def _plain(text: str) -> str:
    """The text of which another one is base64, if it is: user data of nodes."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return text


def _equal(given: Any, got: Any) -> bool:
    """Whether scalars are equal: numbers arrive as floats, and the provider writes a quantity in its own way."""
    if isinstance(given, str) and isinstance(got, str) and given != got:
        try:
            return parse(given) == parse(got)
        except ValueError:
            return False
    return bool(given == got) and isinstance(given, bool) == isinstance(got, bool)

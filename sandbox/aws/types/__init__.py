"""The types of pulumi_aws that the sandbox knows more of than their schema, a row each.

`FAMILY.yaml` has the rows: how moto keeps a type (`ResourceMapping`) or what its record looks like (`Record`). Where
calls don't suffice, a row names a function of `FAMILY.py`. `and` of a call is `Call.also`, `replaces` is `force_new`;
other words are the fields' own names.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from sandbox.aws.limits.operations import OPERATIONS, Operations
from sandbox.aws.mapping import Call, Record, ResourceMapping, Setting, Tags
from spec import strict_yaml

_FAMILIES = ("network", "security_groups", "capacity", "iam", "messages", "secrets", "eks", "data")
_EC2 = Tags("create_tags", "delete_tags", {"Resources": ["{id}"]})
_WORDS = {"force_new": "replaces", "operation": "call", "also": "and"}
"""Fields that rows have other words for."""


class _Family:
    """The rows of a file and the functions that they name."""

    def __init__(self, code: ModuleType) -> None:
        self.code = code

    def mapping(self, token: str, row: dict[str, Any]) -> ResourceMapping:
        known = _fields(row, ResourceMapping)
        for word in ("create", "read", "delete", "replace_if"):
            known[word] = self.action(known.get(word))
        known["force_new"] = frozenset(known.pop("replaces", ()))
        known["settings"] = tuple(self.setting(each) for each in known.pop("settings", ()))
        known["tags"] = self.tags(known.pop("tags", None))
        for word in ("drift", "volatile"):
            known[word] = tuple(known.get(word, ()))
        return ResourceMapping(token, known.pop("service"), id=known.pop("id", ""), **known)

    def record(self, row: dict[str, Any]) -> Record:
        known = _fields(row, Record)
        return Record(
            force_new=frozenset(known.pop("replaces", ())), changed=self.action(known.pop("changed", None)), **known
        )

    def action(self, words: Any) -> Any:
        """A call, or the function of a name; None for none."""
        return getattr(self.code, words) if isinstance(words, str) else words and self.call(words)

    def call(self, words: dict[str, Any]) -> Call:
        known = _fields(words, Call)
        known["omit"] = frozenset(known.get("omit", ()))
        known["adapt"] = self.action(known.get("adapt"))
        known["also"] = {member: self.call(more) for member, more in known.pop("and", {}).items()}
        return Call(known.pop("call"), **known)

    def setting(self, words: dict[str, Any]) -> Setting:
        known = _fields(words, Setting)
        keys, apply = tuple(known.pop("keys")), self.action(known.pop("apply"))
        unset = known.pop("unset", None)
        return Setting(
            keys, apply, unless=frozenset(known.pop("unless", ())), unset=unset and self.call(unset), **known
        )

    def tags(self, words: Any) -> Tags | None:
        """A text is EC2's name of the type: EC2 tags any object by its id."""
        if words is None:
            return None
        if isinstance(words, str):
            return replace(_EC2, specification=words)
        known = _fields(words, Tags)
        read = known.pop("read", None)
        known["read"] = read and self.call({"target": known["target"], **read})
        return Tags(replace=self.action(known.pop("replace", None)), **known)


def _fields(row: Mapping[str, Any], kind: type) -> dict[str, Any]:
    words = {_WORDS.get(one.name, one.name).replace("_", "-") for one in fields(kind)} - {"type"}
    if unknown := sorted(row.keys() - words):
        msg = f"unknown: {', '.join(unknown)}; known: {', '.join(sorted(words))}"
        raise TypeError(msg)
    return {word.replace("-", "_"): value for word, value in row.items()}


def _sends_members(mapping: ResourceMapping, operations: Operations) -> ResourceMapping:
    """With properties inside others under the names that the table of members has for them."""
    if not isinstance(mapping.create, Call):
        return mapping
    inner = {path: name for path, name in operations.members.items() if "." in path and not {*":."} & {*name}}
    return replace(mapping, create=replace(mapping.create, rename={**inner, **mapping.create.rename}))


def _load() -> tuple[dict[str, ResourceMapping], dict[str, Record]]:
    mappings: dict[str, ResourceMapping] = {}
    records: dict[str, Record] = {}
    for name in _FAMILIES:
        family = _Family(importlib.import_module(f"{__name__}.{name}"))
        file = Path(__file__).with_name(f"{name}.yaml")
        for token, row in strict_yaml.read(file.read_text(encoding="utf-8")).items():
            try:
                if "record" in row:
                    records[token] = family.record(row["record"])
                else:
                    mappings[token] = _sends_members(family.mapping(token, row), OPERATIONS[token])
            except (AttributeError, KeyError, TypeError) as error:
                msg = f"{file.name}: {token}: {error}"
                raise ValueError(msg) from error
    return mappings, records


_MAPPINGS, _RECORDS = _load()
MAPPINGS: Mapping[str, ResourceMapping] = MappingProxyType(_MAPPINGS)
"""By type: those that are kept in moto."""
RECORDS: Mapping[str, Record] = MappingProxyType(_RECORDS)
"""By type: those that exist in the Pulumi state alone, and of which more is known than their schema."""

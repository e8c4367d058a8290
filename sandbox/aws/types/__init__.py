"""The types of pulumi_aws that the sandbox knows more of than their schema, a row each.

`FAMILY.yaml` has the rows: how moto keeps a type (`ResourceMapping`) or what its record looks like (`Record`), and
which of AWS's operations takes which input (`Operations`). Where calls don't suffice, a row names a function of
`FAMILY.py`. `and` of a call is `Call.also`, `replaces` is `force_new`; other words are the fields' own names.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from sandbox.aws.mapping import Call, Operations, Reason, Record, ResourceMapping, Setting, Tags
from spec import strict_yaml

_FAMILIES = ("network", "security_groups", "capacity", "iam", "messages", "secrets", "eks", "data")
_EC2 = Tags("create_tags", "delete_tags", {"Resources": ["{id}"]})
_WORDS = {"force_new": "replaces", "operation": "call", "also": "and"}
"""Fields that rows have other words for."""
_REASONS = {reason.name.lower().replace("_", "-"): reason for reason in Reason}


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


def _fields(row: Mapping[str, Any], kind: type, more: Iterable[str] = ()) -> dict[str, Any]:
    words = {_WORDS.get(one.name, one.name).replace("_", "-") for one in fields(kind)} - {"type", "unmapped"} | {*more}
    if unknown := sorted(row.keys() - words):
        msg = f"unknown: {', '.join(unknown)}; known: {', '.join(sorted(words))}"
        raise TypeError(msg)
    return {word.replace("-", "_"): value for word, value in row.items()}


def _operations(token: str, row: Mapping[str, Any]) -> Operations:
    if "limits" not in row and isinstance(row.get("create"), str):
        msg = "`create` is a function, so `limits` has to name its operations"
        raise TypeError(msg)
    words = _fields(row.get("limits") or {"operations": [row["create"]["call"]]}, Operations, _REASONS)
    reasons = {name: _REASONS[word] for word in _REASONS for name in words.pop(word.replace("-", "_"), ())}
    supplied, operations = frozenset(words.pop("supplied", ())), tuple(words.pop("operations"))
    return Operations(
        token, words.pop("service", row["service"]), operations, supplied=supplied, unmapped=reasons, **words
    )


def _sends_members(mapping: ResourceMapping, operations: Operations) -> ResourceMapping:
    """With properties inside others under the names that the table of members has for them."""
    if not isinstance(mapping.create, Call):
        return mapping
    inner = {path: name for path, name in operations.members.items() if "." in path and not {*":."} & {*name}}
    return replace(mapping, create=replace(mapping.create, rename={**inner, **mapping.create.rename}))


def _load() -> tuple[dict[str, ResourceMapping], dict[str, Record], dict[str, Operations]]:
    mappings: dict[str, ResourceMapping] = {}
    records: dict[str, Record] = {}
    operations: dict[str, Operations] = {}
    for name in _FAMILIES:
        family = _Family(importlib.import_module(f"{__name__}.{name}"))
        file = Path(__file__).with_name(f"{name}.yaml")
        for token, row in strict_yaml.read(file.read_text(encoding="utf-8")).items():
            try:
                operations[token] = _operations(token, row)
                mapped = {word: value for word, value in row.items() if word not in ("limits", "record")}
                if "create" in row:
                    mappings[token] = _sends_members(family.mapping(token, mapped), operations[token])
                elif "record" in row:
                    records[token] = family.record(row["record"])
            except (AttributeError, KeyError, TypeError) as error:
                msg = f"{file.name}: {token}: {error}"
                raise ValueError(msg) from error
    return mappings, records, operations


_MAPPINGS, _RECORDS, _OPERATIONS = _load()
MAPPINGS: Mapping[str, ResourceMapping] = MappingProxyType(_MAPPINGS)
"""By type: those that are kept in moto."""
RECORDS: Mapping[str, Record] = MappingProxyType(_RECORDS)
"""By type: those that exist in the Pulumi state alone, and of which more is known than their schema."""
OPERATIONS: Mapping[str, Operations] = MappingProxyType(_OPERATIONS)
"""By type: every type that the stacks use or moto keeps."""

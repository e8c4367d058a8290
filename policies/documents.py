"""IAM documents and other JSON in properties, read as safely as the properties themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from policies.access import Node, WrongTypeError


@lru_cache(maxsize=1024)
def _json(text: str) -> Any:
    return json.loads(text)


def parsed(node: Node) -> Node:
    """What a text of JSON says; a map is taken as it is, and what is unknown or missing stays so."""
    if not isinstance(node.raw, str):
        return node
    try:
        return Node(node.path, _json(node.raw))
    except ValueError as error:
        raise WrongTypeError(node, "JSON") from error


def listed(node: Node) -> list[Node]:
    """Entries of a list, or the one value that stands for a list of one, as IAM allows everywhere."""
    if node.known and not isinstance(node.raw, list):
        return [node]
    return node.items()


@dataclass(frozen=True)
class Statement:
    """One statement of an IAM document."""

    node: Node

    @property
    def allows(self) -> bool:
        """Whether it certainly gives rights."""
        return bool(self.node["Effect"].raw == "Allow")

    @property
    def actions(self) -> list[str]:
        """Known actions that it names, in lower case, since IAM does not tell cases apart."""
        return [str(action.raw).lower() for action in listed(self.node["Action"]) if action.known]

    @property
    def inverted(self) -> bool:
        """Whether it gives every action but some."""
        return not self.node["NotAction"].missing

    @property
    def everywhere(self) -> bool:
        """Whether it certainly is about every resource."""
        return any(resource.raw == "*" for resource in listed(self.node["Resource"]))

    @property
    def conditions(self) -> dict[str, list[Node]]:
        """Values by condition key, in lower case; of all operators."""
        found: dict[str, list[Node]] = {}
        for operator in self.node["Condition"].fields().values():
            for key, values in operator.fields().items():
                found.setdefault(key.lower(), []).extend(listed(values))
        return found

    def principals(self, kind: str) -> list[Node]:
        """Principals of a kind; `*` alone is everybody, of kind AWS."""
        principal = self.node["Principal"]
        if isinstance(principal.raw, str):
            return [principal] if kind == "AWS" else []
        return listed(principal[kind])


def statements(node: Node) -> Iterator[Statement]:
    """Statements of a document that is known; none of one that is not."""
    document = parsed(node)
    for statement in listed(document["Statement"]):
        if statement.known:
            yield Statement(statement)


def refuses_plain_transport(document: Node) -> bool:
    """Whether a resource's policy certainly denies everybody what is asked for without TLS."""
    return any(
        statement.node["Effect"].raw == "Deny"
        and any(value.raw in ("false", False) for value in statement.conditions.get("aws:securetransport", ()))
        for statement in statements(document)
    )

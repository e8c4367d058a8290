"""IAM policy documents and other JSON in properties, with the access of `policies.resources.access`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from policies.resources.access import Node, WrongTypeError


@lru_cache(maxsize=1024)
def _json(text: str) -> Any:
    return json.loads(text)


def parsed(node: Node) -> Node:
    """The value of a JSON text; maps, unknown and missing values are returned unchanged."""
    if not isinstance(node.raw, str):
        return node
    try:
        return Node(node.path, _json(node.raw))
    except ValueError as error:
        raise WrongTypeError(node, "JSON") from error


def listed(node: Node) -> list[Node]:
    """Entries of a list, or the single value: IAM accepts both everywhere."""
    if node.known and not isinstance(node.raw, list):
        return [node]
    return node.items()


@dataclass(frozen=True)
class Statement:
    """One statement of an IAM policy document."""

    node: Node

    @property
    def allows(self) -> bool:
        """Whether its effect is certainly Allow."""
        return bool(self.node["Effect"].raw == "Allow")

    @property
    def actions(self) -> list[str]:
        """Its known actions, in lower case: IAM is case-insensitive."""
        return [str(action.raw).lower() for action in listed(self.node["Action"]) if action.known]

    @property
    def inverted(self) -> bool:
        """Whether it uses NotAction."""
        return not self.node["NotAction"].missing

    @property
    def everywhere(self) -> bool:
        """Whether it certainly applies to every resource, or to every one of a service or of an account."""
        patterns = [str(resource.raw) for resource in listed(self.node["Resource"]) if resource.known]
        return not self.node["NotResource"].missing or any(_all_of(pattern) for pattern in patterns)

    @property
    def where(self) -> str:
        """Its resources, for messages."""
        if not self.node["NotResource"].missing:
            return "every resource but some"
        return ", ".join(sorted(one.whole for one in listed(self.node["Resource"])))

    @property
    def conditions(self) -> dict[str, list[Node]]:
        """Values by condition key, in lower case, of all operators."""
        values_by_key: dict[str, list[Node]] = {}
        for operator in self.node["Condition"].fields().values():
            for key, values in operator.fields().items():
                values_by_key.setdefault(key.lower(), []).extend(listed(values))
        return values_by_key

    def principals(self, kind: str) -> list[Node]:
        """Principals of a kind; a plain `*` counts as kind AWS."""
        principal = self.node["Principal"]
        if isinstance(principal.raw, str):
            return [principal] if kind == "AWS" else []
        return listed(principal[kind])


def _all_of(pattern: str) -> bool:
    return pattern.split(":", 5)[-1].strip("*?/") == ""


def statements(node: Node) -> Iterator[Statement]:
    """Known statements of a document."""
    document = parsed(node)
    for statement in listed(document["Statement"]):
        if statement.known:
            yield Statement(statement)


def refuses_plain_transport(document: Node) -> bool:
    """Whether a resource policy certainly denies all requests of all principals without TLS."""
    return any(
        statement.node["Effect"].raw == "Deny"
        and any(who.raw == "*" for who in statement.principals("AWS"))
        and any(action.endswith("*") for action in statement.actions)
        and set(statement.conditions) == {"aws:securetransport"}
        and all(value.raw in ("false", False) for value in statement.conditions["aws:securetransport"])
        for statement in statements(document)
    )

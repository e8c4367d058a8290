"""URNs in the engine's format (pulumi v3.258.0, pkg/resource/deploy/deployment.go, generateURN)."""

from __future__ import annotations

from typing import Final

STACK_TYPE: Final = "pulumi:pulumi:Stack"


def qualified_type(urn: str) -> str:
    """The type part of a URN: the types of its ancestors and its own, joined by `$`."""
    return urn.split("::")[2]


def resource_type(urn: str) -> str:
    """The type of the resource itself."""
    return qualified_type(urn).rpartition("$")[2]


def make_urn(stack: str, project: str, parent: str | None, type_: str, name: str) -> str:
    """The URN of a resource with a parent; the chain omits the stack's own type."""
    above = qualified_type(parent) if parent else STACK_TYPE
    chain = type_ if above == STACK_TYPE else f"{above}${type_}"
    return f"urn:pulumi:{stack}::{project}::{chain}::{name}"

"""Whom the stack file gives access to the cluster."""

from __future__ import annotations

from policies.resources.access import texts
from policies.resources.resource import Stack
from policies.resources.tokens import ENTRIES


def listed_principals(stack: Stack) -> set[str] | None:
    """ARNs of the access entries in the stack file. None if one is not known: a principal that another resource of the
    stack outputs is unknown in a preview, and is judged by the update."""
    lists = [entries["principals"] for entries in stack.of(ENTRIES)]
    known = [one for names in lists for one in names.items()]
    return None if any(one.unknown for one in [*lists, *known]) else texts(known)

"""Deletion of stateful resources: `protect`, and no option that deletes their contents."""

from collections.abc import Iterator
from typing import Final

from policies.checks.questions import false
from policies.resources.resource import Resource
from policies.resources.tokens import BUCKET, DATABASE, EFS, KEY, LUSTRE, OPEN_ZFS, REPOSITORY
from policies.rule import Context, ResourceRule, Violation

_STATEFUL: Final = (KEY, EFS, LUSTRE, OPEN_ZFS, BUCKET, DATABASE)


def _unprotected(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type in _STATEFUL and not resource.protect:
        yield Violation(path="", got="unprotected")


STATEFUL_PROTECTED = ResourceRule(
    name="stateful-protected",
    types=(*_STATEFUL, REPOSITORY),
    finds={
        "protect": _unprotected,
        "emptied": false("forceDestroy", BUCKET),
        "images": false("forceDelete", REPOSITORY),
    },
)

"""IDs of a VPC and its subnets that the caller chooses, by the tag that moto has for this.

Moto 5.2.5 honours the tag for some services (moto/utilities/id_generator.py, TAG_KEY_CUSTOM_ID), not for EC2. A stack
file names an existing VPC by its ID on AWS, so a rehearsal needs one with that ID.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

TAG: Final = "_custom_id_"
_WANTED: Final[ContextVar[str]] = ContextVar("wanted", default="")


def install() -> None:
    """Let moto take the IDs of VPCs and subnets from the tag. A second call does nothing."""
    from moto.ec2.models import subnets, vpcs  # noqa: PLC0415

    _install(vpcs, vpcs.VPCBackend, "create_vpc", "random_vpc_id")
    _install(subnets, subnets.SubnetBackend, "create_subnet", "random_subnet_id")


def _install(module: Any, backend: Any, create: str, random: str) -> None:
    original = getattr(backend, create)
    if not hasattr(original, "__wrapped__"):
        setattr(backend, create, _chosen(original))
        setattr(module, random, _id(getattr(module, random)))


def _chosen(create: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(create)
    def call(backend: Any, *args: Any, tags: Any = None, **more: Any) -> Any:
        id, kept = _taken_out(tags)
        token = _WANTED.set(id)
        try:
            return create(backend, *args, tags=kept, **more)
        finally:
            _WANTED.reset(token)

    return call


def _taken_out(tags: Any) -> tuple[str, Any]:
    """The ID, and the other tags: moto has those of a VPC as a list of pairs, those of a subnet as a map by type."""
    if isinstance(tags, dict):
        of_type = {type: dict(pairs) for type, pairs in tags.items()}
        ids = [pairs.pop(TAG) for pairs in of_type.values() if TAG in pairs]
        return (ids[0] if ids else ""), of_type
    ids = [one["Value"] for one in tags or () if one["Key"] == TAG]
    return (ids[0] if ids else ""), [one for one in tags or () if one["Key"] != TAG]


def _id(make: Callable[[], str]) -> Callable[[], str]:
    return lambda: _WANTED.get() or make()

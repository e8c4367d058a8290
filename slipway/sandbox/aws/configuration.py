"""The account and region of an `aws.Provider`, from its arguments.

Credentials, profiles and roles are accepted and ignored: the sandbox serves whichever account the stack names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slipway.sandbox.aws.client import DEFAULT_ACCOUNT, Aws, Clients
from slipway.sandbox.ports import Clusters, ManagedAddons, NodeObserver
from slipway.sandbox.rpc import wire
from slipway.sandbox.rpc.errors import ProviderError

_REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")


@dataclass(frozen=True)
class World:
    """What all provider instances share; `account` is set if the sandbox was started for one account only."""

    clients: Clients
    account: str | None = None
    clusters: Clusters | None = None
    nodes: NodeObserver | None = None
    addons: ManagedAddons | None = None


def session(world: World, config: Mapping[str, Any]) -> Aws:
    """The account and region of one provider instance. Raises ProviderError with the AWS provider's message."""
    return Aws(
        world.clients,
        _region(config),
        _account(world, config),
        _default_tags(wire.nested(config.get("defaultTags"))),
        world.clusters,
        world.nodes,
    )


def _region(config: Mapping[str, Any]) -> str:
    named = [config.get("region"), *(os.environ.get(name) for name in _REGION_VARIABLES)]
    region = next((region for region in named if region), None)
    if not region:
        msg = (
            "missing region configuration: set it with `pulumi config set aws:region REGION`, as the argument `region` "
            "of aws.Provider, or as AWS_REGION when you start the sandbox"
        )
        raise ProviderError(msg)
    return str(region)


def _account(world: World, config: Mapping[str, Any]) -> str:
    """The first account that the stack allows. Refuses another account of the sandbox like the AWS provider."""
    allowed = [str(account) for account in wire.nested(config.get("allowedAccountIds")) or []]
    forbidden = [str(account) for account in wire.nested(config.get("forbiddenAccountIds")) or []]
    account = world.account or (allowed[0] if allowed else DEFAULT_ACCOUNT)
    if (allowed and account not in allowed) or account in forbidden:
        listed = f"allowed are {', '.join(allowed)}" if allowed else "it is forbidden"
        msg = (
            f"AWS account ID not allowed: {account} ({listed}). The sandbox was started for account {account}: start "
            "it for the stack's account, or without an account to serve whichever one a stack names"
        )
        raise ProviderError(msg)
    return account


def _default_tags(value: Any) -> dict[str, str]:
    tags = (value or {}).get("tags") or {}
    return {str(key): str(item) for key, item in tags.items()}

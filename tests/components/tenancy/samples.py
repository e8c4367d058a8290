"""Teams in stack file settings, and their resources."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import pulumi

from components.queues import QueuesArgs, queues
from components.tenancy import TeamContext, teams
from infra.facts import of_teams
from spec.pools import resolve_all
from spec.pools.pool_spec import PoolSpec
from spec.settings.platform import Platform
from tests.components.pools.samples import platform as any_platform
from tests.support.context import POOLS, addon_context
from tests.support.mocks import ACCOUNT, Recording, providers, run

VISION: Final[dict[str, Any]] = {
    "project": "perception",
    "costCenter": "ml-vision",
    "budgetUsd": 20000,
    "members": {
        "leads": {"principalArn": f"arn:aws:iam::{ACCOUNT}:role/vision-lead", "role": "admin"},
        "engineers": {"principalArn": f"arn:aws:iam::{ACCOUNT}:role/vision"},
    },
    "namespaces": {"training": {"purpose": "training"}, "serving": {"purpose": "serving", "share": 50}},
    "gpus": {"a100": {"nominalQuota": 4}, "h100": {"nominalQuota": 8, "borrowingLimit": 8}},
    "cpus": {"cpu": {"nominalQuota": 16}},
}
LANGUAGE: Final[dict[str, Any]] = {
    "project": "assistant",
    "costCenter": "ml-language",
    "gpus": {"h100": {"nominalQuota": 8, "lendingLimit": 8}},
    "weight": 2,
}
TEAMS: Final[Mapping[str, Mapping[str, Any]]] = {"vision": VISION, "language": LANGUAGE}


def platform(
    team_settings: Mapping[str, Mapping[str, Any]] = TEAMS,
    more: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    **parts: Any,
) -> Platform:
    """Teams on one pool of every kind, and on `more` pools."""
    return any_platform({**POOLS, **more}, teams=team_settings, **{"addons": {"kueue": {}}, **parts})


def pools() -> dict[str, PoolSpec]:
    return resolve_all(platform())


def record(team_settings: Mapping[str, Mapping[str, Any]] = TEAMS, **parts: Any) -> Recording:
    """The resources of teams and their queues, without their dependencies."""

    def build() -> None:
        opts = pulumi.ResourceOptions(providers=providers())
        parts_of_all = {"teams": team_settings, **{"addons": {"kueue": {}}, **parts}}
        context, settings = addon_context(opts, **parts_of_all), any_platform(POOLS, **parts_of_all)
        known = TeamContext(**vars(of_teams(settings)), cluster=context.cluster, storage=context.storage)
        outputs = teams(settings.teams, known, opts)
        kueue = settings.addons.kueue
        shared = QueuesArgs(
            settings=settings.queues,
            pools=context.pools,
            cluster=context.cluster,
            kueue=(),
            worker=kueue is not None and kueue.multi_kueue == "worker",
        )
        queues(shared, outputs, opts)

    return run(build)

"""What workloads use, from the settings of a platform; and the entry point of a program with workloads, which selects
platform, namespace and cluster.

    from infra.target import connect

    build(*connect())

The platform's settings come from its stack file, which is validated. The cluster is the kubeconfig context with the
cluster's name: `slipway sandbox env` sets it for the sandbox, `aws eks update-kubeconfig --name NAME --alias NAME` on
AWS.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pulumi
import pulumi_kubernetes as kubernetes

from components.addons.kserve.runtimes import NamedRuntime, named
from components.addons.kueue import frameworks
from components.queues import with_topology
from components.storage import drivers
from components.storage.claims import EFS_DRIVER, LUSTRE_DRIVER
from components.tenancy.network_policies import SERVES
from components.workloads.target import Target
from spec.pools import resolve_all
from spec.pricing.pods import device_prices, job_usd
from spec.settings import ConfigurationError, Platform, Problem, load, read_stack
from spec.settings.addons.tracking import Mlflow
from spec.teams import labels, tracking


def target_of(platform: Platform, *, namespace: str) -> Target:
    """The target from a platform's settings.

    Raises:
        ConfigurationError: For a namespace of no team, if the platform has teams.
    """
    pools = resolve_all(platform)
    common = Target(
        pools=pools,
        namespace=namespace,
        queue="default" if platform.addons.kueue else None,
        aliases=platform.queues.aliases,
        queued=frozenset(frameworks(platform.addons)) if platform.addons.kueue else frozenset(),
        classes=_classes(platform),
        labels={labels.TEAM: namespace},
        cluster=platform.cluster_name,
        region=platform.account.region,
        addons=frozenset(type(settings) for _, settings in platform.addons.wanted()),
        runtimes=_runtimes(platform),
        storage_class=platform.storage.block_class,
        rolls_back=platform.addons.kserve is not None and platform.addons.kserve.canary_rollback is not None,
        by_topology=with_topology(pools, platform.queues) if platform.addons.kueue else None,
        prices=device_prices(platform),
    )
    if not platform.teams:
        return common
    for name, team in platform.teams.items():
        if space := team.namespaces_of(name).get(namespace):
            return replace(
                common,
                labels=labels.of_team(name, team),
                shares={pool: share.maximum for pool, share in team.shares.items()},
                priorities=tuple(str(priority) for priority in team.priorities),
                open=space.purpose in SERVES,
                pod_security=space.pod_security,
                job_usd=job_usd(platform).get(name),
                env={tracking.VARIABLE: tracking.address(name)} if platform.addons.has(Mlflow) else {},
            )
    known = sorted(each for name, team in platform.teams.items() for each in team.namespaces_of(name))
    fix = f"Name one (`-n` of a command): {', '.join(known)}; or add a team to the stack file."
    raise ConfigurationError([Problem("namespace", "it must be a namespace of a team", namespace, fix)], "target")


def target_from_file(stack: str, directory: Path, *, namespace: str) -> Target:
    """The target from `Pulumi.<stack>.yaml` in a directory. Needs neither Pulumi engine nor AWS.

    Raises:
        ConfigurationError: For a missing or invalid file, or a namespace of no team.
    """
    return target_of(load(read_stack(stack, directory), stack=stack).platform, namespace=namespace)


def _classes(platform: Platform) -> Mapping[str, str]:
    shared = {drivers.SHARED: EFS_DRIVER} if platform.storage.efs else {}
    parallel = {drivers.LUSTRE: LUSTRE_DRIVER} if platform.storage.lustre else {}
    return {platform.storage.block_class: drivers.EBS_DRIVER, **shared, **parallel}


def _runtimes(platform: Platform) -> Mapping[str, NamedRuntime]:
    kserve = platform.addons.kserve
    return named(resolve_all(platform), kserve.runtimes) if kserve else {}


STACKS: Final = Path("../../stacks")  # folder of the stack files, relative to the folder of an example program


def connect() -> tuple[Target, pulumi.ResourceOptions]:
    """The target and the resource options with its provider, from the configuration of the running program.

    Keys, all optional but `namespace`: `platform`, the stack of the platform (by default the program's own stack);
    `namespace`; `stacks`, the folder of the stack files.

    Raises:
        pulumi.RunError: For an invalid stack file or namespace.
    """
    config = pulumi.Config()
    stack = config.get("platform") or pulumi.get_stack()
    folder = Path(config.get("stacks") or STACKS)
    try:
        target = target_from_file(stack, folder.resolve(), namespace=config.require("namespace"))
    except ConfigurationError as error:
        raise pulumi.RunError(str(error)) from None
    provider = kubernetes.Provider("platform", kubeconfig=kubeconfig(), context=target.cluster)
    return target, pulumi.ResourceOptions(providers=[provider])


def kubeconfig() -> str:
    """Path of the kubeconfig; the first one if the variable lists several."""
    first = os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
    return first or str(Path.home() / ".kube" / "config")

"""What each component takes, from the settings of a stack: one function for each. No component knows the settings."""

from collections.abc import Mapping
from dataclasses import replace

from components.addons import registry
from components.admission import StackContext
from components.base.addon import AddOnFacts
from components.base.outputs import ClusterOutputs, NetworkOutputs
from components.composition.cost_guards import elastic_schedules
from components.composition.cron_jobs import CronJobs
from components.composition.scripts import Objects, scripts
from components.network import NetworkArgs
from components.observability.notifications import NotificationsArgs
from components.queues import with_topology
from components.storage import StorageArgs
from components.tenancy.namespace import TeamFacts
from components.tenancy.network_policies import SERVES
from spec.catalog import regions
from spec.pools import resolve_all
from spec.pricing.pods import device_prices, job_usd
from spec.settings import Platform
from spec.settings.addons.batch import Kueue
from spec.settings.cost import Schedule
from spec.settings.found import needs_of
from spec.settings.found_cluster import FoundCluster
from spec.settings.pools import Role
from spec.settings.zones import zone_of


def topic(platform: Platform) -> str | None:
    """ARN of the SNS topic of alerts, budgets and anomalies; None if nobody gets them."""
    if not platform.notifications.wanted:
        return None
    region, account = platform.account.region, platform.account.id
    return f"arn:{regions.get(region).partition}:sns:{region}:{account}:slipway-{platform.environment.name}-notices"


def of_notifications(platform: Platform) -> NotificationsArgs | None:
    """The topic; None if nobody gets its messages."""
    if (arn := topic(platform)) is None:
        return None
    return NotificationsArgs(
        settings=platform.notifications,
        topic=arn,
        cluster=platform.prefix,
        key_deletion_days=platform.cluster.key_deletion_days,
    )


def of_network(platform: Platform, found: FoundCluster | None = None) -> NetworkArgs:
    """The network; that of a cluster that exists, if there is one."""
    balancers = platform.addons.load_balancer_controller is not None
    needs = needs_of(platform.network, platform.pools, platform.account, balancers=balancers)
    return NetworkArgs(
        settings=platform.network,
        account=platform.account,
        cluster_name=platform.prefix,
        key_deletion_days=platform.cluster.key_deletion_days,
        protect=platform.environment.protect,
        needs=replace(needs, vpc=found.vpc, subnets=found.subnets) if found else needs,
    )


def of_storage(platform: Platform, cluster: ClusterOutputs, network: NetworkOutputs) -> StorageArgs:
    """Buckets, file systems, databases and image registry."""
    lustre, logs = platform.storage.lustre, platform.addons.fluent_bit
    where = (platform.network, platform.pools, platform.account)
    return StorageArgs(
        settings=platform.storage,
        cluster=cluster,
        network=network,
        databases=platform.addons.databases(),
        log_days=platform.cluster.log_retention_days,
        logs=logs if logs and logs.destination == "cloudwatch" else None,
        teams={name: list(team.namespaces_of(name)) for name, team in platform.teams.items()},
        lustre_zone=zone_of(lustre, *where) if lustre else "",
        protect=platform.environment.protect,
        default_class=platform.cluster.existing is None,
    )


def of_addons(platform: Platform) -> AddOnFacts:
    """What add-ons may know before there is a cluster."""
    network, service = platform.network, platform.cluster.service_ipv4_cidr
    return AddOnFacts(
        addons=platform.addons,
        pools=resolve_all(platform),
        teams=platform.teams,
        charts=platform.charts,
        caches=tuple(platform.storage.registry.caches),
        environment=platform.environment.name,
        topic=topic(platform),
        emails=platform.notifications.emails,
        thresholds=platform.cost.thresholds,
        private_cidrs=tuple(map(str, (network.cidr, service, *network.peers.values()))),
        installed=existing.installed if (existing := platform.cluster.existing) is not None else (),
    )


def of_teams(platform: Platform) -> TeamFacts:
    """What objects of teams depend on before there is a cluster."""
    return TeamFacts(
        pools=resolve_all(platform),
        addons=platform.addons,
        network=platform.network,
        protect=platform.environment.protect,
        job_usd=job_usd(platform),
    )


def of_admission(platform: Platform) -> StackContext:
    """What the admission rules depend on."""
    pools = resolve_all(platform)
    return StackContext(
        pools=pools,
        queues=platform.addons.has(Kueue),
        max_replicas=platform.admission.max_replicas,
        controllers=registry.controllers(platform.addons),
        version=platform.cluster.version,
        scheduler=registry.scheduler(platform.addons),
        repairs_gpus=platform.cluster.repairs_gpus,
        prices=device_prices(platform),
        by_topology=with_topology(pools, platform.queues),
        shares={name: team.shares for name, team in platform.teams.items()},
    )


def of_scripts(platform: Platform) -> dict[str, tuple[Objects, Objects]]:
    """CronJobs that run a script on namespaces of teams."""
    kserve = platform.addons.kserve
    spaces = {each: one for name, team in platform.teams.items() for each, one in team.namespaces_of(name).items()}
    return scripts(
        list(spaces),
        [each for each, space in spaces.items() if space.purpose in SERVES],
        jobs=of_cron_jobs(platform),
        idle=platform.cost.idle_gpus,
        rollback=kserve.canary_rollback if kserve else None,
    )


def of_cron_jobs(platform: Platform) -> CronJobs:
    """Where the CronJobs of the stack run."""
    return CronJobs(systems=any(pool.role is Role.SYSTEM for pool in platform.pools.values()))


def of_schedules(platform: Platform) -> Mapping[str, tuple[Schedule, Mapping[str, int]]]:
    """Karpenter's pools with a schedule, each with the maximum of its NodePools."""
    return elastic_schedules(platform.cost.schedules, platform.pools)


def of_budgets(platform: Platform) -> dict[str, int]:
    """Budgets of teams, if AWS watches them."""
    found = {name: team.budget_usd for name, team in platform.teams.items() if platform.cost.team_budgets}
    return {name: usd for name, usd in found.items() if usd is not None}

"""The composition of the platform: which component gets the outputs of which, and nothing else.

Network, control plane, the EKS add-ons that nodes need, storage, managed node groups, the EKS add-ons that need nodes,
autoscaling and Karpenter's pools, and the add-ons of the cluster. Each part takes the outputs of those before it;
`depends_on` is used only for real dependencies.
"""

from collections.abc import Mapping
from typing import Any

import pulumi

from components.addons.install import InstalledAddOns, install
from components.addons.seldon_core import seldon_spaces
from components.admission import Admission, AdmissionArgs
from components.base.addon import AddOnContext
from components.base.kubernetes import ObjectsArgs
from components.base.outputs import ClusterOutputs, EfsOutputs, NetworkOutputs, no_storage
from components.cluster import ControlPlane, ControlPlaneArgs, ManagedAddons, ManagedAddonsArgs, Phase
from components.cluster.existing import look_up
from components.composition.cost_guards import GuardsArgs, guards
from components.composition.node_pools import NodePoolContext, elastic_pools, managed_pools
from components.cost import Bill
from components.network import Network
from components.queues import QueuesArgs, queues
from components.storage import Drivers, DriversArgs, Storage
from components.storage.efs import NODE_ACCOUNT
from components.storage.volumes import mounted_buckets
from components.tenancy import TeamContext, TeamOutputs, teams
from components.tenancy.priorities import Priorities, priority_class
from infra import facts
from infra.exports import exported
from infra.providers import aws_provider, kubernetes_provider, tags_of
from spec.pricing.estimate import bill_of
from spec.settings import PROJECT
from spec.settings.addons.batch import Kueue
from spec.settings.addons.serving import SeldonCore
from spec.settings.cluster import AddonName
from spec.settings.existing import ExistingCluster
from spec.settings.found_cluster import FoundCluster, problems, warnings
from spec.settings.network import Nat
from spec.settings.platform import Platform
from spec.settings.problems import ConfigurationError
from spec.settings.teams import PriorityName


def build(platform: Platform, parent: pulumi.Resource | None = None) -> Mapping[str, Any]:
    """Declare every resource of an environment, below a parent if there is one; return the stack outputs."""
    provider, existing = aws_provider(platform, parent), platform.cluster.existing
    cloud = pulumi.ResourceOptions(parent=parent, providers=[provider])
    found, there = _existing(platform, existing, provider) if existing is not None else (None, None)
    network = Network("network", facts.of_network(platform, found), cloud).outputs
    cluster = there or _control_plane(platform, network, cloud)
    inside = pulumi.ResourceOptions.merge(
        cloud, pulumi.ResourceOptions(providers=[kubernetes_provider(cluster, parent)])
    )

    early = _addons(platform, cluster, Phase.BEFORE_NODES, cloud)
    stored = platform.storage.enabled
    storage = (
        Storage("storage", facts.of_storage(platform, cluster, network), inside).outputs if stored else no_storage()
    )
    known = facts.of_addons(platform)
    nodes = NodePoolContext(
        specs=known.pools,
        cluster=cluster.with_cni(early.nodes_need),
        network=network,
        isolated=platform.network.nat is Nat.NONE,
        charts=platform.charts,
        volume_key=storage.key_arn if stored else None,
        caches=sorted(known.caches),
        scheduled=frozenset(facts.of_schedules(platform)),
        installed=known.installed,
        instance_profile=existing.instance_profile if existing is not None else None,
        opts=inside,
    )
    managed = managed_pools(nodes)
    late = _addons(platform, cluster, Phase.AFTER_NODES, cloud, after=managed.system, efs=storage.efs)
    if stored:
        of_drivers = DriversArgs(roles=late.roles, drivers=late.drivers, cluster=cluster)
        drivers = Drivers("storage-drivers", of_drivers, cloud)
        storage = storage.with_drivers(drivers.ready, drivers.block)
    profile = elastic_pools(nodes, managed)
    context = AddOnContext(
        **vars(known), cluster=cluster, network=network, storage=storage, system_node_groups=managed.system
    )
    installed = install(context, inside)
    tenants = _tenancy(platform, context, installed, inside)
    limited = GuardsArgs(
        settings=platform.cost,
        environment=platform.environment.name,
        cluster=cluster,
        pools=platform.pools,
        managed=managed.pools,
        namespaces={space: waits for team in tenants.values() for space, waits in team.namespaces.items()},
        budgets=facts.of_budgets(platform),
        notifications=facts.of_notifications(platform),
        scripts=facts.of_scripts(platform),
        jobs=facts.of_cron_jobs(platform),
    )
    guards(limited, cloud, inside)
    Bill("bill", bill_of(platform, known.pools), pulumi.ResourceOptions(parent=parent))
    queued = platform.addons.kueue is not None
    return exported(cluster, network, storage if stored else None, profile, tenants, queued=queued)


def build_network(platform: Platform) -> Mapping[str, Any]:
    """Declare the network alone: the first step of a cluster whose API server has only a private endpoint."""
    opts = pulumi.ResourceOptions(providers=[aws_provider(platform)])
    return {"vpcId": Network("network", facts.of_network(platform), opts).outputs.vpc_id}


def _existing(
    platform: Platform, existing: ExistingCluster, provider: pulumi.ProviderResource
) -> tuple[FoundCluster, ClusterOutputs]:
    """The cluster that the settings name, if the stack can use it."""
    named, opts = {"prefix": platform.prefix, "tags": tags_of(platform)}, pulumi.InvokeOptions(provider=provider)
    found, cluster = look_up(existing.name, platform.account, platform.uses, named, opts)
    if refused := list(problems(platform.cluster, platform.uses, found)):
        raise ConfigurationError(refused, "existing cluster")
    for warning in warnings(platform.uses, found):
        pulumi.log.warn(str(warning))
    return found, cluster


def _control_plane(platform: Platform, network: NetworkOutputs, opts: pulumi.ResourceOptions) -> ClusterOutputs:
    args = ControlPlaneArgs(
        settings=platform.cluster,
        cluster_name=platform.cluster_name,
        account=platform.account,
        network=network,
        clients=_clients(platform),
        tags=tags_of(platform),
        protect=platform.environment.protect,
    )
    return ControlPlane("cluster", args, opts).outputs


def _clients(platform: Platform) -> dict[str, str]:
    """Networks that reach the private endpoint: peers by their names, others by their addresses."""
    others = platform.cluster.endpoint.private_access_cidrs
    named = {str(cidr.network_address).replace(".", "-") + f"-{cidr.prefixlen}": str(cidr) for cidr in others}
    return named | {name: str(cidr) for name, cidr in platform.network.peers.items()}


def _tenancy(
    platform: Platform, context: AddOnContext, installed: InstalledAddOns, opts: pulumi.ResourceOptions
) -> Mapping[str, TeamOutputs]:
    """Teams, priority classes, admission policies, and the queues that teams share."""
    cluster = context.cluster
    if platform.shares:
        classes = {str(name): priority_class(name) for name in PriorityName}
        Priorities("priorities", ObjectsArgs(objects=classes, cluster=cluster), opts)
        admission = AdmissionArgs(settings=platform.admission, context=facts.of_admission(platform), cluster=cluster)
        Admission("admission", admission, opts)
    every = tuple(part for parts in installed.ready.values() for part in parts)
    stored = context.storage if platform.storage.enabled else None
    tenancy = TeamContext(**vars(facts.of_teams(platform)), cluster=cluster, storage=stored, installed=every)
    outputs = teams(platform.teams, tenancy, opts)
    seldon_spaces(context, outputs, installed.of(SeldonCore), opts)
    if (settings := platform.addons.kueue) is not None:
        shared = QueuesArgs(
            settings=platform.queues,
            pools=context.pools,
            cluster=cluster,
            kueue=installed.of(Kueue),
            worker=settings.multi_kueue == "worker",
        )
        queues(shared, outputs, opts)
    return outputs


def _addons(
    platform: Platform,
    cluster: ClusterOutputs,
    phase: Phase,
    opts: pulumi.ResourceOptions,
    after: tuple[pulumi.Resource, ...] = (),
    efs: EfsOutputs | None = None,
) -> ManagedAddons:
    args = ManagedAddonsArgs(
        cluster=cluster,
        settings=platform.cluster.addons,
        phase=phase,
        after=after,
        repair_gpus=platform.cluster.repairs_gpus,
        # A new cluster has nothing to preserve; what another tool installed is never overwritten.
        on_conflict="OVERWRITE" if platform.cluster.existing is None else "NONE",
        more_roles={AddonName.EFS_CSI: {NODE_ACCOUNT: efs.mount_role}} if efs else {},
        # Auto-naming calls them slipway-<stack>-storage-<purpose>-<random>.
        buckets=[
            f"{PROJECT}-{platform.environment.name}-storage-{purpose}-*"
            for purpose in mounted_buckets(
                lustre=platform.storage.lustre is not None, cached=bool(platform.storage.buckets.node_cache_gib)
            )
        ],
    )
    return ManagedAddons(f"addons-{phase}", args, opts)

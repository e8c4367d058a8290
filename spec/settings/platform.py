"""All settings of a stack, valid by construction, and what is derived from them."""

from pydantic import Field

from spec.settings.addons import Addons
from spec.settings.admission import Admission
from spec.settings.base import Model, Name
from spec.settings.charts import Charts
from spec.settings.cluster import AddonName, Cluster
from spec.settings.cost import Cost
from spec.settings.environment import Account, Environment
from spec.settings.extensions import Extension
from spec.settings.network import Network
from spec.settings.notifications import Notifications
from spec.settings.pools import Pool, Provisioner
from spec.settings.queues import Queues
from spec.settings.storage import Storage
from spec.settings.teams import Team
from spec.settings.zones import Place


class Platform(Model):
    """One environment of the platform, as `slipway:platform` of a stack file describes it."""

    environment: Environment
    account: Account
    network: Network
    cluster: Cluster = Field(default_factory=Cluster)
    pools: dict[Name, Pool] = Field(default_factory=dict)
    """Node pools by name. The name becomes part of node labels and logical names: renaming a pool replaces it."""
    storage: Storage = Field(default_factory=Storage)
    """Buckets, file systems and image registry; the buckets always exist, unless the cluster does."""
    addons: Addons = Field(default_factory=Addons)
    """Software on the cluster; only add-ons that are named here are installed."""
    charts: Charts = Field(default_factory=Charts)
    """Source of the Helm charts of all add-ons."""
    teams: dict[Name, Team] = Field(default_factory=dict)
    """Teams by name. The name becomes part of namespaces, queues and bucket prefixes: renaming a team replaces it."""
    notifications: Notifications = Field(default_factory=Notifications)
    """Recipients of alerts, budget and anomaly notifications."""
    cost: Cost = Field(default_factory=Cost)
    """Cost control: budgets, schedules and limits."""
    queues: Queues = Field(default_factory=Queues)
    """How teams share idle quota."""
    admission: Admission = Field(default_factory=Admission)
    """Rules that the API server enforces on workloads of teams."""
    extensions: dict[Name, Extension] = Field(default_factory=dict)
    """Objects that the program's code declares beside these settings, by a name. The policy pack refuses all others."""

    @property
    def cluster_name(self) -> str:
        """Name of the EKS cluster."""
        existing = self.cluster.existing
        return existing.name if existing is not None else self.prefix

    @property
    def prefix(self) -> str:
        """Begins the names of what the stack makes in AWS: two stacks on one cluster have different ones."""
        return self.cluster.name or f"slipway-{self.environment.name}"

    @property
    def shares(self) -> bool:
        """Whether it makes priority classes and admission policies: on a cluster that exists only for its own teams."""
        return self.cluster.existing is None or bool(self.teams)

    @property
    def uses(self) -> dict[AddonName, str]:
        """EKS add-ons that it uses and leaves to a cluster that exists, each with its use."""
        existing, stored = self.cluster.existing, self.storage.enabled
        installed = [key for key, _ in self.addons.wanted() if not existing or key not in existing.installed]
        karpenter = self.karpenter_pools and not (existing and existing.instance_profile)
        wanted = {
            AddonName.POD_IDENTITY_AGENT: "roles of pods" if installed or karpenter or stored else "",
            AddonName.EBS_CSI: "volumes" if stored else "",
            AddonName.S3_CSI: "volumes of buckets" if stored else "",
            AddonName.NODE_MONITORING_AGENT: "repairs" if any(one.node_repair for one in self.pools.values()) else "",
        }
        ours = {name for name, addon in self.cluster.addons.items() if addon.enabled}
        return {name: use for name, use in wanted.items() if use and name not in ours}

    @property
    def place(self) -> Place:
        """What its pools take from cluster and network."""
        cluster, zones = self.cluster, self.network.zones
        return Place(zones=zones, version=cluster.version, ami_release=cluster.ami_release, account=self.account)

    @property
    def capacities(self) -> dict[str, Pool]:
        """Pools with their fallbacks, each of which is a pool of its own here: `a100`, `a100-spot`."""
        fallbacks = {f"{name}-{key}": one for name, pool in self.pools.items() for key, one in pool.fallbacks.items()}
        return self.pools | fallbacks

    @property
    def managed_pools(self) -> dict[str, Pool]:
        """Pools that are EKS managed node groups."""
        return {name: pool for name, pool in self.pools.items() if pool.provisioner is Provisioner.MANAGED}

    @property
    def karpenter_pools(self) -> dict[str, Pool]:
        """Pools that Karpenter provisions."""
        return {name: pool for name, pool in self.pools.items() if pool.provisioner is Provisioner.KARPENTER}

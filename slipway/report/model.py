"""The content of a report as data: built once from the program and its settings, rendered by the page and the comment.

Amounts are in USD: per hour for a node, otherwise per month of 730 hours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from slipway.report.advice import Advice, Map, PriceSource, Scenario
from slipway.report.plan import Plan, PropertyChange
from spec.pricing import Amounts


@dataclass(frozen=True, kw_only=True)
class Slice:
    """One MIG instance of a GPU: its profile and its number of compute slices (a GPU has seven)."""

    profile: str
    compute: int


@dataclass(frozen=True, kw_only=True)
class PoolView:
    """A node pool."""

    name: str
    role: str
    market: str  # `on-demand`, `spot` or `reserved`
    provisioner: str
    types: tuple[str, ...]
    zones: tuple[str, ...]
    minimum: int  # minimum number of nodes
    maximum: int  # maximum number of nodes
    gpus: int  # GPUs per node
    gpu: str  # model of the GPUs; empty for a CPU pool
    slices: tuple[Slice, ...]  # MIG instances of one GPU; empty if GPUs are not partitioned
    unused_slices: int  # compute slices of a partitioned GPU that no instance uses
    shared: str  # how pods share a GPU, as text; empty if GPUs are not shared
    taints: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]  # other facts, as (name, text)
    low: Decimal | None  # lowest price of a node, USD per hour; None without a price
    high: Decimal | None  # highest price of a node, USD per hour; None without a price

    @property
    def gpus_max(self) -> int:
        """Maximum number of GPUs in the pool."""
        return self.gpus * self.maximum

    @property
    def gpus_min(self) -> int:
        """Minimum number of GPUs in the pool."""
        return self.gpus * self.minimum

    @property
    def slices_max(self) -> int:
        """Maximum number of MIG instances in the pool."""
        return len(self.slices) * self.gpus_max


@dataclass(frozen=True, kw_only=True)
class Part:
    """A team's quota in a pool, in the pool's unit."""

    team: str
    tone: int  # index of the team among all teams, which selects its color in every pool
    nominal: int  # nominal quota
    borrow: int  # borrowing limit
    lend: int  # quota that others may borrow
    start: float  # start of its bar, in percent of the pool's size
    width: float  # width of its bar, in percent of the pool's size


@dataclass(frozen=True, kw_only=True)
class Quota:
    """The quotas of a pool: its maximum size, and the part of each team."""

    pool: str
    unit: str
    size: int
    parts: tuple[Part, ...]

    @property
    def free(self) -> int:
        """Quota that is not assigned to a team; negative if the nominal quotas exceed the pool."""
        return self.size - sum(part.nominal for part in self.parts)


@dataclass(frozen=True, kw_only=True)
class TeamView:
    """A team; `budget` is None if the team has no budget."""

    name: str
    project: str
    cost_center: str
    members: int
    namespaces: tuple[str, ...]
    weight: int
    storage_gib: int
    budget: Decimal | None
    cost: Amounts


@dataclass(frozen=True, kw_only=True)
class ZoneView:
    """An availability zone with its subnets as (kind, CIDR), or as (kind, ID or tags) in an existing VPC; `nat` if it
    has a NAT gateway."""

    name: str
    subnets: tuple[tuple[str, str], ...]
    nat: bool


@dataclass(frozen=True, kw_only=True)
class NetworkView:
    """The VPC; `out` describes how private subnets reach the internet, `vpc` names one that exists."""

    vpc: str
    cidr: str
    pod_cidr: str
    zones: tuple[ZoneView, ...]
    out: str
    endpoints: tuple[str, ...]
    peers: tuple[tuple[str, str], ...]
    flow_logs: str


@dataclass(frozen=True, kw_only=True)
class StoreView:
    """A data store: its kind, facts about it, the teams and software that use it; `idle` is shown if none does."""

    kind: str
    name: str
    facts: tuple[str, ...]
    teams: tuple[str, ...]
    software: tuple[str, ...]
    idle: str
    protected: bool


@dataclass(frozen=True, kw_only=True)
class SoftwareView:
    """A Helm release or an add-on that EKS manages."""

    name: str
    version: str
    namespace: str
    chart: str


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar of a cost chart."""

    name: str
    amounts: Amounts


@dataclass(frozen=True, kw_only=True)
class Bill:
    """The monthly cost of the stack."""

    total: Amounts
    by: Mapping[str, tuple[Bar, ...]]  # costs by grouping: pool, team, service
    bounds: tuple[tuple[str, Decimal], ...]  # configured budgets and limits, as (name, USD per month)
    delta: Amounts | None  # cost difference from the baseline; None without a comparison
    movers: tuple[Bar, ...]  # lines with the largest cost difference, with that difference
    delta_problem: str  # why there is no cost difference, if one was requested
    sources: tuple[PriceSource, ...]  # where prices come from
    unpriced: int = 0  # number of items without a price, which the total lacks


@dataclass(frozen=True, kw_only=True)
class FindingView:
    """A violated check, with all resources that violate it."""

    level: str  # `mandatory` or `advisory`
    severity: str
    rule: str
    title: str
    cases: tuple[tuple[str, str], ...]  # violating resources, each with a message and fix
    external_ids: tuple[str, ...]  # IDs of the equivalent checks of other tools


@dataclass(frozen=True, kw_only=True)
class SuppressedFinding:
    """A suppression in use, with the resources whose findings it suppresses."""

    rule: str
    reason: str
    owner: str
    until: str
    resources: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The result of the policy pack: findings, most severe first, suppressions in use, and suppressed violations."""

    rules: int
    findings: tuple[FindingView, ...]
    suppressions: tuple[SuppressedFinding, ...]
    suppressed: int

    def distinct(self, level: str) -> int:
        """Number of checks of a level that are violated."""
        return sum(finding.level == level for finding in self.findings)

    def count(self, level: str) -> int:
        """Number of violations of a level: a check is violated once by each resource."""
        return sum(len(finding.cases) for finding in self.findings if finding.level == level)


@dataclass(frozen=True, kw_only=True)
class Caveat:
    """A limitation of the report: what it is, why, and the items it applies to."""

    what: str
    why: str
    cases: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What a change does, beside its resources."""

    settings: tuple[PropertyChange, ...] = ()  # settings of the stack file that change
    to: tuple[tuple[str, str], ...] = ()  # whom it concerns, `team vision` or `pool a100`, and what happens to it
    new: frozenset[tuple[str, str]] | None = None
    """Findings that the baseline does not have, as (rule, resource); None if that is not known."""
    gone: tuple[tuple[str, str], ...] = ()  # findings that only the baseline has


NONE: Final = Effects()  # without a comparison


@dataclass(frozen=True, kw_only=True)
class Report:
    """The content of a report."""

    stack: str
    cluster: str
    account: str
    region: str
    kubernetes: str
    owner: str
    protected: bool
    commit: str
    resources: int
    pools: tuple[PoolView, ...]
    quotas: tuple[Quota, ...]
    teams: tuple[TeamView, ...]
    network: NetworkView
    stores: tuple[StoreView, ...]
    software: tuple[SoftwareView, ...]
    addons: tuple[SoftwareView, ...]
    bill: Bill
    evaluation: Evaluation
    plan: Plan
    caveats: tuple[Caveat, ...]
    advice: Advice
    map: Map
    effects: Effects = NONE
    scenarios: tuple[Scenario, ...] = ()

    @property
    def gpus_max(self) -> int:
        """Maximum number of GPUs in the stack."""
        return sum(pool.gpus_max for pool in self.pools)

    @property
    def gpus_min(self) -> int:
        """Minimum number of GPUs in the stack."""
        return sum(pool.gpus_min for pool in self.pools)

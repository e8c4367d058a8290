"""What a report says, as data: made once from the program and its settings, and drawn by the page and the comment.

Money is USD: for a node by the hour, elsewhere by the month of 730 hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from slipway.report.plan import Plan
from spec.pricing import Amounts


@dataclass(frozen=True, kw_only=True)
class Slice:
    """One MIG instance of a GPU: its profile, and its compute slices of the seven that a GPU has."""

    profile: str
    compute: int


@dataclass(frozen=True, kw_only=True)
class PoolView:
    """A pool as it is drawn.

    Attributes:
        market: `on-demand`, `spot` or `reserved`.
        minimum: Nodes that are always there.
        maximum: Nodes at most.
        gpus: GPUs of one node.
        gpu: Model of the GPUs; empty for a CPU pool.
        slices: MIG instances of one GPU; empty where GPUs are whole.
        slack: Compute slices of a cut GPU that no instance has.
        shared: How pods share a GPU, as text; empty where each has its own.
        facts: What else a reader may want to know, as (name, text).
        low: Price of a node an hour, the lowest; None where there is none.
        high: The highest.
    """

    name: str
    role: str
    market: str
    provisioner: str
    types: tuple[str, ...]
    zones: tuple[str, ...]
    minimum: int
    maximum: int
    gpus: int
    gpu: str
    slices: tuple[Slice, ...]
    slack: int
    shared: str
    taints: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    low: Decimal | None
    high: Decimal | None

    @property
    def gpus_max(self) -> int:
        """GPUs of the pool at its largest."""
        return self.gpus * self.maximum

    @property
    def gpus_min(self) -> int:
        """GPUs that are always there."""
        return self.gpus * self.minimum

    @property
    def slices_max(self) -> int:
        """MIG instances of the pool at its largest."""
        return len(self.slices) * self.gpus_max


@dataclass(frozen=True, kw_only=True)
class Part:
    """A team's share of a pool, in the pool's unit.

    Attributes:
        tone: Place of the team among all teams, by which it has its shade in every pool.
        start: Where it begins, of 100 parts of the pool's size.
        width: How wide it is, of the same.
    """

    team: str
    tone: int
    nominal: int
    borrow: int
    lend: int
    start: float
    width: float


@dataclass(frozen=True, kw_only=True)
class Quota:
    """How a pool is shared out: its size at its largest, what each team has, and what no team has."""

    pool: str
    unit: str
    size: int
    parts: tuple[Part, ...]

    @property
    def free(self) -> int:
        """What no team has by right; below zero where more is promised than there is."""
        return self.size - sum(part.nominal for part in self.parts)


@dataclass(frozen=True, kw_only=True)
class TeamView:
    """A team. `budget` is USD a month, None where there is none."""

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
    """A zone with its subnets as (kind, range); `nat` where it has a gateway of its own."""

    name: str
    subnets: tuple[tuple[str, str], ...]
    nat: bool


@dataclass(frozen=True, kw_only=True)
class NetworkView:
    """The VPC. `out` says in a sentence how private subnets reach the internet."""

    cidr: str
    pod_cidr: str
    zones: tuple[ZoneView, ...]
    out: str
    endpoints: tuple[str, ...]
    peers: tuple[tuple[str, str], ...]
    flow_logs: str


@dataclass(frozen=True, kw_only=True)
class StoreView:
    """Something that keeps data: what it is, how it is kept, who uses it, and what is said where nobody does."""

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
    """A row of the bill."""

    name: str
    amounts: Amounts


@dataclass(frozen=True, kw_only=True)
class Bill:
    """What the stack costs a month.

    Attributes:
        by: Rows by what they are grouped by: pool, team, service.
        bounds: Bounds that were set, as (name, USD a month).
        delta: What the change adds; None where there is nothing to compare with.
        movers: The lines that the change adds most to, with what it adds.
        delta_problem: Why there is no difference, where one was asked for.
        dates: Days of the prices, oldest and newest.
    """

    total: Amounts
    by: Mapping[str, tuple[Bar, ...]]
    bounds: tuple[tuple[str, Decimal], ...]
    delta: Amounts | None
    movers: tuple[Bar, ...]
    delta_problem: str
    dates: tuple[str, ...]
    region: str


@dataclass(frozen=True, kw_only=True)
class FindingView:
    """A question that was answered badly, with all resources that do so.

    Attributes:
        level: `mandatory` or `advisory`.
        cases: Resources that are wrong, each with what is wrong and how to mend it.
        external_ids: Ids of the same question elsewhere.
    """

    level: str
    severity: str
    rule: str
    title: str
    cases: tuple[tuple[str, str], ...]
    external_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SuppressedFinding:
    """A suppression in use, with what it excuses."""

    rule: str
    reason: str
    owner: str
    until: str
    resources: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What the policy pack says: findings, the worst first, and suppressions in use."""

    rules: int
    findings: tuple[FindingView, ...]
    suppressions: tuple[SuppressedFinding, ...]

    def count(self, level: str) -> int:
        """Violations of a level."""
        return sum(len(finding.cases) for finding in self.findings if finding.level == level)

    @property
    def suppressed(self) -> int:
        """Violations that a suppression excuses."""
        return sum(len(suppression.resources) for suppression in self.suppressions)


@dataclass(frozen=True, kw_only=True)
class Caveat:
    """Something that a report can't vouch for: what, why, and each case of it."""

    what: str
    why: str
    cases: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """All of it."""

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

    @property
    def gpus_max(self) -> int:
        """GPUs of the stack at its largest."""
        return sum(pool.gpus_max for pool in self.pools)

    @property
    def gpus_min(self) -> int:
        """GPUs that are always there."""
        return sum(pool.gpus_min for pool in self.pools)

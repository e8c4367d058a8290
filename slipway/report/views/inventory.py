"""What a stack has: pools, teams, stores of data, software.

Users are derived from the property dependencies of the recording: a volume with its claim's namespace, a role's policy
with the service accounts that the role is associated with, a release or an object that references the store.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from slipway.render.recording import RecordedResource, Recording
from slipway.report.model import Part, PoolView, Quota, Slice, SoftwareView, StoreView, TeamView
from spec.catalog import mig
from spec.pools.pool_spec import PoolSpec
from spec.pricing import Amounts, Estimate
from spec.settings.platform import Platform
from spec.settings.pools import Role

# The node pools of a stack.


_ORDER: Final = (Role.TRAINING, Role.INFERENCE, Role.INTERACTIVE, Role.GENERAL, Role.SYSTEM)


_SERVICE: Final = "EC2"
_UNIT: Final = "node"  # service and unit of the estimate's lines for nodes


def pools(specs: Iterable[PoolSpec], bill: Estimate) -> tuple[PoolView, ...]:
    """Every pool: GPU pools first, by descending number of GPUs, then by role and name."""

    def rank(spec: PoolSpec) -> tuple[bool, int, int, str]:
        return (not spec.gpu_count, -spec.gpu_count * spec.settings.max, _ORDER.index(spec.role), spec.name)

    return tuple(_pool(spec, bill) for spec in sorted(specs, key=rank))


def _pool(spec: PoolSpec, bill: Estimate) -> PoolView:
    low, high = _price(spec.name, bill)
    slices = tuple(_slices(spec))
    return PoolView(
        name=spec.name,
        role=str(spec.role),
        market=str(spec.market),
        provisioner="managed node group" if spec.managed else "Karpenter",
        types=tuple(kind.name for kind in spec.instance_types),
        zones=spec.zones,
        minimum=spec.settings.min,
        maximum=spec.settings.max,
        gpus=spec.gpu_count,
        gpu=spec.gpu.name if spec.gpu else "",
        slices=slices,
        unused_slices=mig.COMPUTE_SLICES - sum(one.compute for one in slices) if slices else 0,
        shared=f"{spec.sharing.replicas} pods per GPU by {spec.sharing.mode}" if spec.sharing else "",
        taints=tuple(f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}" for taint in spec.taints),
        facts=tuple(_facts(spec)),
        low=low,
        high=high,
    )


def _slices(spec: PoolSpec) -> Iterator[Slice]:
    """MIG instances of one GPU, largest first."""
    if spec.mig is None or spec.gpu is None:
        return
    shapes = mig.PROFILES[spec.gpu.name]
    for profile, count in sorted(spec.mig.profiles.items(), key=lambda one: (-shapes[one[0]].compute, one[0])):
        for _ in range(count):
            yield Slice(profile=profile, compute=shapes[profile].compute)


def _facts(spec: PoolSpec) -> Iterator[tuple[str, str]]:
    yield "CPU", _range([kind.vcpus for kind in spec.instance_types], "vCPUs")
    yield "Memory", _range([kind.memory_mib // 1024 for kind in spec.instance_types], "GiB")
    if spec.gpu is not None:
        yield "GPU memory", _range([kind.gpu_memory_mib // 1024 for kind in spec.instance_types], "GiB per GPU")
    if spec.efa_count:
        yield "EFA", f"{spec.efa_count} adapters per node"
    if spec.mig is not None:
        yield "MIG layout", spec.mig.config
    if spec.sharing is not None:
        yield "Sharing", f"{spec.sharing.mode}, {spec.sharing.replicas} pods per GPU"
    reservation = spec.settings.capacity.reservation
    if reservation is not None:
        kind = "Capacity Block" if spec.capacity_block else "Capacity Reservation"
        yield kind, reservation.id
    disk = spec.settings.disk
    yield "Disk", f"{disk.size_gib} GiB gp3" + (", local NVMe as RAID0" if spec.settings.local_nvme == "raid0" else "")
    yield "OS", "Amazon Linux 2023" if spec.settings.os == "al2023" else "Bottlerocket"


def _range(numbers: Iterable[int], unit: str) -> str:
    values = sorted(set(numbers))
    text = f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}"
    return f"{text} {unit}"


def _price(name: str, bill: Estimate) -> tuple[Decimal | None, Decimal | None]:
    """Lowest and highest price of a node in the estimate, USD per hour; None without a price."""
    lines = [line for line in bill.lines if line.pool == name and line.unit == _UNIT and line.service == _SERVICE]
    return min((line.low for line in lines), default=None), max((line.high for line in lines), default=None)


# Teams, and their quotas in the pools.


def teams(platform: Platform, bill: Estimate) -> tuple[TeamView, ...]:
    """Every team, by name."""
    costs = bill.by_team()
    return tuple(
        TeamView(
            name=name,
            project=team.project,
            cost_center=team.cost_center,
            members=len(team.members),
            namespaces=tuple(team.namespaces_of(name)),
            weight=team.weight,
            storage_gib=team.storage_gib,
            budget=None if team.budget_usd is None else Decimal(team.budget_usd),
            cost=costs.get(name, Amounts()).month,
        )
        for name, team in sorted(platform.teams.items())
    )


def quotas(platform: Platform, specs: Mapping[str, PoolSpec]) -> tuple[Quota, ...]:
    """Every pool in which a team has a quota: GPU pools first."""
    shared = {pool for team in platform.teams.values() for pool in team.shares}
    pools = (specs[name] for name in sorted(shared & specs.keys()))
    return tuple(_quota(platform, spec) for spec in sorted(pools, key=lambda spec: (not spec.gpu_count, spec.name)))


def _quota(platform: Platform, spec: PoolSpec) -> Quota:
    size = spec.settings.max * (spec.gpu_count or max(kind.vcpus for kind in spec.instance_types))
    shares = {name: team.shares[spec.name] for name, team in platform.teams.items() if spec.name in team.shares}
    whole = max(size, sum(share.nominal_quota for share in shares.values()), 1)
    parts, start = [], 0
    tones = {name: index for index, name in enumerate(sorted(platform.teams))}
    for name, share in sorted(shares.items()):
        width = 100 * share.nominal_quota / whole
        parts.append(
            Part(
                team=name,
                tone=tones[name],
                nominal=share.nominal_quota,
                borrow=share.borrowing_limit,
                lend=share.lendable,
                start=round(100 * start / whole, 3),
                width=round(width, 3),
            )
        )
        start += share.nominal_quota
    return Quota(pool=spec.name, unit="GPU" if spec.gpu_count else "vCPU", size=size, parts=tuple(parts))


# Data stores and their users, according to the program.


_BUCKET: Final = "aws:s3/bucket:Bucket"
_PREFIX: Final = "storage-"


@dataclass(frozen=True)
class _Kind:
    """How a store type is shown."""

    label: str
    facts: Callable[[Mapping[str, Any], Platform, str], Iterator[str]]
    idle: str = "not used in the cluster"


def stores(platform: Platform, recording: Recording) -> tuple[StoreView, ...]:
    """Every data store of the stack, in the order of `_KINDS`, then by name."""
    teams = {space: name for name, team in platform.teams.items() for space in team.namespaces_of(name)}
    users = Users(recording)
    views = []
    for token, kind in _KINDS.items():
        for one in recording.of_type(token):
            name = one.name.removeprefix(_PREFIX)
            spaces = users.of(one.urn)
            views.append(
                StoreView(
                    kind=kind.label,
                    name=name,
                    facts=tuple(kind.facts(one.inputs.plain, platform, name)),
                    teams=tuple(sorted({teams[space] for space in spaces if space in teams})),
                    software=tuple(sorted(space for space in spaces if space not in teams)),
                    idle=kind.idle,
                    protected=one.options.protect or one.options.retain_on_delete,
                )
            )
    return tuple(views)


class Users:
    """The namespaces and other stores that reference a resource."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._referring: dict[str, list[RecordedResource]] = {}
        for one in recording:
            for urn in dict.fromkeys(urn for urns in one.options.property_dependencies.values() for urn in urns):
                self._referring.setdefault(urn, []).append(one)
        self._claims = {
            claim.inputs.plain["spec"].get("volumeName"): _namespace(claim)
            for claim in recording.of_type("kubernetes:core/v1:PersistentVolumeClaim")
        }

    def of(self, urn: str) -> frozenset[str]:
        """Names of the namespaces that use it, and of stores linked to it."""
        return frozenset(name for one in self._referring.get(urn, ()) for name in self._names(one, urn))

    def _names(self, one: RecordedResource, urn: str) -> Iterator[str]:
        if one.type == "kubernetes:core/v1:PersistentVolume":
            space = self._claims.get(one.inputs.plain["metadata"].get("name"))
            if space:
                yield space
        elif one.type == "aws:iam/rolePolicy:RolePolicy":
            roles = one.options.property_dependencies.get("role", ())
            yield from self._accounts(roles)
        elif one.type == "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation":
            if urn in one.options.property_dependencies.get("dataRepositoryPath", ()):
                yield "FSx for Lustre (linked)"
        elif one.type.startswith("kubernetes:"):
            space = _namespace(one)
            if space:
                yield space

    def _accounts(self, roles: Sequence[str]) -> Iterator[str]:
        for association in self._recording.of_type("aws:eks/podIdentityAssociation:PodIdentityAssociation"):
            sources = association.options.property_dependencies.get("roleArn", ())
            if set(sources) & set(roles):
                yield str(association.inputs.plain["namespace"])


def _namespace(one: RecordedResource) -> str:
    metadata = one.inputs.plain.get("metadata")
    inside = metadata.get("namespace") if isinstance(metadata, Mapping) else None
    return str(one.inputs.plain.get("namespace") or inside or "")


def _bucket(_: Mapping[str, Any], platform: Platform, name: str) -> Iterator[str]:
    settings = platform.storage.buckets
    if name == "checkpoints" and settings.checkpoint_days is not None:
        yield f"checkpoints expire after {settings.checkpoint_days} days"
    if name == "state" and settings.artifact_days is not None:
        yield f"workflow artifacts expire after {settings.artifact_days} days"
    if name == "raw" and settings.tier_raw_after_days is not None:
        yield f"Intelligent-Tiering after {settings.tier_raw_after_days} days"
    if name == "logs":
        yield f"kept {settings.log_days} days"
    else:
        yield f"noncurrent versions kept {settings.noncurrent_days} days"


def _efs(inputs: Mapping[str, Any], platform: Platform, _: str) -> Iterator[str]:
    yield f"{inputs.get('throughputMode', 'bursting')} throughput"
    if platform.storage.efs and platform.storage.efs.backup:
        yield "daily backups"
    if platform.storage.efs and platform.storage.efs.transition_to_ia_days:
        yield f"Infrequent Access after {platform.storage.efs.transition_to_ia_days} days"


def _lustre(inputs: Mapping[str, Any], _: Platform, __: str) -> Iterator[str]:
    yield f"{inputs['storageCapacity']:,} GiB"
    yield str(inputs["deploymentType"])
    if inputs.get("perUnitStorageThroughput"):
        yield f"{inputs['perUnitStorageThroughput']} MB/s per TiB"


def _database(inputs: Mapping[str, Any], _: Platform, __: str) -> Iterator[str]:
    yield f"{inputs.get('engine')} {inputs.get('engineVersion', '')}".strip()
    yield str(inputs.get("instanceClass"))
    grows = f", grows to {inputs['maxAllocatedStorage']} GiB" if "maxAllocatedStorage" in inputs else ""
    yield f"{inputs.get('allocatedStorage')} GiB{grows}"
    yield "in two zones" if inputs.get("multiAz") else "in one zone"
    yield f"backups kept {inputs.get('backupRetentionPeriod', 0)} days"


def _images(inputs: Mapping[str, Any], _: Platform, __: str) -> Iterator[str]:
    yield "immutable tags" if str(inputs.get("imageTagMutability", "")).startswith("IMMUTABLE") else "mutable tags"


_KINDS: Final[Mapping[str, _Kind]] = {
    _BUCKET: _Kind("S3 bucket", _bucket),
    "aws:efs/fileSystem:FileSystem": _Kind("EFS file system", _efs),
    "aws:fsx/lustreFileSystem:LustreFileSystem": _Kind("FSx for Lustre", _lustre),
    "aws:rds/instance:Instance": _Kind("RDS database", _database),
    "aws:ecr/repository:Repository": _Kind("ECR repository", _images, "pulled by nodes"),
}


# The software of the platform: Helm releases and EKS add-ons.


def releases(recording: Recording) -> tuple[SoftwareView, ...]:
    """Helm releases, by namespace and name."""
    inputs = [one.inputs.plain for one in recording.of_type("kubernetes:helm.sh/v3:Release")]
    views = [
        SoftwareView(
            name=str(one["name"]),
            version=str(one.get("version") or "not pinned"),
            namespace=str(one.get("namespace") or "default"),
            chart=str(one["chart"]).rpartition("/")[2],
        )
        for one in inputs
    ]
    return tuple(sorted(views, key=lambda view: (view.namespace, view.name)))


def addons(recording: Recording) -> tuple[SoftwareView, ...]:
    """EKS add-ons, by name."""
    inputs = [one.inputs.plain for one in recording.of_type("aws:eks/addon:Addon")]
    views = [
        SoftwareView(
            name=str(one["addonName"]),
            version=str(one.get("addonVersion") or "EKS default"),
            namespace="kube-system",
            chart="",
        )
        for one in inputs
    ]
    return tuple(sorted(views, key=lambda view: view.name))

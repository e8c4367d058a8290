"""Checks of storage: sizes that AWS accepts, zones, drivers, and the rules of protected environments."""

from collections.abc import Iterator, Mapping
from typing import Final

from spec.settings.addons import Addons
from spec.settings.checks.base import Context, of_ours, warns
from spec.settings.checks.machines import known_types
from spec.settings.cluster import AddonName, Cluster
from spec.settings.environment import Account, Environment
from spec.settings.network import Endpoint, Nat, Network
from spec.settings.pools import Pool, Role
from spec.settings.problems import Problem
from spec.settings.storage import Storage, Upstream
from spec.settings.zones import training_zones, zone_of

SMALLEST: Final = 1200
STEP: Final = 2400
"""Sizes of SCRATCH_2 and of PERSISTENT_2 on SSD, in GiB: 1200, 2400, and steps of 2400 (botocore 1.44.5, fsx
CreateFileSystem, `StorageCapacity`)."""

GROWTH: Final = 10
"""Storage must be able to grow by at least a tenth (docs.aws.amazon.com/AmazonRDS/latest/UserGuide/
USER_PIOPS.Autoscaling.html: 1,000 GiB need a threshold of 1,100 at least; read 2026-11)."""

WITH_CREDENTIALS: Final = frozenset({Upstream.DOCKER_HUB, Upstream.GITHUB, Upstream.GITLAB})
"""Registries that need credentials (docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html, read
2026-11)."""

PREFIX: Final = 30
"""Maximum length of `ecrRepositoryPrefix` (botocore 1.44.5, ecr `PullThroughCacheRuleRepositoryPrefix`)."""


def lustre_size(_context: Context, storage: Storage) -> Iterator[Problem]:
    """FSx supports only some sizes."""
    if storage.lustre is None:
        return
    size = storage.lustre.storage_capacity
    if size == SMALLEST or (size > 0 and size % STEP == 0):
        return
    rule = f"the size must be {SMALLEST} GiB or a multiple of {STEP}"
    below, above = max(size // STEP * STEP, SMALLEST), max((size // STEP + 1) * STEP, SMALLEST)
    near = f"{SMALLEST}" if size < SMALLEST else f"{below} or {above}"
    yield Problem("storage.lustre.storageCapacity", rule, size, f"Use {near}.")


def lustre_throughput(_context: Context, storage: Storage) -> Iterator[Problem]:
    """A scratch file system has a fixed throughput."""
    lustre = storage.lustre
    if lustre and lustre.deployment_type == "SCRATCH_2" and lustre.per_unit_storage_throughput is not None:
        rule = "SCRATCH_2 has a fixed throughput of 200 MB/s per TiB"
        fix = "Remove it, or use `deploymentType: PERSISTENT_2`."
        yield Problem("storage.lustre.perUnitStorageThroughput", rule, lustre.per_unit_storage_throughput, fix)


def lustre_zone(_context: Context, storage: Storage, network: Network) -> Iterator[Problem]:
    """The file system is in one of the network's zones."""
    if storage.lustre and storage.lustre.zone is not None and storage.lustre.zone not in network.zones:
        rule = "the zone must be one of the network's"
        yield Problem("storage.lustre.zone", rule, storage.lustre.zone, f"Use {', '.join(network.zones)}.")


@warns
def lustre_far(
    _context: Context, storage: Storage, network: Network, pools: Mapping[str, Pool], account: Account
) -> Iterator[Problem]:
    """Training pools in other zones than the file system: reads between zones are billed and slower (a warning)."""
    if storage.lustre is None:
        return
    zone = zone_of(storage.lustre, network, pools, account)
    training = training_zones(network, pools, account)
    far = sorted(name for name, zones in training.items() if zones != (zone,))
    if far:
        rule = f"training pools should be only in the zone of the Lustre file system, {zone}"
        fix = f"Set `zones: [{zone}]` on {', '.join(far)}, or set storage.lustre.zone to theirs."
        yield Problem("storage.lustre.zone", rule, storage.lustre.zone, fix)


def node_cache(_context: Context, storage: Storage, pools: Mapping[str, Pool]) -> Iterator[Problem]:
    """The caches of a namespace's claims leave half of a node's disk to images and scratch space."""
    gib, claims = storage.buckets.node_cache_gib or 0, 2 if storage.efs else 3  # `datasets` is as `raw` without EFS
    disks = {
        name: pool.scratch_gib(kind.nvme_gb for kind in known_types(pool))
        for name, pool in pools.items()
        if pool.role is not Role.SYSTEM
    }
    for name in sorted(disks, key=lambda one: disks[one])[:1]:
        most = disks[name] // 2 // claims
        if gib > most:
            rule = f"caches of {claims} claims must leave half of a node's disk, which has {disks[name]} GiB on {name}"
            yield Problem("storage.buckets.nodeCacheGib", rule, gib, f"Use {most} or less, or larger disks.")


@of_ours
def drivers_installed(_context: Context, storage: Storage, cluster: Cluster) -> Iterator[Problem]:
    """Every kind of volume has its CSI driver."""
    needed = {
        AddonName.EBS_CSI: "the StorageClass gp3",
        AddonName.S3_CSI: "mounting buckets",
        **({AddonName.EFS_CSI: "storage.efs"} if storage.efs else {}),
        **({AddonName.FSX_CSI: "storage.lustre"} if storage.lustre else {}),
    }
    for name, use in needed.items():
        addon = cluster.addons.get(name)
        if addon and not addon.enabled:
            yield Problem(f"cluster.addons.{name}.enabled", f"{use} needs this driver", False, "Remove the line.")


def caches(_context: Context, storage: Storage, cluster: Cluster, environment: Environment) -> Iterator[Problem]:
    """Caches have the credentials that their registry needs, and a prefix within ECR's limit."""
    prefix = cluster.name or f"slipway-{environment.name}"
    for upstream, cache in storage.registry.caches.items():
        path = f"storage.registry.caches.{upstream}"
        excess = len(f"{prefix}/{upstream}") - PREFIX
        if excess > 0:
            rule = f"the prefix of cached images, `<cluster>/{upstream}`, has at most {PREFIX} characters"
            fix = f"Shorten the cluster's name by {excess}, or remove the cache."
            yield Problem(path, rule, f"{prefix}/{upstream}", fix)
        if upstream in WITH_CREDENTIALS and cache.credentials_arn is None:
            rule = f"ECR caches {upstream} only with credentials"
            yield Problem(
                f"{path}.credentialsArn", rule, None, "Set the ARN of a secret that is named ecr-pullthroughcache/...."
            )
        if upstream not in WITH_CREDENTIALS and cache.credentials_arn is not None:
            rule = f"{upstream} is public, and ECR accepts no credentials for it"
            yield Problem(f"{path}.credentialsArn", rule, cache.credentials_arn, "Remove the line.")


def credentials(_context: Context, storage: Storage, account: Account) -> Iterator[Problem]:
    """ECR reads only secrets of its own account and region (docs.aws.amazon.com/AmazonECR/latest/userguide/
    pull-through-cache-creating-rule.html, prerequisites; read 2026-11)."""
    for upstream, cache in storage.registry.caches.items():
        if cache.credentials_arn is not None and cache.credentials_arn.split(":")[3:5] != [account.region, account.id]:
            rule = f"the secret must be in the stack's account and region, {account.id} and {account.region}"
            path = f"storage.registry.caches.{upstream}.credentialsArn"
            yield Problem(path, rule, cache.credentials_arn, "Create the secret there, and use its ARN.")


def artifacts(_context: Context, storage: Storage, addons: Addons) -> Iterator[Problem]:
    """Logs and artifacts of a finished workflow are kept as long as the workflow is visible."""
    if addons.argo_workflows is None or storage.buckets.artifact_days is None:
        return
    shown, kept = addons.argo_workflows.keep_days, storage.buckets.artifact_days
    if kept < shown:
        rule = f"artifacts must be kept as long as finished workflows, {shown} days (addons.argoWorkflows.keepDays)"
        yield Problem("storage.buckets.artifactDays", rule, kept, f"Use {shown} or more.")


def databases(_context: Context, addons: Addons, environment: Environment) -> Iterator[Problem]:
    """Databases can grow, and those of a protected environment are protected."""
    for own in addons.databases().values():
        path, database = f"addons.{own.addon}.database", own.settings
        minimum = database.allocated_storage + -(-database.allocated_storage // GROWTH)
        if database.max_allocated_storage < minimum:
            rule = f"storage grows in steps of at least a tenth: the maximum must be {minimum} GiB or more"
            yield Problem(
                f"{path}.maxAllocatedStorage", rule, database.max_allocated_storage, f"Use {minimum} or more."
            )
        if environment.protect and not database.deletion_protection:
            rule = "a protected environment needs deletion protection of its databases"
            yield Problem(f"{path}.deletionProtection", rule, False, "Set it to `true`.")
        if environment.protect and not database.final_snapshot:
            rule = "a protected environment needs a final snapshot of its databases"
            yield Problem(f"{path}.finalSnapshot", rule, False, "Remove the line.")


def names(
    _context: Context, addons: Addons, storage: Storage, cluster: Cluster, environment: Environment
) -> Iterator[Problem]:
    """Names that begin with the cluster's, where RDS and ECR are stricter than EKS about dashes (botocore 1.44.5: rds
    CreateDBInstance, `DBInstanceIdentifier`, no two in a row; ecr `RepositoryName`, none before a slash)."""
    name = cluster.name or f"slipway-{environment.name}"
    path = "cluster.name" if cluster.name else "environment.name"
    databases = [database for database in addons.databases() if "--" in f"{name}-{database}"]
    if databases:
        rule = f"RDS allows no two dashes in a row in the name of a database, `<cluster>-{databases[0]}`"
        yield Problem(path, rule, name, "Use single dashes, with a letter or digit after each.")
    elif name.endswith("-") and (storage.registry.repositories or storage.registry.caches):
        rule = "ECR allows no dash before the slash in the names of repositories, `<cluster>/<name>`"
        yield Problem(path, rule, name, "It must end with a letter or digit.")


def secrets_reached(_context: Context, addons: Addons, network: Network) -> Iterator[Problem]:
    """Without NAT, Secrets Manager, which holds the databases' passwords, needs an endpoint."""
    own = [database.addon for database in addons.databases().values()]
    if own and network.nat is Nat.NONE and Endpoint.SECRETS_MANAGER not in network.endpoints:
        rule = f"without NAT, {own[0]} needs the endpoint secretsmanager for its database's password"
        yield Problem("network.endpoints", rule, list(network.endpoints), "Add secretsmanager.")


def safe_where_protected(_context: Context, storage: Storage, environment: Environment) -> Iterator[Problem]:
    """A protected environment has no storage that a server failure or `destroy` can empty."""
    if not environment.protect:
        return
    if storage.lustre and storage.lustre.deployment_type == "SCRATCH_2":
        rule = "a protected environment must not use SCRATCH_2, which loses the files of a failed server"
        yield Problem("storage.lustre.deploymentType", rule, "SCRATCH_2", "Use PERSISTENT_2.")
    if storage.buckets.force_destroy:
        rule = "the buckets of a protected environment must not be emptied"
        yield Problem("storage.buckets.forceDestroy", rule, True, "Remove the line.")

"""Checks of teams: their members, namespaces, names and storage; their shares against the pools and each other; and
the queues' managers and workers.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import chain
from math import ceil
from typing import Final

from pydantic.alias_generators import to_camel

from spec.catalog import names as limits
from spec.catalog import prices, regions
from spec.catalog.software import SOFTWARE
from spec.naming import physical_length
from spec.settings.addons import Addons
from spec.settings.addons.batch import QUEUES
from spec.settings.admission import Action, Admission
from spec.settings.checks.base import Context, warns
from spec.settings.checks.machines import known_types
from spec.settings.checks.names import PROJECT
from spec.settings.cluster import Cluster
from spec.settings.environment import Account
from spec.settings.pools import Pool, Provisioner, Role
from spec.settings.problems import Problem
from spec.settings.queues import Queues
from spec.settings.teams import CLAIMS_GIB, Share, Team

Teams = Mapping[str, Team]

WORKLOAD_ROLE: Final = "space-{namespace}-role"
"""Logical name of the IAM role of a namespace's workloads."""
RESERVED_PREFIXES: Final = ("kube-", "openshift-", "eks-", "amazon-", "aws-", "slipway-")
RESERVED: Final = frozenset(
    {
        "default",
        "external-secrets",
        "kourier-system",
        "platform",
        *(row.namespace.name for row in SOFTWARE.values() if row.namespace),
    }
)
"""Namespaces of the cluster and of add-ons, installed or not, so that an add-on can be installed later."""
PLACES: Final = frozenset({"mlflow"})
"""Prefixes of add-ons in the buckets of teams (`components.addons.mlflow.values`), installed or not as above."""


def admission_known(_context: Context, teams: Teams, admission: Admission) -> Iterator[Problem]:
    """Actions of teams are for rules and teams that exist."""
    rules = [to_camel(name) for name, field in Admission.model_fields.items() if field.annotation is Action]
    for team, actions in admission.teams.items():
        if team not in teams:
            rule = "a team with actions of its own must be one of the stack"
            yield Problem(f"admission.teams.{team}", rule, team, f"Use one of {', '.join(sorted(teams)) or 'no team'}.")
        for name in actions:
            if name not in rules:
                near = get_close_matches(name, rules, 1) or ["jobBounds"]
                path = f"admission.teams.{team}.{name}"
                yield Problem(path, "it must be an admission rule", name, f"Write it like {near[0]}.")


def members_admitted(_context: Context, teams: Teams, account: Account, cluster: Cluster) -> Iterator[Problem]:
    """Each principal has one access entry, and so one team, and is of the region's partition."""
    if account.region not in regions.REGIONS:
        return
    partition = regions.partition(account.region)
    seen = {access.principal_arn: f"cluster.access.{name}" for name, access in cluster.access.items()}
    for team, settings in teams.items():
        for key, member in settings.members.items():
            path = f"teams.{team}.members.{key}.principalArn"
            arn = member.principal_arn
            if arn.split(":", 2)[1] != partition:
                rule = f"principals of {account.region} must be in the partition {partition}"
                yield Problem(path, rule, arn, f"Write it like arn:{partition}:iam::{account.id}:role/{team}.")
            if arn in seen:
                rule = f"EKS has one access entry for each principal, and {seen[arn]} already has it"
                yield Problem(path, rule, arn, "Remove one of the two, or use one role for each team.")
            seen.setdefault(arn, f"teams.{team}.members.{key}")


def places_own(_context: Context, teams: Teams) -> Iterator[Problem]:
    """A team's prefix in the buckets is the team's name, whatever the names of its namespaces."""
    for team, settings in teams.items():
        # `namespaces_own` reports a team whose namespace has an add-on's name.
        if team in PLACES and team not in settings.namespaces_of(team):
            rule = f"a team's prefix in the buckets is its name, and `{team}/` belongs to an add-on"
            yield Problem(f"teams.{team}", rule, team, "Choose another name.")


def namespaces_own(context: Context, teams: Teams) -> Iterator[Problem]:
    """Namespaces belong to one team each, not to an add-on or the cluster, and fit into AWS names."""
    owners: dict[str, str] = {}
    longest = limits.limit("iam-role").longest
    for team, settings in teams.items():
        for namespace in settings.namespaces_of(team):
            path = _path(team, settings, namespace)
            if namespace in RESERVED or namespace.startswith(RESERVED_PREFIXES):
                rule = "the namespace is reserved for the cluster or an add-on"
                yield Problem(path, rule, namespace, "Choose another name.")
            if namespace in owners:
                rule = f"each namespace belongs to one team, and {owners[namespace]} already has it"
                yield Problem(path, rule, namespace, "Choose another name.")
            owners.setdefault(namespace, f"teams.{team}")
            logical = WORKLOAD_ROLE.format(namespace=namespace)
            excess = physical_length(PROJECT, context.stack, logical) - longest
            if excess > 0:
                rule = (
                    f"the IAM role of the namespace, {PROJECT}-{context.stack}-{logical}-<7 digits>, exceeds {longest}"
                )
                fix = f"Shorten the team's or the namespace's name by {excess}."
                yield Problem(path, f"{rule} characters", longest + excess, fix)


def _path(team: str, settings: Team, namespace: str) -> str:
    if not settings.namespaces:
        return f"teams.{team}"
    return f"teams.{team}.namespaces.{namespace if namespace == team else namespace.removeprefix(f'{team}-')}"


def storage_enough(_context: Context, teams: Teams) -> Iterator[Problem]:
    """The platform's own claims in every namespace fit the team's storage."""
    for team, settings in teams.items():
        for namespace, space in settings.namespaces_of(team).items():
            if settings.storage_gib * space.share < CLAIMS_GIB * 100:
                minimum = -(-CLAIMS_GIB * 100 // space.share)
                rule = (
                    f"the claims of {namespace} request {CLAIMS_GIB} GiB, from its {space.share} percent of the storage"
                )
                yield Problem(f"teams.{team}.storageGib", rule, settings.storage_gib, f"Use {minimum} or more.")


def parts_add_up(_context: Context, teams: Teams, addons: Addons) -> Iterator[Problem]:
    """Without queues, only the shares of its namespaces limit a team, so they must not exceed the whole."""
    if any(map(addons.has, QUEUES)):
        return
    for team, settings in teams.items():
        parts = sum(space.share for space in settings.namespaces_of(team).values())
        if parts > 100:
            rule = "without queues, the shares of a team's namespaces must add up to at most 100 percent"
            fix = "Set `share` of each, or add `kueue: {}` to addons."
            yield Problem(f"teams.{team}.namespaces", rule, parts, fix)


Pools = Mapping[str, Pool]


def pools_named(context: Context, teams: Teams, pools: Pools) -> Iterator[Problem]:
    """Shares name existing pools, under the key of their kind, and not the system pool."""
    for team, settings in teams.items():
        for kind, shares in (("gpus", settings.gpus), ("cpus", settings.cpus)):
            for pool in shares:
                path = f"teams.{team}.{kind}.{pool}"
                if pool in pools:
                    yield from _sort_of(path, kind, pool, pools[pool])
                elif context.whole("pools"):
                    near = get_close_matches(pool, pools, n=1)
                    fitting = sorted(name for name in pools if not list(_sort_of("", kind, name, pools[name])))
                    fix = f"Did you mean `{near[0]}`?" if near else f"Use one of {', '.join(fitting)}."
                    yield Problem(path, "the pool must exist", pool, fix)


def _sort_of(path: str, kind: str, name: str, pool: Pool) -> Iterator[Problem]:
    if pool.role is Role.SYSTEM:
        rule = "the system pool is for controllers and has no flavor"
        yield Problem(path, rule, name, "Use a pool of another role.")
    elif known_types(pool) and _is_gpu(pool) != (kind == "gpus"):
        other = "cpus" if kind == "gpus" else "gpus"
        has = "GPUs" if _is_gpu(pool) else "no GPUs"
        yield Problem(path, f"`{kind}` does not apply to this pool: the pool has {has}", name, f"Move it to `{other}`.")


def something_shared(_context: Context, teams: Teams) -> Iterator[Problem]:
    """A team has a share of at least one pool, and no share is empty."""
    for team, settings in teams.items():
        if not settings.shares:
            rule = "a team needs a share of at least one pool"
            yield Problem(f"teams.{team}", rule, None, "Add `gpus:` or `cpus:` with a pool's name.")
        for path, share in _paths(team, settings):
            if share.maximum == 0:
                yield Problem(
                    path, "a share must not be empty", 0, "Set `nominalQuota` or `borrowingLimit`, or remove it."
                )
            if share.lendable > share.nominal_quota:
                rule = f"a team lends at most its nominalQuota ({share.nominal_quota})"
                yield Problem(
                    f"{path}.lendingLimit",
                    rule,
                    share.lending_limit,
                    f"Use {share.nominal_quota} or less, or remove it.",
                )


def shares_fit(context: Context, teams: Teams, pools: Pools) -> Iterator[Problem]:
    """A pool can hold the teams' nominal quota; otherwise Kueue admits pods that wait for a machine forever."""
    for name, pool in pools.items():
        owners = {
            team: settings.shares[name].nominal_quota for team, settings in teams.items() if name in settings.shares
        }
        nominal, maximum = sum(owners.values()), capacity(pool)
        if maximum and nominal > maximum:
            unit = "GPUs" if _is_gpu(pool) else "vCPUs"
            rule = f"teams have a nominal quota of {nominal} {unit}, and the pool has at most {maximum}"
            largest = sorted(owners, key=lambda team: (-owners[team], team))[:3]
            shown = ", ".join(f"{team} ({owners[team]})" for team in largest)
            nodes = ceil(nominal * pool.max / maximum)
            fix = f"Lower `nominalQuota` of {shown}, which costs nothing; or use {nodes}{_price(context, pool)}."
            yield Problem(f"pools.{name}.max", rule, pool.max, fix)


def _price(context: Context, pool: Pool) -> str:
    """What each further node costs; empty without a price."""
    account = context.parts.get("account")
    book = prices.book(account.region if account else prices.REGION)
    known = [price.usd for kind in pool.instance_types if (price := book.instance(kind)) is not None]
    return f", where each further node costs up to {max(known):,.2f} USD an hour while it runs" if known else ""


def borrowing_fits(context: Context, teams: Teams, addons: Addons) -> Iterator[Problem]:
    """Other teams lend what a team may borrow."""
    if not context.whole("teams"):
        return
    lendable: dict[str, int] = {}
    for settings in teams.values():
        for pool, share in settings.shares.items():
            lendable[pool] = lendable.get(pool, 0) + share.lendable
    for team, settings in teams.items():
        for path, share in _paths(team, settings):
            if share.borrowing_limit == 0:
                continue
            offered = lendable[path.rpartition(".")[2]] - share.lendable
            if not any(map(addons.has, QUEUES)):
                rule = "borrowing needs queues, which return borrowed quota"
                yield Problem(
                    f"{path}.borrowingLimit", rule, share.borrowing_limit, "Remove it, or add `kueue: {}` to addons."
                )
            elif share.borrowing_limit > offered:
                rule = f"the other teams of the cohort lend {offered} of this pool"
                fix = f"Use {offered}, or let others lend more." if offered else "Remove it, or let others lend some."
                yield Problem(f"{path}.borrowingLimit", rule, share.borrowing_limit, fix)


@warns
def pools_unshared(context: Context, teams: Teams, pools: Pools) -> Iterator[Problem]:
    """A pool without a share of any team is idle: its flavor is in no queue."""
    if not teams or not context.whole("teams"):
        return
    shared = set(chain.from_iterable(settings.shares for settings in teams.values()))
    for name, pool in pools.items():
        if pool.role is not Role.SYSTEM and name not in shared:
            rule = "no team has a share of the pool, so no queued workload can run on it"
            fix = f"Give a team a share, or remove the pool: `{'gpus' if _is_gpu(pool) else 'cpus'}: {{{name}: ...}}`."
            yield Problem(f"pools.{name}", rule, name, fix)


def capacity(pool: Pool) -> int:
    """Maximum size of the pool, in the unit of shares: GPUs or vCPUs.

    A managed group gets whichever of its types is available, so its smallest counts; Karpenter starts the largest if a
    pod needs it.
    """
    kinds = known_types(pool)
    if not kinds:
        return 0
    if _is_gpu(pool):
        return pool.max * min(kind.gpus for kind in kinds)
    sizes = [kind.vcpus for kind in kinds]
    return pool.max * (min(sizes) if pool.provisioner is Provisioner.MANAGED else max(sizes))


def _is_gpu(pool: Pool) -> bool:
    return any(kind.gpus for kind in known_types(pool))


def _paths(team: str, settings: Team) -> Iterator[tuple[str, Share]]:
    for kind, shares in (("gpus", settings.gpus), ("cpus", settings.cpus)):
        for pool, share in shares.items():
            yield f"teams.{team}.{kind}.{pool}", share


def workers_managed(_context: Context, queues: Queues, addons: Addons) -> Iterator[Problem]:
    """Only a manager has workers, and a manager has at least one."""
    manages = addons.kueue is not None and addons.kueue.multi_kueue == "manager"
    if queues.workers and not manages:
        rule = "only a MultiKueue manager has workers"
        fix = "Set `addons.kueue.multiKueue: manager`, or remove them."
        yield Problem("queues.workers", rule, sorted(queues.workers), fix)
    if manages and not queues.workers:
        rule = "a MultiKueue manager needs at least one worker"
        fix = "Add `west: {secret: kubeconfig-west}`, or remove `addons.kueue.multiKueue`."
        yield Problem("queues.workers", rule, None, fix)
    if queues.remote_pools and not queues.workers:
        rule = "remote pools need a worker cluster"
        yield Problem("queues.remotePools", rule, list(queues.remote_pools), "Add `workers`, or remove it.")


def aliases_differ(_context: Context, queues: Queues) -> Iterator[Problem]:
    """Each LocalQueue of a namespace has its own name; `default` exists without being listed."""
    for position, name in enumerate(queues.aliases):
        if name in ("default", *queues.aliases[:position]):
            yield Problem(f"queues.aliases.{position}", "each queue needs another name", name, "Remove it.")


def named_pools_exist(context: Context, queues: Queues, _pools: Mapping[str, Pool]) -> Iterator[Problem]:
    """Pools that the queues name exist in this stack."""
    for key, names in (("remotePools", queues.remote_pools), ("poolOrder", queues.pool_order)):
        for position, name in enumerate(names):
            if name not in context.named("pools"):
                fix = f"Use {', '.join(context.named('pools'))}."
                yield Problem(f"queues.{key}.{position}", "the pool must exist", name, fix)

"""A folder of an import as a stack: its pools, its queues as teams with shares, and the objects that decide.

Engines that read a stack file take this in its place. What the folder does not say is in the notes; options ask it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final

from sandbox.kubernetes.objects import Object
from slipway.imported.folder import Folder, facts_of, team_of
from slipway.imported.keep import CONFIGS, Names
from slipway.imported.sources import of_files
from slipway.replay.places import models_of, parts_of
from slipway.replay.plan import CLUSTER, KUEUE, Objects
from spec import strict_yaml
from spec.catalog import gpus, instances, kubernetes, mig, prices
from spec.catalog.instances import InstanceType
from spec.errors import refuse
from spec.jobs import KUEUE_API
from spec.pools import PoolSpec, keys, resolve_all
from spec.quantities import CPU, MEMORY, MI, parse
from spec.settings import Platform
from spec.settings.capacity import Capacity, Disruption, Market, Mig, Sharing
from spec.settings.load import validate_parts
from spec.settings.parts import beside_existing
from spec.settings.pools import FoundPool, Provisioner, Role, Taint
from spec.settings.teams import FoundTeam, Share

INSTANCE: Final = "node.kubernetes.io/instance-type"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
_PRODUCTS: Final = ("nvidia.com/gpu.product", "cloud.google.com/gke-accelerator")
"""Labels that name a node's GPU: of NVIDIA's GPU feature discovery, and of GKE."""
_GROUPS: Final = (
    *(keys.NODE_POOL, "eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name", "kops.k8s.io/instancegroup"),
    *("cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool", INSTANCE, *_PRODUCTS),
)
"""Labels that name a node's group, the first one that it has."""
_REGION_OF_AWS: Final = re.compile("[a-z]{2,4}(-[a-z]+)+-[0-9]")
_FAMILIES: Final = ("karpenter.k8s.aws/instance-", "eks.amazonaws.com/instance-")
"""What Karpenter, and EKS Auto Mode (EKS User Guide, "Create a Node Pool for EKS Auto Mode"), call facts of a type."""
_EKS_MARKET: Final = "eks.amazonaws.com/capacityType"
_MARKETS: Final = {"SPOT": "spot", "CAPACITY_BLOCK": "reserved"}
"""Values of it (EKS User Guide, "Managed node groups", capacity types)."""
_OF_NODE: Final = ("kubernetes.io/hostname", ZONE, "topology.k8s.aws/", INSTANCE, "topology.ebs.csi.aws.com/")
"""Labels of one node, which another of its group need not have."""
_ALL: Final = 1000  # nodes of a pool without a limit: the most that a setting of a pool may have
ONE: Final = "all-nodes"
"""Name of the queue of a cluster that has none."""
_RENAMED: Final = {"cohort": "cohortName", "parent": "parentName"}
"""Fields of Kueue's v1beta1 by their names in v1beta2 (kueue v0.19.2, apis/kueue/v1beta1, *_conversion.go)."""


_SETTINGS: Final[Mapping[str, Any]] = {
    "cluster": {"existing": {"name": "imported", "installed": ["kueue", "karpenter"], "instanceProfile": "its-own"}},
    "environment": {"name": "imported", "owner": "unknown", "costCenter": "unknown"},
}
"""Of a cluster that others made nothing but its pools is priced."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A cluster without a stack file."""

    name: str
    platform: Platform
    objects: Objects
    notes: Sequence[str]  # what the folder does not say, and what is assumed


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Machines of one kind that a NodePool or a node group has."""

    kinds: Sequence[InstanceType]  # the largest number of GPUs first
    market: str
    labels: Mapping[str, str]
    taints: Sequence[Mapping[str, Any]]
    nodes: Sequence[Object]  # those that are there
    own: Mapping[str, str]  # labels that only its nodes have
    pool: Mapping[str, Any] | None = None  # the NodePool


def read(folder: Path, region: str | None = None, nodes: Mapping[str, str] | None = None) -> Found:
    """The stack of a folder.

    Args:
        region: Region of the prices, in place of that of the nodes' labels.
        nodes: Least and most nodes of node groups, such as `0-8`.

    Raises:
        SlipwayError: It is no folder of an import, or nothing in it is a pool of known machines.
    """
    facts_of(folder)
    found = Folder(Names())
    found.add(of_files([folder]))
    try:
        return made(folder.name, found.objects, region, nodes or {})
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        refuse(f"{folder}: objects must be as an API server returns them (given: {error!r}). Import it again.", error)


def made(name: str, objects: Mapping[str, Sequence[Object]], region: str | None, bounds: Mapping[str, str]) -> Found:
    """The stack of objects by kind; arguments and errors as above."""
    notes: list[str] = []
    labels = [one["metadata"].get("labels") or {} for one in objects.get("Node", ())]
    named = (one[REGION] for one in labels if _REGION_OF_AWS.fullmatch(str(one.get(REGION))))
    region = region or next(named, None)
    if region is None:
        region = prices.REGION
        notes.append(f"no node has a region of AWS as its {REGION}: prices are those of {region}, or of --region")
    parts = dict(_parts(objects, region, notes))
    if not parts:
        refuse(f"{name}: NodePools, or nodes with types of the catalog, must be there ({'; '.join(notes)})")
    if unknown := bounds.keys() - parts.keys():
        refuse(f"--nodes {min(unknown)}: it must be a node group (given: none of {', '.join(sorted(parts))})")
    deciding = list(_deciding(objects, parts, notes))
    zones = sorted({one[ZONE] for one in labels if ZONE in one}) or [f"{region}a"]
    settings = {
        **_SETTINGS,
        "account": {"id": "0" * 12, "region": region},
        "network": {"cidr": "10.0.0.0/16", "zones": [f"{region}a", f"{region}b"], "nat": "none"},
    }
    given, problems = validate_parts(beside_existing(settings))
    if problems:
        refuse(f"{name}: {problems[0].path}: {problems[0].rule} (given: {problems[0].value}). Name one by --region.")
    pools = {key: _pool(key, one, deciding, zones, bounds, notes) for key, one in parts.items()}
    if not any(one["kind"] in ("ClusterQueue", "LocalQueue") for one in deciding):
        notes.append("no queue of Kueue is there: one queue of all nodes is assumed, for all namespaces")
        deciding += _one_queue(objects, parts, pools)
    platform = Platform.model_construct(**{**given, "pools": pools})
    teams = dict(_teams(deciding, parts, resolve_all(platform)))
    return Found(
        name=name,
        platform=platform.model_copy(update={"teams": teams}),
        objects=Objects(
            objects=deciding,
            kueue=_configuration(objects.get("ConfigMap", ()), notes),
            scheduler=kubernetes.scheduler_configuration({}),
        ),
        notes=[*dict.fromkeys(notes)],
    )


def _parts(objects: Mapping[str, Sequence[Object]], region: str, notes: list[str]) -> Iterator[tuple[str, _Part]]:
    pools = {one["metadata"]["name"]: _of_v1(one) for one in objects.get("NodePool.karpenter.sh", ())}
    groups: defaultdict[tuple[str, str], list[Object]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    for node in objects.get("Node", ()):
        labels = node["metadata"].get("labels") or {}
        label, kind = next((key for key in _GROUPS if labels.get(key)), ""), _kind(node)
        if (node.get("spec") or {}).get("unschedulable"):
            left_out["they are cordoned"] += 1
        elif kind is None:
            named = f"the catalog has no instance type {labels.get(INSTANCE)}"
            left_out[named if labels.get(INSTANCE) else f"they have neither {INSTANCE} nor {_PRODUCTS[0]}"] += 1
        else:
            if kind.name != labels.get(INSTANCE):
                notes.append(f"{label} {labels[label]}: nodes that AWS doesn't have are priced as {kind.name}")
            groups[label, labels[label]].append(node)
    notes += [f"{count} nodes are left out: {why}" for why, count in left_out.items()]
    for name, pool in pools.items():
        found = list(_of_node_pool(name, pool, groups.get((keys.NODE_POOL, name), []), region, notes))
        if found:
            groups.pop((keys.NODE_POOL, name), None)
        yield from found
    for (label, name), nodes in groups.items():
        yield name, _of_group(name, label, nodes)


def _of_v1(pool: Object) -> Object:
    """A NodePool of v1beta1 as v1 has it (karpenter.sh, "v1 Migration", changelog)."""
    if not pool["apiVersion"].endswith("/v1beta1"):
        return pool
    spec, disruption = pool["spec"], dict(pool["spec"].get("disruption") or {})
    inner = {**spec["template"]["spec"], "expireAfter": disruption.pop("expireAfter", "720h")}
    reference = inner["nodeClassRef"]
    inner["nodeClassRef"] = {"group": str(reference.get("apiVersion")).partition("/")[0], **reference}
    inner["nodeClassRef"].pop("apiVersion", None)
    if disruption.get("consolidationPolicy") == "WhenUnderutilized":
        disruption["consolidationPolicy"] = "WhenEmptyOrUnderutilized"
    spec = {**spec, "disruption": disruption, "template": {**spec["template"], "spec": inner}}
    return {**pool, "apiVersion": "karpenter.sh/v1", "spec": spec}


def _of_node_pool(
    name: str, pool: Object, nodes: Sequence[Object], region: str, notes: list[str]
) -> Iterator[tuple[str, _Part]]:
    template = pool["spec"]["template"]
    terms = template["spec"].get("requirements") or []
    known = _facts(next(iter(instances.ALL.values())))
    for key in (one["key"] for one in terms if one["key"].startswith(_FAMILIES) and one["key"] not in known):
        notes.append(f"NodePool {name}: its requirement of {key} is not in the catalog, and chooses no type")
    if any(one.get("minValues") for one in terms):
        notes.append(f"NodePool {name}: its minValues have no say")
    by_kind: defaultdict[tuple[str, str], list[InstanceType]] = defaultdict(list)
    for kind in sorted(instances.ALL.values(), key=lambda one: -one.gpus):
        if kind.offered_in(region) is not False and _meets(terms, _facts(kind)):
            by_kind[kind.gpu_name or "cpu", kind.arch].append(kind)
    markets = [one for one in ("spot", "on-demand") if _meets(terms, {keys.CAPACITY_TYPE: one})] or ["reserved"]
    only = {one["key"]: one["values"][0] for one in terms if one["operator"] == "In" and len(one["values"]) == 1}
    labels = {**only, **((template.get("metadata") or {}).get("labels") or {}), keys.NODE_POOL: name}
    rows = [(key, market) for market in markets for key in by_kind]
    if not rows:
        notes.append(f"NodePool {name} is left out: no instance type of the catalog meets its requirements")
    if len(rows) > 1:
        notes.append(
            f"NodePool {name} is {len(rows)} pools here, by GPU, architecture and market, each with its limits"
        )
    for number, (key, market) in enumerate(rows):
        yield (
            "-".join((name, *key, market)).lower().replace("_", "-") if number else name,
            _Part(
                kinds=by_kind[key],
                market=market,
                labels={**_common(by_kind[key]), **labels},
                taints=template["spec"].get("taints") or [],
                nodes=[one for one in nodes if _market(one) == market and _kind(one) in by_kind[key]],
                own={keys.NODE_POOL: name, **({keys.CAPACITY_TYPE: market} if number else {})},
                pool=pool,
            ),
        )


def _of_group(name: str, label: str, nodes: Sequence[Object]) -> _Part:
    labels = [one["metadata"]["labels"] for one in nodes]
    taints = [(one.get("spec") or {}).get("taints") or [] for one in nodes]
    kinds = sorted({kind for one in nodes if (kind := _kind(one))}, key=lambda one: (-one.gpus, one.name))
    common = {key: value for key, value in labels[0].items() if all(one.get(key) == value for one in labels)}
    return _Part(
        kinds=[one for one in kinds if one.gpu_name == kinds[0].gpu_name],
        market=_market(nodes[0]),
        labels={key: value for key, value in common.items() if not key.startswith(_OF_NODE)},
        taints=[one for one in taints[0] if all(one in other for other in taints)],
        nodes=nodes,
        own={label: name},
    )


def _kind(node: Object) -> InstanceType | None:
    """The type of a node; of one that is not of AWS, the smallest type with as many of its GPU."""
    labels, capacity = node["metadata"].get("labels") or {}, (node.get("status") or {}).get("capacity") or {}
    product = next((labels[key] for key in _PRODUCTS if labels.get(key)), "")
    count = labels.get("nvidia.com/gpu.count") or capacity.get(keys.GPU) or "0"
    return instances.find(str(labels.get(INSTANCE))) or (_alike(product, int(count)) if product else None)


@cache
def _alike(product: str, count: int) -> InstanceType | None:
    models = models_of(product)
    found = (one for one in instances.ALL.values() if one.gpu_name in models and one.gpus >= count)
    return min(found, key=lambda one: (one.gpus, one.vcpus, one.name), default=None)


def _market(node: Object) -> str:
    labels = node["metadata"]["labels"]
    return str(labels.get(keys.CAPACITY_TYPE) or _MARKETS.get(str(labels.get(_EKS_MARKET)), "on-demand"))


def _facts(kind: InstanceType) -> dict[str, str]:
    """Labels that Karpenter gives to nodes of a type (karpenter-provider-aws v1.15.2, pkg/apis/v1/labels.go)."""
    gpu = gpus.get(kind.gpu_name).ec2_name.lower().replace(" ", "-") if kind.gpu_name else ""
    of_type: dict[str, Any] = {
        "family": kind.family, "category": kind.category, "generation": kind.generation,
        "size": kind.name.partition(".")[2], "cpu": kind.vcpus, "memory": kind.memory_mib,
        "gpu-name": gpu, "gpu-count": kind.counted_gpus or "", "gpu-memory": kind.gpu_memory_mib or "",
        "gpu-manufacturer": gpu and "nvidia", "local-nvme": kind.nvme_gb or "", "network-bandwidth": kind.network_mbps,
        "hypervisor": "nitro",
    }  # fmt: skip
    named = {INSTANCE: kind.name, keys.ARCH: kind.arch.replace("x86_64", "amd64"), "kubernetes.io/os": "linux"}
    return {**named, **{f"{family}{key}": str(one) for family in _FAMILIES for key, one in of_type.items()}}


def _common(kinds: Iterable[InstanceType]) -> dict[str, str]:
    """Labels that all nodes of some types have."""
    return dict(set.intersection(*({(key, one) for key, one in _facts(kind).items() if one} for kind in kinds)))


def _meets(terms: Iterable[Mapping[str, Any]], facts: Mapping[str, str]) -> bool:
    """Whether facts meet the requirements that are about them (karpenter.sh/v1, NodeSelectorRequirement)."""
    return all(
        _met(one["operator"], one.get("values") or [], facts[one["key"]]) for one in terms if one["key"] in facts
    )


def _met(operator: str, values: Sequence[str], has: str) -> bool:
    if operator in ("In", "NotIn"):
        return (has in values) == (operator == "In")
    if operator in ("Exists", "DoesNotExist"):
        return bool(has) == (operator == "Exists")
    above = int(has or 0) - int(values[0])
    return bool(has) and ((above > 0) == operator.startswith("G") if above else operator in ("Gte", "Lte"))


def _pool(
    name: str, part: _Part, deciding: Sequence[Object], zones: list[str], bounds: Mapping[str, str], notes: list[str]
) -> FoundPool:
    first, spec = part.kinds[0], (part.pool or {}).get("spec") or {}
    node = next((one for one in part.nodes if _kind(one) == first), {})
    # Without a node, what its labels have the GPU Operator do with its GPUs.
    layout = mig.named_layout(part.labels.get(keys.MIG_CONFIG, ""), first.gpu_name) if first.gpu_name else None
    shared = keys.replicas_of(part.labels.get(keys.DEVICE_PLUGIN_CONFIG, ""))
    whole = {key: count * shared for key, count in mig.resources(layout or {}, first.gpus).items()}
    has = (node.get("status") or {}).get("capacity") or (whole if first.gpus else {})
    devices = {key: int(parse(str(one))) for key, one in has.items() if key.startswith((keys.NVIDIA, keys.EFA))}
    devices = {key: count for key, count in devices.items() if count}
    profiles = {key.removeprefix(keys.MIG): n // first.gpus for key, n in devices.items() if key.startswith(keys.MIG)}
    times = devices.get(keys.GPU, 0) // (first.gpus or 1)
    flavors = [one for one in deciding if one["kind"] == "ResourceFlavor"]
    covering = [one["spec"].get("nodeLabels") or {} for one in flavors if _covers(one, part)]
    disruption, template = spec.get("disruption") or {}, (spec.get("template") or {}).get("spec") or {}
    low, high = _bounds(name, part, spec.get("limits") or {}, bounds.get(name), notes)
    terms = template.get("requirements") or ()
    named = (one["values"] for one in terms if (one["key"], one["operator"]) == (ZONE, "In"))
    return FoundPool.model_construct(
        role=Role.TRAINING if devices else Role.GENERAL if covering or not flavors else Role.SYSTEM,
        provisioner=Provisioner.KARPENTER if part.pool else Provisioner.MANAGED,
        instance_types=tuple(one.name for one in part.kinds),
        capacity=Capacity(market=Market(part.market)),
        min=low,
        max=high,
        zones=tuple(next(named, zones)),
        labels=dict(part.labels),
        taints={one["key"]: Taint(value=one.get("value") or "", effect=one["effect"]) for one in part.taints},
        efa=keys.EFA in devices,
        mig=Mig(profiles=profiles) if profiles else None,
        sharing=Sharing(mode="time-slicing", replicas=times) if times > 1 else None,
        devices=devices,
        selector={**next(iter(covering), {}), **part.own},
        disruption=Disruption.model_construct(
            consolidation_policy=disruption.get("consolidationPolicy") or "WhenEmptyOrUnderutilized",
            consolidate_after=disruption.get("consolidateAfter") or "0s",
            expire_after=template.get("expireAfter") or "720h",
        ),
    )


def _bounds(name: str, part: _Part, limits: Mapping[str, Any], asked: str | None, notes: list[str]) -> tuple[int, int]:
    """Least and most nodes: as `--nodes` asks, by the limits of a NodePool, or as many as there are."""
    if asked is not None:
        low, _, high = asked.partition("-")
        if not (low.isdigit() and high.isdigit() and int(low) <= int(high) <= _ALL and int(high)):
            refuse(f"--nodes {name}={asked}: it must be least and most nodes, at most {_ALL}. Write it like 0-8.")
        return int(low), int(high)
    if part.pool is None:
        notes.append(f"node group {name} has {len(part.nodes)} nodes all the time; --nodes {name}=0-8 for others")
        return len(part.nodes), len(part.nodes)
    least = {
        CPU: min(one.vcpus for one in part.kinds),
        "memory": min(one.usable_memory_mib for one in part.kinds) * MI,
        keys.GPU: min(one.gpus for one in part.kinds),
        "nodes": 1,
    }
    most = [int(parse(str(limits[key])) // each) for key, each in least.items() if each and key in limits]
    if not most:
        notes.append(f"NodePool {name} has no limits: it may have {_ALL} nodes")
    return 0, max(1, min([*most, _ALL]))


def _covers(flavor: Object, part: _Part) -> bool:
    """Whether nodes of a part have, or may have, the labels of a flavor."""
    has = {**_common(part.kinds), **part.labels, keys.CAPACITY_TYPE: part.market}
    zones = {(node["metadata"].get("labels") or {}).get(ZONE) for node in part.nodes}
    terms = part.pool["spec"]["template"]["spec"].get("requirements") or [] if part.pool else ()
    return all(
        has.get(key) == value
        or (key == INSTANCE and value in {one.name for one in part.kinds})
        or (key == ZONE and (value in zones or (part.pool is not None and _meets(terms, {ZONE: value}))))
        for key, value in (flavor["spec"].get("nodeLabels") or {}).items()
    )


def _deciding(
    objects: Mapping[str, Sequence[Object]], parts: Mapping[str, _Part], notes: list[str]
) -> Iterator[Object]:
    """The objects that the engine of a replay reads; Kueue's in the version that it knows."""
    for one in (one for found in objects.values() for one in found if one["kind"] in KUEUE | CLUSTER - {"NodePool"}):
        metadata = {key: one["metadata"][key] for key in ("name", "namespace", "labels") if key in one["metadata"]}
        found = {**{key: value for key, value in one.items() if key != "status"}, "metadata": metadata}
        if one["kind"] in KUEUE:
            found["apiVersion"] = KUEUE_API
            if one["kind"] != "WorkloadPriorityClass":
                found["spec"] = _converted(
                    {_RENAMED.get(key, key): value for key, value in (one.get("spec") or {}).items()}
                )
                if "admissionChecksStrategy" in found["spec"]:
                    notes.append(f"ClusterQueue {metadata['name']}: its admission checks are ready at once")
        yield found
    for name, part in parts.items():
        if part.pool is not None:
            yield _rendered(name, part.labels, part.pool)


def _rendered(name: str, labels: Mapping[str, str], pool: Mapping[str, Any]) -> Object:
    """A NodePool as Karpenter's simulation takes it: its types are chosen already, so that it requires nothing of them,
    and has the labels that they have in common."""
    spec, template = pool["spec"], pool["spec"]["template"]
    terms = [
        {key: value for key, value in one.items() if key != "minValues"}
        for one in template["spec"].get("requirements") or ()
        if not one["key"].startswith((INSTANCE, *_FAMILIES))
    ]
    template = {"metadata": {"labels": dict(labels)}, "spec": {**template["spec"], "requirements": terms}}
    named = {"apiVersion": pool["apiVersion"], "kind": "NodePool", "metadata": {"name": name}}
    return {**named, "spec": {**spec, "template": template}}


def _converted(spec: dict[str, Any]) -> dict[str, Any]:
    if checks := spec.pop("admissionChecks", None):
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": name} for name in checks]}
    if ways := spec.get("flavorFungibility"):
        stops = ("Borrow", "Preempt")
        spec["flavorFungibility"] = {key: "MayStopSearch" if way in stops else way for key, way in ways.items()}
    return spec


def _one_queue(
    objects: Mapping[str, Sequence[Object]], parts: Mapping[str, _Part], pools: Mapping[str, FoundPool]
) -> Iterator[Object]:
    """Queues of a cluster without Kueue: what all nodes have, for all namespaces but those of Kubernetes."""
    covered = dict.fromkeys((CPU, MEMORY, *(key for pool in pools.values() for key in pool.devices or ())))
    flavors = []
    for name, pool in pools.items():
        kind = parts[name].kinds[0]
        has = {CPU: kind.vcpus, MEMORY: kind.usable_memory_mib * MI, **(pool.devices or {})}
        resources = [{"name": key, "nominalQuota": str(has.get(key, 0) * pool.max)} for key in covered]
        flavors.append({"name": name, "resources": resources})
        labels = {**parts[name].labels, keys.CAPACITY_TYPE: parts[name].market}
        flavor = {"apiVersion": KUEUE_API, "kind": "ResourceFlavor", "metadata": {"name": name}}
        yield {**flavor, "spec": {"nodeLabels": labels}}
    group = {"coveredResources": [*covered], "flavors": flavors}
    spaces = {str(each["metadata"].get("namespace") or "") for found in objects.values() for each in found}
    spaces |= {one["metadata"]["name"] for one in objects.get("Namespace", ())} | {"default"}
    queue = {"apiVersion": KUEUE_API, "kind": "ClusterQueue", "metadata": {"name": ONE}}
    yield {**queue, "spec": {"namespaceSelector": {}, "resourceGroups": [group]}}
    for space in sorted(one for one in spaces if one and not one.startswith("kube-")):
        local = {"kind": "LocalQueue", "metadata": {"name": ONE, "namespace": space}}
        yield {**queue, **local, "spec": {"clusterQueue": ONE}}


def _configuration(maps: Iterable[Object], notes: list[str]) -> dict[str, Any]:
    version = KUEUE_API.replace("kueue.", "config.kueue.", 1)
    for text in (text for one in maps for key, text in one["data"].items() if key in CONFIGS):
        found: dict[str, Any] = strict_yaml.one(text)
        if found.get("apiVersion") == version:
            return found
    notes.append(f"Kueue has the defaults of its configuration: the folder has none of {version}")
    return {}


def _teams(
    deciding: Sequence[Object], parts: Mapping[str, _Part], specs: Mapping[str, PoolSpec]
) -> Iterator[tuple[str, FoundTeam]]:
    """A team for each LocalQueue."""
    queues = {one["metadata"]["name"]: one for one in deciding if one["kind"] == "ClusterQueue"}
    local = [one for one in deciding if one["kind"] == "LocalQueue"]
    several = Counter(one["metadata"]["namespace"] for one in local)
    levels = [one for one in deciding if one["kind"] in ("PriorityClass", "WorkloadPriorityClass")]
    levels.sort(key=lambda one: -int(one.get("value") or 0))
    for one in local:
        space, queue = one["metadata"]["namespace"], one["metadata"]["name"]
        own = queues.get(str(one["spec"].get("clusterQueue")), {"spec": {}})
        shares = dict(_shares(own, deciding, parts, specs))
        yield (
            team_of(space, queue, several),
            FoundTeam.model_construct(
                **{"project": space, "cost_center": space, "namespace": space, "local_queue": queue},
                priorities=(*dict.fromkeys(one["metadata"]["name"] for one in levels), ""),  # type: ignore[arg-type]
                gpus={name: share for name, share in shares.items() if specs[name].gpu},
                cpus={name: share for name, share in shares.items() if not specs[name].gpu},
            ),
        )


def _shares(
    own: Object, deciding: Sequence[Object], parts: Mapping[str, _Part], specs: Mapping[str, PoolSpec]
) -> Iterator[tuple[str, Share]]:
    """What a ClusterQueue may use of each pool, in GPUs or vCPUs; without a limit of borrowing all that others have."""
    flavors = {one["metadata"]["name"]: one for one in deciding if one["kind"] == "ResourceFlavor"}
    every = [each for one in deciding if one["kind"] in ("ClusterQueue", "Cohort") for each in _quotas(one)]
    for quota in (one for one in _quotas(own) if one["name"] in flavors):
        for name in (name for name, part in parts.items() if _covers(flavors[quota["name"]], part)):
            nominal = _amount(quota, specs[name], "nominalQuota")
            total = sum(_amount(one, specs[name], "nominalQuota") for one in every if one["name"] == quota["name"])
            limited = any(one.get("borrowingLimit") is not None for one in quota["resources"])
            more = _amount(quota, specs[name], "borrowingLimit") if limited else total - nominal
            if not own["spec"].get("cohortName"):
                more = Fraction(0)
            yield name, Share.model_construct(nominal_quota=int(nominal), borrowing_limit=int(more))


def _quotas(queue: Object) -> Iterator[Mapping[str, Any]]:
    for group in queue["spec"].get("resourceGroups") or ():
        yield from group.get("flavors") or ()


def _amount(quota: Mapping[str, Any], spec: PoolSpec, of: str) -> Fraction:
    """Whole GPUs, or vCPUs, of what a quota says of a flavor."""
    sizes = dict(parts_of(spec)) or {CPU: Fraction(1)}
    rows = [one for one in quota.get("resources") or () if one["name"] in sizes and one.get(of) is not None]
    return sum((Fraction(parse(str(one[of]))) * sizes[one["name"]] for one in rows), Fraction(0))

"""The existing cluster that a stack names, held against what the stack needs of it."""

from collections.abc import Iterator
from typing import Final

from slipway.account.context import AccountContext, Diagnosis, failed, note, ok
from spec.settings.found_cluster import PATH, FoundCluster, problems, warnings

_WHAT: Final = "existing cluster"


def look_up(context: AccountContext) -> FoundCluster | None:
    """The cluster; None if there is none, or if the settings name none."""
    existing = context.platform.cluster.existing
    answer = existing and context.look_up("eks", "describe_cluster", "ResourceNotFound", name=existing.name)
    if not existing or not answer:
        return None
    one = answer["cluster"]
    return FoundCluster(
        name=existing.name,
        status=one["status"],
        version=one["version"],
        service_cidr=one["kubernetesNetworkConfig"].get("serviceIpv4Cidr", ""),
        # That of clusters from before access entries, of which EKS may say nothing.
        authentication=one.get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP"),
        auto=one.get("computeConfig", {}).get("enabled", False),
        addons=frozenset(context.pages("eks", "list_addons", "addons", clusterName=existing.name)),
        vpc=one["resourcesVpcConfig"]["vpcId"],
        subnets=tuple(sorted(one["resourcesVpcConfig"]["subnetIds"])),
    )


def existing(context: AccountContext) -> Iterator[Diagnosis]:
    """The cluster exists, and the stack can use it; nothing if the stack makes its cluster."""
    platform = context.platform
    if platform.cluster.existing is None:
        return
    found = look_up(context)
    if found is None:
        yield failed(_WHAT, f"EKS has none in {context.region} of this name", f"correct {PATH}.name")
        return
    refused = list(problems(platform.cluster, platform.uses, found))
    for problem in refused:
        yield failed(_WHAT, f"{problem.path}: {problem.rule} ({problem.value})", problem.fix)
    for problem in warnings(platform.uses, found):
        yield note(_WHAT, f"{problem.path}: {problem.rule} ({problem.value})", problem.fix)
    if not refused:
        yield ok(_WHAT, f"{found.name}, Kubernetes {found.version}, in {found.vpc}")

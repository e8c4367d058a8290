"""What a stack would make and a cluster that exists has: found before the engine runs, and refused.

The provider of Kubernetes refuses such an object, Helm such a release and EKS such an add-on, but only in an update,
when others are made already. Objects of the stack's own state are no finding.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from pydantic.alias_generators import to_camel

from sandbox.kubernetes.client import KubeClient, NoSuchKindError
from sandbox.kubernetes.objects import Ref
from slipway.account.context import Client, reachable
from slipway.engine.invocation import Operation, Request
from slipway.engine.state import StackState
from slipway.render.program import record_platform
from slipway.render.recording import RecordedResource
from spec.settings import ConfigurationError, Platform, Problem
from spec.settings.found_cluster import PATH

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
ADDON: Final = "aws:eks/addon:Addon"
_FIXES: Final = {
    "PriorityClass": ("teams", "Teams of one cluster are in one stack file: put these into the one that has some."),
    "NodePool": ("pools", "Rename the pool."),
    "StorageClass": ("storage.blockClass", "Choose another name, such as slipway-gp3."),
    "Cohort": ("queues.cohort", "Choose another name."),
}
_OTHER: Final = (PATH, "Rename or import them (`pulumi import`), or remove from the file what makes them.")


def refuse_taken(
    request: Request,
    platform: Platform,
    state: Callable[[], StackState],
    connect: Callable[[], KubeClient | None],
    client: Client,
) -> None:
    """Refuse to make what the cluster has.

    Raises:
        ConfigurationError: With every object, release and add-on that is there and not the stack's.
    """
    if platform.cluster.existing is None or request.operation not in (Operation.UP, Operation.PREVIEW):
        return
    with reachable():
        cluster = connect()
    if cluster is None:
        return  # The program reports it.
    ours = {_identity(one.type, one.inputs) for one in state().resources}
    wanted = record_platform(platform, stack=request.stack)
    new = [one for one in wanted if _identity(one.type, one.inputs.plain) not in ours]
    found = [*_objects(new, cluster), *_addons(new, platform.cluster_name, client)]
    if found:
        raise ConfigurationError(found, f"stack {request.stack} on {platform.cluster_name}")


def _identity(kind: str, inputs: Mapping[str, Any]) -> tuple[str, ...]:
    metadata = inputs.get("metadata") or inputs
    return kind.rpartition(":")[2], *(str(metadata.get(key, "")) for key in ("namespace", "name", "addonName"))


def _objects(new: Iterable[RecordedResource], cluster: KubeClient) -> Iterator[Problem]:
    there = defaultdict[str, list[str]](list)
    for one in new:
        inputs = one.inputs.plain
        if one.type == RELEASE:
            yield from _release(cluster, str(inputs["namespace"]), str(inputs["name"]), str(one.parent))
        elif one.type.startswith("kubernetes:") and "metadata" in inputs and _there(cluster, ref := Ref.of(inputs)):
            there[ref.kind].append(f"{ref.namespace}/{ref.name}".removeprefix("/"))
    for kind, names in sorted(there.items()):
        path, fix = _FIXES.get(kind, _OTHER)
        yield Problem(path, f"the cluster has objects of kind {kind} that this stack didn't make", sorted(names), fix)


def _release(cluster: KubeClient, namespace: str, name: str, parent: str) -> Iterator[Problem]:
    """By the Secrets in which Helm keeps a release (helm.sh, "Advanced Helm Techniques", storage backends)."""
    secrets = cluster.discovery.find("v1", "Secret")
    if not any(True for _ in cluster.list(secrets, namespace, f"owner=helm,name={name}")):
        return
    key = to_camel(parent.rpartition("::")[2].replace("-", "_"))
    path, fix = f"{PATH}.installed", f"Add {key}, or remove what installs it."
    if key == "karpenter":
        path, fix = f"{PATH}.instanceProfile", "Name the instance profile of its nodes."
    yield Problem(path, "the cluster has the Helm release", f"{namespace}/{name}", fix)


def _there(cluster: KubeClient, ref: Ref) -> bool:
    try:
        return cluster.metadata(ref) is not None
    except NoSuchKindError:
        return False


def _addons(new: Iterable[RecordedResource], name: str, client: Client) -> Iterator[Problem]:
    wanted = {str(one.inputs.plain["addonName"]) for one in new if one.type == ADDON}
    pages = client("eks").get_paginator("list_addons").paginate(clusterName=name) if wanted else ()
    for addon in sorted(wanted.intersection(one for page in pages for one in page["addons"])):
        yield Problem(f"cluster.addons.{addon}", "the cluster has the EKS add-on", addon, "Remove it.")

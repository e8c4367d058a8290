"""Objects that reach beyond their namespace: volumes, network policies, service accounts of the platform."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.checks.pods import pods
from policies.evaluation.ranges import internet
from policies.levels import Levels
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import (
    ADDON,
    NAMESPACE,
    NETWORK_POLICY,
    PERSISTENT_VOLUME,
    POD_IDENTITY,
    STORAGE_CLASS,
    WORKLOADS,
)
from policies.rule import Check, Context, ResourceRule, Setting, StackRule, Violation, everywhere, violation
from spec.teams.labels import TEAM

_ABOUT_VOLUMES: Final = (
    "accessModes",
    "capacity",
    "claimRef",
    "csi",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
)
"""Fields of a PersistentVolume's spec that are no source but `csi` (Kubernetes API 1.36, PersistentVolumeSpec)."""
_DRIVERS: Final = ["ebs.csi.aws.com", "efs.csi.aws.com", "fsx.csi.aws.com", "s3.csi.aws.com"]
_NAMES: Final[dict[str, Any]] = {"type": "array", "items": {"type": "string"}}
_OF_ADDONS: Final = "kube-system"
"""Where EKS installs its add-ons."""
_ALL_PORTS: Final = (1, 65535)


def _source(volume: Resource, context: Context) -> Iterator[Violation]:
    if volume.type != PERSISTENT_VOLUME:
        return
    for key, node in volume["spec"].fields().items():
        if key not in _ABOUT_VOLUMES and not node.missing:
            yield violation(node, f"a volume of type {key}")
    driver = volume["spec"]["csi"]["driver"]
    if driver.known and driver.raw not in context.settings["drivers"]:
        yield violation(driver)


def _provisioner(storage: Resource, context: Context) -> Iterator[Violation]:
    provisioner = storage["provisioner"]
    if storage.type == STORAGE_CLASS and provisioner.known and provisioner.raw not in context.settings["drivers"]:
        yield violation(provisioner)


VOLUMES_BY_DRIVER = ResourceRule(
    name="volumes-by-driver",
    title="Volumes come from the platform's CSI drivers",
    types=(PERSISTENT_VOLUME, STORAGE_CLASS),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    why="A pod that claims a volume of type hostPath or local has the files of the node, whatever its Pod Security "
    "level says; one of type nfs has a server that nobody reviewed.",
    fix="Use a volume of storage.efs, storage.lustre or storage.buckets, or add the driver to the rule's setting.",
    settings={"drivers": Setting(asks="CSI drivers of volumes", schema=_NAMES, values=everywhere(_DRIVERS))},
    checks={
        "source": Check(asks="must be a volume of a listed CSI driver", find=_source),
        "provisioner": Check(asks="must be a listed CSI driver", find=_provisioner),
    },
    program_only=True,
)


def _open(policy: Resource, _: Context) -> Iterator[Violation]:
    for way, side in (("ingress", "from"), ("egress", "to")):
        for rule in policy["spec"][way].items():
            if not rule.unknown and _every_port(rule["ports"]) and _every_peer(rule[side]):
                yield violation(rule, "open to everything")


def _every_port(ports: Node) -> bool:
    """Whether a rule certainly applies to all ports: it lists none, or a range of all of them."""
    if ports.unknown:
        return False
    return not ports.items() or any(
        port.known and port["port"].raw in (0, _ALL_PORTS[0]) and port["endPort"].raw == _ALL_PORTS[1]
        for port in ports.items()
    )


def _every_peer(peers: Node) -> bool:
    """Whether a rule certainly applies to all peers: it lists none, all namespaces, or ranges that are the internet."""
    if peers.unknown:
        return False
    known = [peer for peer in peers.items() if peer.known]
    namespaces = any(
        peer["namespaceSelector"].raw == {} and (peer["podSelector"].missing or peer["podSelector"].raw == {})
        for peer in known
    )
    return not peers.items() or namespaces or bool(list(internet([peer["ipBlock"]["cidr"] for peer in known])))


NETPOL_NOT_OPEN = ResourceRule(
    name="netpol-not-open",
    title="No NetworkPolicy allows everything",
    types=(NETWORK_POLICY,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Policies add up: one that allows everything undoes the default deny of its namespace.",
    fix="Name peers or ports.",
    checks={"open": Check(asks="must name peers or ports", find=_open)},
    program_only=True,
)


def _borrowed(stack: Stack, _: Context) -> Iterator[Violation]:
    pairs = {(one["namespace"].text(), one["serviceAccount"].text()) for one in stack.of(POD_IDENTITY)}
    for addon in stack.of(ADDON):
        pairs |= {(_OF_ADDONS, one["serviceAccount"].text()) for one in addon["podIdentityAssociations"].items()}
    for workload in stack.of(*WORKLOADS):
        place = workload["metadata"]["namespace"]
        for pod in pods(workload) if place.known and not _may_be_a_team(stack, place) else ():
            account = pod.spec["serviceAccountName"]
            if account.known and (place.text(), account.text()) in pairs:
                yield violation(account, f"{account.shown}, which has a role in AWS", workload)


def _may_be_a_team(stack: Stack, place: Node) -> bool:
    return any(
        (name.unknown or name.raw == place.raw) and (label.unknown or label.known)
        for name, label in (
            (space["metadata"]["name"], space["metadata"]["labels"][TEAM]) for space in stack.of(NAMESPACE)
        )
    )


ACCOUNT_OWN = StackRule(
    name="service-account-own",
    title="Workloads don't run with service accounts of the platform's controllers",
    types=(*WORKLOADS, POD_IDENTITY, ADDON, NAMESPACE),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="A pod has the permissions of its service account, in the cluster and in AWS: with Karpenter's it launches and "
    "ends instances.",
    fix="Give the workload a service account of its own. Charts bring the pods of controllers.",
    checks={"account": Check(asks="must be the workload's own", find=_borrowed)},
)

RULES = (VOLUMES_BY_DRIVER, NETPOL_NOT_OPEN, ACCOUNT_OWN)

"""Objects of the cluster: volumes and their classes, network policies, service accounts and exposed Services."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.checks.pods import pods
from policies.checks.questions import at_most, false, listed
from policies.evaluation.ranges import internet
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import (
    GATEWAY_BALANCER,
    INGRESS,
    INGRESS_PARAMS,
    NAMESPACE,
    NETWORK_POLICY,
    PERSISTENT_VOLUME,
    PRIORITY_CLASS,
    SERVICE,
    SERVICE_ACCOUNT,
    STORAGE_CLASS,
    WORKLOAD_PRIORITY,
    WORKLOADS,
)
from policies.rule import Check, Context, Levels, ResourceRule, StackRule, Violation, setting, violation
from spec.teams.labels import TEAM

_ABOUT_VOLUMES: Final = (
    "accessModes", "capacity", "claimRef", "csi", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
    "storageClassName", "volumeAttributesClassName", "volumeMode",
)  # fmt: skip
"""Fields of a PersistentVolume's spec that are no source but `csi` (Kubernetes API 1.36, PersistentVolumeSpec)."""
_DRIVERS: Final = ["ebs.csi.aws.com", "efs.csi.aws.com", "fsx.csi.aws.com", "s3.csi.aws.com"]
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


VOLUMES_BY_DRIVER = ResourceRule(
    name="volumes-by-driver",
    types=(PERSISTENT_VOLUME, STORAGE_CLASS),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    settings={"drivers": setting("CSI drivers of volumes", _DRIVERS)},
    checks={
        "source": Check("must be a volume of a listed CSI driver", _source),
        "provisioner": Check("must be a listed CSI driver", listed("provisioner", "drivers", STORAGE_CLASS)),
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
    types=(NETWORK_POLICY,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    checks={"open": Check("must name peers or ports", _open)},
    program_only=True,
)


def _foreign(stack: Stack, _: Context) -> Iterator[Violation]:
    """A chart's service account has the permissions of its controller: a pod of the program has one of the program, or
    the one called default, which no binding names."""
    declared = [(one["metadata"]["namespace"], one["metadata"]["name"]) for one in stack.of(SERVICE_ACCOUNT)]
    for workload in stack.of(*WORKLOADS):
        place = workload["metadata"]["namespace"]
        for pod in pods(workload) if place.known and not _may_be_a_team(stack, place) else ():
            account = pod.spec["serviceAccountName"]
            listed = any(
                (space.unknown or space.raw == place.raw) and (name.unknown or name.raw == account.raw)
                for space, name in declared
            )
            if account.known and account.raw != "default" and not listed:
                yield violation(account, f"{account.shown}, which the program does not declare", workload)


def _may_be_a_team(stack: Stack, place: Node) -> bool:
    return any(
        (name.unknown or name.raw == place.raw) and (label.unknown or label.known)
        for name, label in (
            (space["metadata"]["name"], space["metadata"]["labels"][TEAM]) for space in stack.of(NAMESPACE)
        )
    )


ACCOUNT_OWN = StackRule(
    name="service-account-own",
    types=(*WORKLOADS, NAMESPACE, SERVICE_ACCOUNT),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    checks={"account": Check("must be one that the program declares in the namespace", _foreign)},
)


_SCHEMES: Final = ("service.beta.kubernetes.io/aws-load-balancer-scheme", "alb.ingress.kubernetes.io/scheme")
_NOT_INTERNAL: Final = "service.beta.kubernetes.io/aws-load-balancer-internal"
_PUBLIC: Final = "internet-facing"
_BLOCK: Final = "ebs.csi.aws.com"


def _internet_facing(one: Resource, _: Context) -> Iterator[Violation]:
    annotations = one["metadata"]["annotations"]
    for node in (*(annotations[key] for key in _SCHEMES), one["spec"]["scheme"]):
        if node.raw == _PUBLIC:
            yield violation(node)
    if annotations[_NOT_INTERNAL].raw == "false":
        yield violation(annotations[_NOT_INTERNAL])


def _external(service: Resource, _: Context) -> Iterator[Violation]:
    if service.type == SERVICE and (addresses := service["spec"]["externalIPs"]).items():
        yield violation(addresses)


INTERNAL_ONLY = ResourceRule(
    name="exposure-internal",
    types=(SERVICE, INGRESS, INGRESS_PARAMS, GATEWAY_BALANCER),
    severity=Severity.CRITICAL,
    levels=Levels("M/M/M"),
    checks={"scheme": Check("must be internal", _internet_facing), "addresses": Check("must be empty", _external)},
    program_only=True,
)


PRIORITIES_BOUNDED = ResourceRule(
    name="priorities-bounded",
    types=(PRIORITY_CLASS, WORKLOAD_PRIORITY),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    settings={"highest": setting("the highest value of a class", 10000, minimum=0)},
    checks={
        "default": Check("must be false", false("globalDefault")),
        "value": Check("must not be higher than the setting", at_most("value", "highest")),
    },
    program_only=True,
)


def _plain_volumes(one: Resource, _: Context) -> Iterator[Violation]:
    """The driver does not encrypt by default (kubernetes-sigs/aws-ebs-csi-driver, docs/parameters.md; read 2026-11)."""
    encrypted = one["parameters"]["encrypted"]
    if one["provisioner"].raw == _BLOCK and not encrypted.unknown and str(encrypted.raw).lower() != "true":
        yield violation(encrypted)


VOLUMES_ENCRYPTED = ResourceRule(
    name="storage-class-encrypted",
    types=(STORAGE_CLASS,),
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    checks={"encrypted": Check("must be true", _plain_volumes)},
    program_only=True,
)


RULES = (VOLUMES_BY_DRIVER, NETPOL_NOT_OPEN, ACCOUNT_OWN, INTERNAL_ONLY, PRIORITIES_BOUNDED, VOLUMES_ENCRYPTED)

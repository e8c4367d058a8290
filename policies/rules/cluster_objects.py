"""Objects of the cluster: classes of volumes, network policies and exposed Services."""

from collections.abc import Iterator
from typing import Final

from policies.evaluation.ranges import internet
from policies.resources import tokens
from policies.resources.access import Node
from policies.resources.resource import Resource
from policies.rule import Context, ResourceRule, Violation, violation

_ALL_PORTS: Final = (1, 65535)


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
    types=(tokens.NETWORK_POLICY,),
    finds={"open": _open},
    program_only=True,
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
    if service.type == tokens.SERVICE and (addresses := service["spec"]["externalIPs"]).items():
        yield violation(addresses)


INTERNAL_ONLY = ResourceRule(
    name="exposure-internal",
    types=(tokens.SERVICE, tokens.INGRESS, tokens.INGRESS_PARAMS, tokens.GATEWAY_BALANCER),
    finds={"scheme": _internet_facing, "addresses": _external},
    program_only=True,
)


def _plain_volumes(one: Resource, _: Context) -> Iterator[Violation]:
    """The driver does not encrypt by default (kubernetes-sigs/aws-ebs-csi-driver, docs/parameters.md; read 2026-11)."""
    encrypted = one["parameters"]["encrypted"]
    if one["provisioner"].raw == _BLOCK and not encrypted.unknown and str(encrypted.raw).lower() != "true":
        yield violation(encrypted)


VOLUMES_ENCRYPTED = ResourceRule(
    name="storage-class-encrypted",
    types=(tokens.STORAGE_CLASS,),
    finds={"encrypted": _plain_volumes},
    program_only=True,
)

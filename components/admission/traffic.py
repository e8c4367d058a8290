"""Rules for objects that route traffic: Services and Ingresses."""

from __future__ import annotations

from typing import Final

from components.addons.kserve.ingress import NAME as MODELS
from components.admission import kinds
from components.admission.rule import Message, Rule, literal
from components.admission.templates import KIND, O

EXTERNAL_IPS: Final = Rule(
    name="external-ips",
    kinds=(kinds.SERVICE,),
    what="a Service has no `externalIPs`",
    why="it would receive the traffic that other pods send to these addresses (CVE-2020-8554)",
    expression=f"!has({O}.spec.externalIPs) || {O}.spec.externalIPs.size() == 0",
    message=Message(wrong="a Service of a team has no external addresses: ", fix="remove externalIPs"),
)

_ALB: Final = "alb.ingress.kubernetes.io"
_NOTES: Final = f"(has({O}.metadata.annotations) ? {O}.metadata.annotations : {{}})"
_PUBLIC: Final = f"{_NOTES}.exists(k, k == '{_ALB}/scheme' && {_NOTES}[k] != 'internal')"
_FOREIGN: Final = (
    f"{_NOTES}.exists(k, k == '{_ALB}/group.name' && {_NOTES}[k] != request.namespace && "
    f"!{_NOTES}[k].startsWith(request.namespace + '-'))"
)
_REFUSED: Final = (
    "security-groups",
    "subnets",
    "tags",
    "customer-owned-ipv4-pool",
    "wafv2-acl-arn",
    "shield-advanced-protection",
)
_RESERVED: Final = (
    f"{_NOTES}.exists(k, k in {literal([f'{_ALB}/{name}' for name in _REFUSED])} || "
    f"(k == '{_ALB}/load-balancer-attributes' && {_NOTES}[k].contains('access_logs')))"
)
_CLASS: Final = f"{KIND} == 'Ingress' && has({O}.spec.ingressClassName) && {O}.spec.ingressClassName == '{MODELS}'"
INGRESS_SCOPE: Final = Rule(
    name="ingress-scope",
    # KServe copies the annotations of an InferenceService to its Ingress.
    kinds=(kinds.INGRESS, kinds.INFERENCE_SERVICE),
    what="an Ingress has an internal load balancer, and shares it with no other namespace",
    why="rules of one group belong to one load balancer: it could take the host names of another team, or publish a "
    "service to the internet",
    expression=f"!({_PUBLIC}) && !({_FOREIGN}) && !({_RESERVED}) && !({_CLASS})",
    message=Message(
        wrong="this Ingress reaches beyond its namespace: ",
        fix=f"set {_ALB}/scheme to internal, {_ALB}/group.name to the name of the namespace, or remove them; remove "
        f"{', '.join(_REFUSED)} and access_logs in load-balancer-attributes, which are the platform's; and use another "
        f"ingressClassName than {MODELS}, which is KServe's",
    ),
    metadata=("annotations",),
)

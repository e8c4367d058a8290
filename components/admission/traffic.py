"""Rules for what reaches a team's pods: Services and Ingresses.

Annotations of the AWS Load Balancer Controller that a team may set, with the values that they may have: the controller
reads them from every Ingress of a group, and those of targets from Services too; KServe copies those of an
InferenceService to its Ingress, which shares the load balancer of all models (aws-load-balancer-controller v3.5.0,
pkg/annotations/constants.go and pkg/ingress). One value that it can't parse stops the whole group, so values count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from components.addons.kserve.addon import NAME as MODELS
from components.admission import kinds
from components.admission.rule import FIELDS, Rule, literal
from components.admission.templates import BY_A_CONTROLLER, KIND, O

PREFIX: Final = "alb.ingress.kubernetes.io/"
_ANY: Final = "^.*$"
_THRESHOLD: Final = "([2-9]|10)"
_SECONDS: Final = "([2-9]|[1-9][0-9]|1[01][0-9]|120)"
_INTERVAL: Final = "([5-9]|[1-9][0-9]|[12][0-9][0-9]|300)"
_PORT: Final = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_UP_TO_7_DAYS: Final = "([1-9][0-9]{0,4}|[1-5][0-9]{5}|60[0-3][0-9]{3}|604[0-7][0-9]{2}|604800)"
ATTRIBUTES: Final = {
    "deregistration_delay.timeout_seconds": "([0-9]|[1-9][0-9]{1,2}|[12][0-9]{3}|3[0-5][0-9]{2}|3600)",
    "load_balancing.algorithm.anomaly_mitigation": "(on|off)",
    "load_balancing.algorithm.type": "(round_robin|least_outstanding_requests|weighted_random)",
    "load_balancing.cross_zone.enabled": "(true|false|use_load_balancer_configuration)",
    "slow_start.duration_seconds": "(0|[3-9][0-9]|[1-8][0-9]{2}|900)",
    "stickiness.app_cookie.cookie_name": "[A-Za-z0-9_-]{1,64}",
    "stickiness.app_cookie.duration_seconds": _UP_TO_7_DAYS,
    "stickiness.enabled": "(true|false)",
    "stickiness.lb_cookie.duration_seconds": _UP_TO_7_DAYS,
    "stickiness.type": "(lb_cookie|app_cookie)",
}
"""Attributes of a target group and their values (Elastic Load Balancing, TargetGroupAttribute, read 2026-11)."""
_PAIR: Final = "(" + "|".join(f"{name}={value}".replace(".", "[.]") for name, value in ATTRIBUTES.items()) + ")"
_CODE: Final = "[2-4][0-9]{2}"

TARGETS: Final = {
    "backend-protocol": "^HTTPS?$",
    "backend-protocol-version": "^(HTTP1|HTTP2|GRPC)$",
    "healthcheck-interval-seconds": f"^{_INTERVAL}$",
    "healthcheck-path": "^/[!-~]{0,1000}$",
    "healthcheck-port": f"^(traffic-port|{_PORT})$",
    "healthcheck-protocol": "^HTTPS?$",
    "healthcheck-timeout-seconds": f"^{_SECONDS}$",
    "healthy-threshold-count": f"^{_THRESHOLD}$",
    "success-codes": f"^({_CODE}([,-]{_CODE})*|[0-9]{{1,2}}([,-][0-9]{{1,2}})*)$",
    "target-group-attributes": f"^{_PAIR}(,{_PAIR})*$",
    "target-type": "^ip$",
    "unhealthy-threshold-count": f"^{_THRESHOLD}$",
}
"""Of the pods behind a load balancer, with the values that AWS takes (elasticloadbalancingv2, CreateTargetGroup, read
2026-11)."""
SHARED: Final = {**TARGETS, "scheme": "^internal$"}
"""Of an InferenceService; the class of its Ingress decides about the rest."""
_LIMITS: Final[Sequence[str]] = FIELDS["load balancer attributes"]
_LIMIT: Final = f"({'|'.join(_LIMITS)})=[a-z0-9_]+".replace(".", r"\.")
OWN: Final = {
    **SHARED,
    "auth-idp-oidc": _ANY,
    "auth-on-unauthenticated-request": "^(authenticate|allow|deny)$",
    "auth-scope": _ANY,
    "auth-session-cookie": _ANY,
    "auth-session-timeout": "^[0-9]+$",
    "auth-type": "^(none|oidc)$",
    "certificate-arn": _ANY,
    "group.order": "^-?[0-9]{1,4}$",
    "inbound-cidrs": _ANY,
    "ip-address-type": "^ipv4$",
    "jwt-validation": _ANY,
    "listen-ports": _ANY,
    "load-balancer-attributes": f"^{_LIMIT}(, ?{_LIMIT})*$",
    "ssl-policy": _ANY,
    "ssl-redirect": "^[0-9]{1,5}$",
    "use-regex-path-match": "^(true|false)$",
}
"""Of an Ingress, whose group is its team's own."""
OWN_PREFIXES: Final = ("conditions.", "listener-attributes.", "transforms.")
"""Annotations of an Ingress that end with the name of a Service or listener."""
ACTION: Final = "actions."
# Go's JSON reads escapes, and names of fields in any case.
REACHES: Final = r"^[ -\[\]-~\s]*$"  # characters of an action: printable ones without a backslash
NAMED: Final = ("group.name", "load-balancer-name")  # annotations whose value begins with the name of the namespace


EXTERNAL_IPS: Final = Rule(
    name="external-ips",
    kinds=(kinds.SERVICE,),
    expression=f"(!has({O}.spec.externalIPs) || {O}.spec.externalIPs.size() == 0) && "
    f"({BY_A_CONTROLLER} || !has({O}.spec.type) || {O}.spec.type != 'ExternalName')",
)

_NOTES: Final = f"(has({O}.metadata.annotations) ? {O}.metadata.annotations : {{}})"
_VALUE: Final = "string(variables.notes[k])"
INGRESS_CLASS: Final = "alb"
TOPOLOGY: Final = ("service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints")
"""Annotations of Services that have nothing to do with load balancers (kubernetes.io, "Topology Aware Routing")."""
_READ: Final = (
    f"k.startsWith('{PREFIX}') || k.contains('service.beta.kubernetes.io/') || "
    "k.startsWith('service.kubernetes.io/') || k == 'kubernetes.io/ingress.class'"
)
"""Annotations that controllers of load balancers read (aws-load-balancer-controller v3.5.0, pkg/annotations; the cloud
provider's are `service.beta.kubernetes.io/aws-load-balancer-*`)."""


_VALUES: Final = " = "  # between the name of an annotation and the pattern of its values, in a parameter
_FITS: Final = f"variables.known.exists(f, f[0] == n && {_VALUE}.matches(f[1]))"
"""Whether annotation `k`, whose name without the prefix is `n`, is allowed with its value."""


def _listed(allowed: Mapping[str, str]) -> str:
    return "\n".join(f"{name}{_VALUES}{values}" for name, values in sorted(allowed.items()))


_MINE: Final = (
    f"(n in {literal(list(NAMED))} && ({_VALUE} == request.namespace || {_VALUE}.startsWith(request.namespace + '-')))"
)
_ACTION: Final = (
    f"(n.startsWith('{ACTION}') && {_VALUE}.matches({literal(REACHES)}) && "
    f"!{_VALUE}.lowerAscii().contains('targetgrouparn') && !{_VALUE}.lowerAscii().contains('targetgroupname'))"
)
_PREFIXED: Final = f"{literal(list(OWN_PREFIXES))}.exists(p, n.startsWith(p))"
_ALLOWED: Final = (
    f"k.startsWith('{PREFIX}') ? [k.replace('{PREFIX}', '', 1)].exists(n, {_FITS} || "
    f"({KIND} == 'Ingress' && ({_MINE} || {_ACTION} || {_PREFIXED}))) : "
    f"{KIND} == 'Ingress' ? k == 'kubernetes.io/ingress.class' && {_VALUE} == '{INGRESS_CLASS}' : "
    f"{KIND} == 'Service' && k in {literal(list(TOPOLOGY))}"
)


def _of(name: str, default: str) -> str:
    """The value of an annotation, in CEL."""
    return f"['{PREFIX}{name}'].map(k, k in variables.notes ? {_VALUE} : '{default}')[0]"


_TOGETHER: Final = (
    f"(int({_of('healthcheck-interval-seconds', '15')}) <= int({_of('healthcheck-timeout-seconds', '5')}) "
    f"? ['{PREFIX}healthcheck-timeout-seconds of at least the interval'] : []) + "
    f"([{_of('success-codes', '')}].exists(c, c != '' && c.matches('^{_CODE}') == "
    f"({_of('backend-protocol-version', 'HTTP1')} == 'GRPC')) "
    f"? ['{PREFIX}success-codes of the other protocol version'] : [])"
)
"""Values that AWS refuses together; the controller's defaults are 15 s and 5 s (aws-load-balancer-controller v3.5.0,
pkg/ingress/model_builder.go)."""
_CLASS: Final = (
    f"({KIND} == 'Ingress' && has({O}.spec.ingressClassName) && {O}.spec.ingressClassName != '{INGRESS_CLASS}' "
    f"? ['ingressClassName ' + {O}.spec.ingressClassName] : [])"
)
INGRESS_SCOPE: Final = Rule(
    name="ingress-scope",
    # KServe copies the annotations of an InferenceService to its Ingress.
    kinds=(kinds.INGRESS, kinds.INFERENCE_SERVICE, kinds.INFERENCE_GRAPH, kinds.SERVICE),
    parameters={
        "annotations": _listed(SHARED),
        "annotationsOfIngress": _listed({name: values for name, values in OWN.items() if name not in SHARED}),
    },
    variables={
        "notes": _NOTES,
        "known": "(params.data.annotations.split('\\n') + "
        f"({KIND} == 'Ingress' ? params.data.annotationsOfIngress.split('\\n') : [])).map(l, l.split('{_VALUES}'))",
        "refused": f"variables.notes.filter(k, ({_READ}) && !({_ALLOWED}))"
        f".map(k, k + ': ' + ({_VALUE}.size() > 60 ? {_VALUE}.substring(0, 60) + '...' : {_VALUE})) + {_CLASS}",
        # Only of values that are allowed: others need not be numbers.
        "together": f"variables.refused.size() > 0 ? variables.refused : {_TOGETHER}",
    },
    expression="variables.together.size() == 0",
    found="variables.together",
    names={
        "prefix": PREFIX,
        "named": " and ".join(NAMED),
        "own": ", ".join(sorted({*OWN} - {*SHARED})),
        "prefixes": ", ".join(f"{name}*" for name in (ACTION, *OWN_PREFIXES)),
        "targets": ", ".join(TARGETS),
        "ingress_class": INGRESS_CLASS,
        "models": MODELS,
    },
    metadata=("annotations",),
)

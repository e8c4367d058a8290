"""Rules for what reaches a team's pods: Services, Ingresses, and the monitors that Prometheus reads.

Annotations of the AWS Load Balancer Controller that a team may set, with the values that they may have: the controller
reads them from every Ingress of a group, and those of targets from Services too; KServe copies those of an
InferenceService to its Ingress, which shares the load balancer of all models (aws-load-balancer-controller v3.5.0,
pkg/annotations/constants.go and pkg/ingress). One value that it can't parse stops the whole group, so values count.
"""

from __future__ import annotations

from typing import Final

from components.addons.kserve.addon import NAME as MODELS
from components.admission import kinds
from components.admission.rule import Message, Rule, literal
from components.admission.templates import KIND, O

PREFIX: Final = "alb.ingress.kubernetes.io/"
_ANY: Final = "^.*$"
_NUMBER: Final = "^[0-9]{1,4}$"
_PAIRS: Final = "^[a-z0-9_.]+=[A-Za-z0-9_.-]+(,[a-z0-9_.]+=[A-Za-z0-9_.-]+)*$"

TARGETS: Final = {
    "backend-protocol": "^HTTPS?$",
    "backend-protocol-version": "^(HTTP1|HTTP2|GRPC)$",
    "healthcheck-interval-seconds": _NUMBER,
    "healthcheck-path": "^/[!-~]*$",
    "healthcheck-port": "^(traffic-port|[0-9]{1,5})$",
    "healthcheck-protocol": "^HTTPS?$",
    "healthcheck-timeout-seconds": _NUMBER,
    "healthy-threshold-count": _NUMBER,
    "success-codes": "^[0-9,-]+$",
    "target-group-attributes": _PAIRS,
    "target-type": "^ip$",
    "unhealthy-threshold-count": _NUMBER,
}
"""Of the pods behind a load balancer."""
SHARED: Final = {**TARGETS, "scheme": "^internal$"}
"""Of an InferenceService; the class of its Ingress decides about the rest."""
_LIMITS: Final = (
    "client_keep_alive.seconds", "idle_timeout.timeout_seconds", "load_balancing.cross_zone.enabled",
    "routing.http.desync_mitigation_mode", "routing.http.drop_invalid_header_fields.enabled",
    "routing.http.preserve_host_header.enabled", "routing.http.x_amzn_tls_version_and_cipher_suite.enabled",
    "routing.http.xff_client_port.enabled", "routing.http.xff_header_processing.mode", "routing.http2.enabled",
)  # fmt: skip
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
REACHES: Final = r"^[ -\[\]-~\s]*$"
"""Characters of an action: printable ones without a backslash."""
NAMED: Final = ("group.name", "load-balancer-name")
"""Annotations whose value begins with the name of the namespace."""


EXTERNAL_IPS: Final = Rule(
    name="external-ips",
    kinds=(kinds.SERVICE,),
    what="a Service has no `externalIPs`",
    why="it would receive the traffic that other pods send to these addresses (CVE-2020-8554)",
    expression=f"!has({O}.spec.externalIPs) || {O}.spec.externalIPs.size() == 0",
    message=Message(wrong="a Service of a team has no external addresses: ", fix="remove externalIPs"),
)

_NOTES: Final = f"(has({O}.metadata.annotations) ? {O}.metadata.annotations : {{}})"
_VALUE: Final = "string(variables.notes[k])"
_SUFFIX: Final = f"k.replace('{PREFIX}', '', 1)"
INGRESS_CLASS: Final = "alb"
TOPOLOGY: Final = ("service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints")
"""Annotations of Services that have nothing to do with load balancers (kubernetes.io, "Topology Aware Routing")."""
_READ: Final = (
    f"k.startsWith('{PREFIX}') || k.contains('service.beta.kubernetes.io/') || "
    "k.startsWith('service.kubernetes.io/') || k == 'kubernetes.io/ingress.class'"
)
"""Annotations that controllers of load balancers read (aws-load-balancer-controller v3.5.0, pkg/annotations; the cloud
provider's are `service.beta.kubernetes.io/aws-load-balancer-*`)."""


def _fits(allowed: dict[str, str]) -> str:
    """Whether annotation `k` is allowed with its value."""
    names = literal(allowed)
    return f"({_SUFFIX} in {names} && {_VALUE}.matches({names}[{_SUFFIX}]))"


_MINE: Final = (
    f"({_SUFFIX} in {literal(list(NAMED))} && "
    f"({_VALUE} == request.namespace || {_VALUE}.startsWith(request.namespace + '-')))"
)
_ACTION: Final = (
    f"({_SUFFIX}.startsWith('{ACTION}') && {_VALUE}.matches({literal(REACHES)}) && "
    f"!{_VALUE}.lowerAscii().contains('targetgrouparn') && !{_VALUE}.lowerAscii().contains('targetgroupname'))"
)
_PREFIXED: Final = f"{literal(list(OWN_PREFIXES))}.exists(p, {_SUFFIX}.startsWith(p))"
_INGRESS: Final = f"{_fits(OWN)} || {_MINE} || {_ACTION} || {_PREFIXED}"
_ALLOWED: Final = (
    f"{KIND} == 'Ingress' ? (k == 'kubernetes.io/ingress.class' && {_VALUE} == '{INGRESS_CLASS}') || "
    f"(k.startsWith('{PREFIX}') && ({_INGRESS})) : "
    f"{KIND} == 'Service' ? k in {literal(list(TOPOLOGY))} || "
    f"(k.startsWith('{PREFIX}') && {_fits(SHARED)}) : "
    f"k.startsWith('{PREFIX}') && ({_fits(SHARED)} || {_MINE})"
)
_CLASS: Final = (
    f"({KIND} == 'Ingress' && has({O}.spec.ingressClassName) && {O}.spec.ingressClassName != '{INGRESS_CLASS}' "
    f"? ['ingressClassName ' + {O}.spec.ingressClassName] : [])"
)
INGRESS_SCOPE: Final = Rule(
    name="ingress-scope",
    # KServe copies the annotations of an InferenceService to its Ingress.
    kinds=(kinds.INGRESS, kinds.INFERENCE_SERVICE, kinds.INFERENCE_GRAPH, kinds.SERVICE),
    what="an Ingress has an internal load balancer, and shares it with no other namespace",
    why="rules of one group belong to one load balancer: it could take the host names of another team, or publish a "
    "service to the internet, by itself or by a second load balancer in front of it",
    variables={
        "notes": _NOTES,
        "refused": f"variables.notes.filter(k, ({_READ}) && !({_ALLOWED}))"
        f".map(k, k + ': ' + ({_VALUE}.size() > 60 ? {_VALUE}.substring(0, 60) + '...' : {_VALUE})) + {_CLASS}",
    },
    expression="variables.refused.size() == 0",
    message=Message(
        wrong="this load balancer is not for a team alone, or not internal: remove ",
        found="variables.refused.join('; ')",
        shown="annotations",
        fix=f". Of {PREFIX}* an Ingress may have scheme: internal, {' and '.join(NAMED)} that "
        f"begin with the namespace, {', '.join(sorted({*OWN} - {*SHARED}))}, "
        f"{', '.join(f'{name}*' for name in (ACTION, *OWN_PREFIXES))}; it, a Service and an "
        f"InferenceService {', '.join(TARGETS)}, each with the values of an internal load balancer. The "
        f"class is {INGRESS_CLASS}; {MODELS} is KServe's",
    ),
    metadata=("annotations",),
)


_OF_NOBODY: Final = "!has(request.namespace)"
"""One without a namespace is no team's, but no binding excludes it: a stand-in for a missing CRD is cluster-scoped."""
_FILES: Final = (
    "(has(e.bearerTokenFile) && e.bearerTokenFile != '') || (has(e.tlsConfig) && "
    "(has(e.tlsConfig.caFile) || has(e.tlsConfig.certFile) || has(e.tlsConfig.keyFile)))"
)
MONITOR_FILES: Final = Rule(
    name="monitor-files",
    kinds=(kinds.SERVICE_MONITOR,),
    what="a ServiceMonitor names no file of Prometheus",
    why="Prometheus would send its own token to the team's pod, and with it the team could read every namespace",
    expression=f"{_OF_NOBODY} || !has({O}.spec.endpoints) || !{O}.spec.endpoints.exists(e, {_FILES})",
    message=Message(
        wrong="a ServiceMonitor of a team reads no files of Prometheus: ",
        fix="remove bearerTokenFile, caFile, certFile and keyFile; use authorization.credentials or tlsConfig.ca with "
        "a Secret of the namespace",
    ),
)

_ENDPOINTS: Final = f"({KIND} == 'PodMonitor' ? 'podMetricsEndpoints' : 'endpoints')"
_PART: Final = f"({_ENDPOINTS} in {O}.spec ? {O}.spec[{_ENDPOINTS}] : [])"
_WHERE: Final = f"{O}.spec.namespaceSelector"
_ELSEWHERE: Final = (
    f"has({_WHERE}) && ((has({_WHERE}.any) && {_WHERE}.any) || "
    f"(has({_WHERE}.matchNames) && {_WHERE}.matchNames.exists(n, n != request.namespace)))"
)
_TARGETS: Final = ("namespace", "exported_namespace", "job", "team", "project", "cluster")
"""Labels by which alerts and costs are counted."""
# Prometheus has `replace` and `labelmap` as actions that name labels; `lowercase` and others take `targetLabel` too.
_FORGED: Final = (
    "(['relabelings', 'metricRelabelings'].exists(f, f in e && e[f].exists(r, "
    "(has(r.action) && r.action.lowerAscii() == 'labelmap') || "
    f"(has(r.targetLabel) && (r.targetLabel in {literal(list(_TARGETS))} || r.targetLabel.startsWith('__') || "
    "r.targetLabel.contains('$'))))) || (has(e.honorLabels) && e.honorLabels))"
)
_OFTEN: Final = (
    "has(e.interval) && e.interval != '' && !e.interval.matches('^([1-9][0-9]+s|[1-9][0-9]*[mhdwy]([0-9]|$))')"
)
_RENAMED: Final = f"honorLabels, labelmap, or relabelings to {', '.join(_TARGETS)} or __*"
MONITOR_SCOPE: Final = Rule(
    name="monitor-scope",
    kinds=(kinds.SERVICE_MONITOR, kinds.POD_MONITOR),
    what="a monitor of a team reads pods of its own namespace, under their own names, every 10 s at most",
    why="alerts and costs are counted by labels of metrics: with others it would bill another team, or silence its "
    "alerts; and Prometheus would ask any address for it",
    variables={
        "beyond": f"({_ELSEWHERE} ? ['namespaceSelector'] : []) + "
        f"({_PART}.exists(e, {_FORGED}) ? [{literal(_RENAMED)}] : [])"
        f" + ({_PART}.exists(e, {_OFTEN}) ? ['an interval below 10s'] : [])"
    },
    expression=f"{_OF_NOBODY} || variables.beyond.size() == 0",
    message=Message(
        wrong="this monitor reaches beyond its namespace: remove ",
        found="variables.beyond.join(', ')",
        shown="fields",
        fix=". The pods of a namespace have monitors of their own there",
    ),
)

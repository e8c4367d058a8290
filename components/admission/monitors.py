"""Rules for what Prometheus reads for a team: ServiceMonitors and PodMonitors."""

from __future__ import annotations

from typing import Final

from components.admission import kinds
from components.admission.rule import Message, Rule, literal
from components.admission.templates import KIND, O

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

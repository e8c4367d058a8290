"""Rules for the monitors of a team: what Prometheus asks, and under which labels it keeps what it is given.

Fields are those of the CRDs of the pinned chart; a test compares. Rules of relabeling are Prometheus' own
(prometheus.io, "Configuration", `relabel_config`; regular expressions match the whole text).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from components.admission import kinds
from components.admission.rule import FIELDS as OF
from components.admission.rule import Rule, listed, literal
from components.admission.templates import KIND, O
from components.observability.monitors import SCRAPED_BY

_OF_NOBODY: Final = "!has(request.namespace)"
"""One without a namespace is no team's, but no binding excludes it: a stand-in for a missing CRD is cluster-scoped."""
TLS: Final = ("ca", "cert", "insecureSkipVerify", "keySecret", "maxVersion", "minVersion", "serverName")
"""Fields of `tlsConfig` that name Secrets and ConfigMaps of the namespace, and no files."""
_FILES: Final = (
    "(has(e.bearerTokenFile) && e.bearerTokenFile != '') || "
    f"(has(e.tlsConfig) && e.tlsConfig.exists(k, !(k in {literal(list(TLS))})))"
)
MONITOR_FILES: Final = Rule(
    name="monitor-files",
    kinds=(kinds.SERVICE_MONITOR,),
    expression=f"{_OF_NOBODY} || !has({O}.spec.endpoints) || !{O}.spec.endpoints.exists(e, {_FILES})",
    names={"tls": ", ".join(TLS)},
)

FIELDS: Final[Sequence[str]] = OF["monitor"]
"""Fields of the spec of a ServiceMonitor or PodMonitor: all but `scrapeClass`, which takes files and proxies of the
platform, and `jobLabel`, by which a Service says which job it is."""
ENDPOINT: Final[Sequence[str]] = OF["monitor endpoint"]
"""Fields of one endpoint, without those that name an address that Prometheus asks: proxies and `oauth2`."""
TARGETS: Final = ("namespace", "exported_namespace", "job", "team", "project", "cluster", SCRAPED_BY)
"""Labels by which alerts and costs are counted, and by which Prometheus knows the platform's targets."""
COPIED: Final = ("namespace", "exported_namespace", "job", SCRAPED_BY)
"""Those of them that no pod and no Service may have (`team-labels`), so that a label map can copy all labels."""
KEPT: Final = ("namespace", "job")  # those of them that Prometheus itself gives each target

_ENDPOINTS: Final = f"({KIND} == 'PodMonitor' ? 'podMetricsEndpoints' : 'endpoints')"
_PART: Final = f"({_ENDPOINTS} in {O}.spec ? {O}.spec[{_ENDPOINTS}] : [])"
_WHERE: Final = f"{O}.spec.namespaceSelector"
_ELSEWHERE: Final = (
    f"has({_WHERE}) && ((has({_WHERE}.any) && {_WHERE}.any) || "
    f"(has({_WHERE}.matchNames) && {_WHERE}.matchNames.exists(n, n != request.namespace)))"
)
_TARGETS: Final = listed("countedLabels")


def prometheus(name: str) -> str:
    """The name that Prometheus gives a label of Kubernetes, in CEL (prometheus, util/strutil, SanitizeLabelName)."""
    return f"{name}.replace('-', '_').replace('.', '_').replace('/', '_')"


_ACTION: Final = "(has(r.action) ? r.action.lowerAscii() : 'replace')"
_REGEX: Final = "(has(r.regex) ? r.regex : '(.*)')"
_REPLACEMENT: Final = "(has(r.replacement) ? r.replacement : '$1')"
_SOURCE: Final = "r.sourceLabels == ['__meta_kubernetes_namespace']"
_TRUE: Final = (
    f"r.targetLabel == 'namespace' && has(r.sourceLabels) && {_SOURCE} && {_ACTION} == 'replace' && "
    f"{_REPLACEMENT} in ['$1', '${{1}}'] && {_REGEX} in ['(.*)', '(.+)']"
)
"""Whether rule `r` writes the real namespace."""
_WRITES: Final = (
    f"has(r.targetLabel) && {_ACTION} in ['replace', 'hashmod', 'lowercase', 'uppercase'] && !({_TRUE}) && "
    f"(r.targetLabel in {_TARGETS} || !r.targetLabel.matches('^(__tmp_)?[a-zA-Z]\\\\w*$'))"
)
"""Whether rule `r` writes a label that counts, one of Prometheus' own, or one that its pods name."""
_LISTS: Final = r"^\\^?__meta_kubernetes_(pod|service|node|namespace)_label_\\(([a-z0-9_|]+|[.][+*])\\)\\$?$"
_NAMES: Final = f"{_REGEX}.replace('^', '').replace('$', '').split('_label_(')[1].replace(')', '')"
_COPIES: Final = (
    f"f == 'relabelings' && {_REPLACEMENT} in ['$1', '${{1}}'] && {_REGEX}.matches('{_LISTS}') && "
    f"({_NAMES} in ['.+', '.*'] || !{_NAMES}.split('|').exists(n, n in {_TARGETS}))"
)
"""Whether a label map `r` copies labels of objects under their names: all, which pods may not call as what counts, or
some by name."""
_PREFIXES: Final = (
    f"{_REPLACEMENT}.matches('^[a-z]+(_[a-z0-9]+)*_[$]([1-9]|[{{][1-9][}}])$') && "
    f"!{_REPLACEMENT}.startsWith('exported_')"
)
"""Whether a label map `r` copies labels under a prefix."""
_MAPS: Final = f"{_ACTION} == 'labelmap' && !({_COPIES}) && !({_PREFIXES})"
_WHOLE: Final = f"'^(?:' + {_REGEX} + ')$'"
_DROPS: Final = (
    f"{literal(list(KEPT))}.exists(n, ({_ACTION} == 'labeldrop' && n.matches({_WHOLE})) || "
    f"({_ACTION} == 'labelkeep' && !n.matches({_WHOLE})))"
)
"""Whether rule `r` takes labels away that count."""
_OF_TARGETS: Final = f" of {', '.join(TARGETS)} or __*"
_FORGED: Final = (
    "['relabelings', 'metricRelabelings'].map(f, f in e && e[f].exists(r, "
    f"({_WRITES}) || ({_MAPS}) || ({_DROPS})) ? f + {literal(_OF_TARGETS)} : '')"
)
_OFTEN: Final = (
    "has(e.interval) && e.interval != '' && !e.interval.matches('^([1-9][0-9]+s|[1-9][0-9]*[mhdwy]([0-9]|$))')"
)
_LABELS: Final = ("targetLabels", "podTargetLabels")
_OTHERS: Final = (
    f"{literal(list(_LABELS))}.filter(f, f in {O}.spec && {O}.spec[f].exists(n, {prometheus('n')} in {_TARGETS}))"
)
MONITOR_SCOPE: Final = Rule(
    name="monitor-scope",
    kinds=(kinds.SERVICE_MONITOR, kinds.POD_MONITOR),
    parameters={
        "monitorFields": ",".join(FIELDS),
        "endpointFields": ",".join(ENDPOINT),
        "countedLabels": ",".join(TARGETS),
    },
    variables={
        "beyond": f"{O}.spec.filter(k, !(k in {listed('monitorFields')})).map(k, string(k)) + "
        f"({_ELSEWHERE} ? ['namespaceSelector'] : []) + {_OTHERS} + "
        f"{_PART}.map(e, (e.filter(k, !(k in {listed('endpointFields')})).map(k, string(k)) + "
        f"(has(e.honorLabels) && e.honorLabels ? ['honorLabels'] : []) + {_FORGED} + "
        f"({_OFTEN} ? ['an interval below 10s'] : [])).filter(t, t != '').join(', '))"
    },
    expression=f"{_OF_NOBODY} || variables.beyond.all(t, t == '')",
    found="variables.beyond",
    names={"kept": " and ".join(KEPT)},
)

"""Rules for workflows, by the locks that they hold, and for KEDA: which sources it asks for a team, and with whose
identity.
"""

from __future__ import annotations

from typing import Final

from components.admission import kinds
from components.admission.rule import Message, Rule, literal
from components.admission.templates import KIND, O

_SPEC: Final = f"({KIND} == 'CronWorkflow' ? {O}.spec.workflowSpec : {O}.spec)"
_LOCKS: Final = "h.synchronization"
# In CEL `namespace` is a reserved word, so it is an index here.
_FOREIGN: Final = (
    f"has({_LOCKS}) && ['mutexes', 'semaphores'].exists(f, f in {_LOCKS} && "
    f"{_LOCKS}[f].exists(l, 'namespace' in l && l['namespace'] != '' && l['namespace'] != request.namespace))"
)
"""Each lock may name a namespace, by default that of the workflow (argo-workflows v4.0.6, CRD, `synchronization`)."""
WORKFLOW_LOCKS: Final = Rule(
    name="workflow-locks",
    kinds=kinds.WORKFLOWS,
    what="a workflow takes mutexes and semaphores of its own namespace",
    why="whoever holds a lock of another team stops each of its workflows that waits for it",
    variables={
        "holders": f"[{_SPEC}].map(w, [w] + (has(w.templateDefaults) ? [w.templateDefaults] : []) + "
        "(has(w.templates) ? w.templates : []))"
    },
    expression=f"!variables.holders.exists(hs, hs.exists(h, {_FOREIGN}))",
    message=Message(
        wrong="a workflow of a team takes no locks of other namespaces: ",
        fix="remove `namespace` below synchronization",
    ),
)


SOURCES: Final = ("configMapTargetRef", "env", "podIdentity", "secretTargetRef")
"""Sources of a TriggerAuthentication for which KEDA sends nothing of its own (keda v2.20.2, CRD)."""
_AWS: Final = ("awsRegion", "identityOwner")
_SHARDS: Final = (*_AWS, "activationShardCount", "shardCount")
TRIGGERS: Final = {
    "aws-cloudwatch": [
        *_AWS, "activationTargetMetricValue", "awsAccountId", "dimensionName", "dimensionValue", "expression",
        "ignoreNullValues", "metricCollectionTime", "metricEndTimeOffset", "metricName", "metricStat",
        "metricStatPeriod", "metricUnit", "minMetricValue", "namespace", "targetMetricValue",
    ],
    "aws-dynamodb": [
        *_AWS, "activationTargetValue", "expressionAttributeNames", "expressionAttributeValues", "filterExpression",
        "indexName", "keyConditionExpression", "tableName", "targetValue",
    ],
    "aws-dynamodb-streams": [*_SHARDS, "tableName"],
    "aws-kinesis-stream": [*_SHARDS, "streamName"],
    "aws-sqs-queue": [
        *_AWS, "activationQueueLength", "queueLength", "queueURL", "queueURLFromEnv", "scaleOnDelayed",
        "scaleOnInFlight",
    ],
    "cpu": ["containerName", "type", "value"],
    "cron": ["desiredReplicas", "end", "start", "timezone"],
    "kubernetes-workload": ["activationValue", "groupByNode", "podSelector", "value"],
    "memory": ["containerName", "type", "value"],
    "prometheus": [
        "activationThreshold", "customHeaders", "ignoreNullValues", "namespace", "query", "queryParameters",
        "serverAddress", "threshold", "timeout", "unsafeSsl",
    ],
}  # fmt: skip
"""Metadata of each allowed trigger (keda v2.20.2, pkg/scalers), without what names another address or identity:
`awsEndpoint`, keys, and `authModes` of Prometheus."""
MONITORING: Final = r"^http://[a-z0-9-]+\\.monitoring(\\.svc(\\.cluster\\.local)?)?:9090/?$"
"""Prometheus is a Service of the namespace `monitoring`, in which no team makes any."""

_METADATA: Final = "(has(t.metadata) ? t.metadata : {})"
_KNOWN: Final = literal(TRIGGERS)
_OF: Final = f"'identityOwner' in {_METADATA} && !(t.metadata.identityOwner in ['', 'pod'])"
_ELSEWHERE: Final = f"'serverAddress' in {_METADATA} && !string(t.metadata.serverAddress).matches('{MONITORING}')"
_LOGIN: Final = "has(t.authenticationRef) && !t.type.startsWith('aws-')"
_TRIGGER: Final = (
    f"!(t.type in {_KNOWN}) ? ['the trigger ' + string(t.type)] : "
    f"{_METADATA}.filter(k, !(k in {_KNOWN}[t.type])).map(k, string(k)) + "
    f"({_OF} ? ['identityOwner'] : []) + ({_ELSEWHERE} ? ['serverAddress'] : []) + "
    f"({_LOGIN} ? ['authenticationRef'] : [])"
)
_IDENTITY: Final = f"{O}.spec.podIdentity"
_OWN: Final = (
    f"{_IDENTITY}.provider == 'none' || ({_IDENTITY}.provider == 'aws' && has({_IDENTITY}.identityOwner) && "
    f"{_IDENTITY}.identityOwner == 'workload' && !has({_IDENTITY}.roleArn))"
)
TRIGGER_SCOPE: Final = Rule(
    name="trigger-scope",
    kinds=(kinds.TRIGGER_AUTHENTICATION, kinds.SCALED_OBJECT, kinds.SCALED_JOB),
    what="KEDA scales by Prometheus, CPU, memory, time, pods, or a service of AWS with the identity of the workload",
    why="KEDA would send its own token, which changes the workloads of every team, to an address that the team chose",
    variables={
        "refused": f"{KIND} == 'TriggerAuthentication' ? [{O}.spec.filter(k, !(k in {literal(list(SOURCES))}))"
        f".map(k, string(k)) + (has({_IDENTITY}) && !({_OWN}) ? ['podIdentity'] : [])] : "
        f"(has({O}.spec.triggers) ? {O}.spec.triggers : []).map(t, {_TRIGGER})"
    },
    expression="variables.refused.all(l, l.size() == 0)",
    message=Message(
        wrong="KEDA does not ask this source for a team: remove ",
        found="variables.refused.map(l, l.join(', ')).filter(t, t != '').join(', ')",
        shown="fields",
        fix=f". Triggers are {', '.join(TRIGGERS)}; the serverAddress is a Service of the namespace monitoring, "
        "http://kube-prometheus-stack-prometheus.monitoring:9090, without authenticationRef; at AWS KEDA acts as the "
        "workload, podIdentity {provider: aws, identityOwner: workload}",
    ),
)

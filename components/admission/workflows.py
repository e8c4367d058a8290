"""Rules for workflows, by what they share with those of other teams, and for KEDA: which sources it asks for a team,
and with whose identity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from components.admission import kinds
from components.admission.rule import FIELDS, Rule, joined, listed, literal
from components.admission.templates import BY_A_CONTROLLER, KIND, VARIABLES, O, in_workflow
from components.storage.buckets import ARTIFACTS, artifacts_of

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
    expression=f"!variables.stages.exists(h, {_FOREIGN})",
)

STORES: Final = ("git", "http", "raw", "s3")
_ARTIFACT: Final[Sequence[str]] = FIELDS["artifact"]
"""Fields of an artifact (argo-workflows v4.0.6, CRD), without stores of other clouds and plugins."""
_S3: Final[Sequence[str]] = FIELDS["artifact in s3"]
_AWS_ENDPOINT: Final = "^s3[a-z0-9.-]*[.]amazonaws[.]com$"
_LITERAL: Final = "a.s3.key.split('{{')[0]"
_OF_WORKFLOW: Final = artifacts_of("{{workflow.namespace}}")
_OWN_KEY: Final = (
    f"(a.s3.key.startsWith('{ARTIFACTS}/' + request.namespace + '/') || a.s3.key.startsWith('{_OF_WORKFLOW}') || "
    f"!({_LITERAL}.startsWith('{ARTIFACTS}/') || '{ARTIFACTS}/'.startsWith({_LITERAL}) || a.s3.key.startsWith('/')))"
)
"""Whether the server, which may read the artifacts of all namespaces, reads no other one's."""
_FOREIGN_ARTIFACT: Final = (
    f"a.exists(k, !(k in {listed('artifactFields')})) || "
    f"(has(a.s3) && (a.s3.exists(k, !(k in {listed('s3Fields')})) || (has(a.s3.key) && !{_OWN_KEY}) || "
    f"(has(a.s3.endpoint) && !a.s3.endpoint.matches('{_AWS_ENDPOINT}')))) || "
    "(has(a.http) && (a.http.exists(k, !(k in ['headers', 'url'])) || !a.http.url.startsWith('https://')))"
)


_LISTS: Final = " + ".join(
    f"(has(x.{part}) && has(x.{part}.artifacts) ? x.{part}.artifacts : [])"
    for part in ("inputs", "outputs", "arguments")
)
_HAS_FOREIGN: Final = (
    f"({_LISTS} + (has(x.archiveLocation) ? [x.archiveLocation] : []) + "
    "(has(x.data) && has(x.data.source) && has(x.data.source.artifactPaths) ? [x.data.source.artifactPaths] : []))"
    f".exists(a, {_FOREIGN_ARTIFACT})"
)
"""Whether a template, a step or a node has an artifact of another namespace."""
_REPOSITORIES: Final = "artifact-repositories"
"""ConfigMap that Argo reads first in the namespace of a workflow (argo-workflows v4, "Artifact Repository Ref")."""
_NODES: Final = f"(has({O}.status) && has({O}.status.nodes) ? {O}.status.nodes : {{}})"
"""Where the server finds the artifacts of a workflow that ran; a member can write it."""
_PATCHES: Final = "has(x.podSpecPatch) && x.podSpecPatch.matches('host(IPC|Network|PID|Path|Port)|nodeName|priv')"
"""Whether the pods of a workflow are patched with what the other rules refuse, once the controller makes them."""
WORKFLOW_SCOPE: Final = Rule(
    name="workflow-scope",
    kinds=(*kinds.WORKFLOWS, kinds.CONFIG_MAP),
    parameters={"artifactFields": ",".join(_ARTIFACT), "s3Fields": ",".join(_S3)},
    variables={
        "tasks": f"{VARIABLES['tasks']} + [[{_NODES}.map(n, {_NODES}[n])]]",
        "refused": f"{KIND} == 'ConfigMap' && {O}.metadata.name == '{_REPOSITORIES}' ? ['the ConfigMap "
        f"{_REPOSITORIES}'] : [variables.workflow].map(w, has(w.priority) && int(w.priority) > 0 ? 'priority' : '') + "
        "[variables.workflow].map(w, has(w.artifactRepositoryRef) ? 'artifactRepositoryRef' : '') + "
        f"({in_workflow('has(x.metrics)')} ? ['metrics'] : []) + "
        f"({in_workflow(_PATCHES)} ? ['podSpecPatch'] : []) + "
        # No account of a team may change objects: the step would fail once it runs.
        f"({in_workflow('has(x.resource)')} ? ['resource'] : []) + "
        f"({in_workflow(_HAS_FOREIGN)} ? ['artifacts elsewhere'] : [])",
    },
    # The controller writes the status after each step.
    expression=f"{BY_A_CONTROLLER} && request.operation == 'UPDATE' || variables.refused.all(t, t == '')",
    found="variables.refused",
    names={"stores": ", ".join(STORES), "of_workflow": _OF_WORKFLOW, "artifacts": ARTIFACTS},
    fields=("status",),
)


SOURCES: Final = ("configMapTargetRef", "env", "podIdentity", "secretTargetRef")
"""Sources of a TriggerAuthentication for which KEDA sends nothing of its own (keda v2.20.2, CRD)."""
TRIGGERS: Final[Mapping[str, Sequence[str]]] = FIELDS["triggers"]
"""Metadata of each allowed trigger (keda v2.20.2, pkg/scalers), without what names another address or identity:
`awsEndpoint`, keys, and `authModes` of Prometheus."""
MONITORING: Final = r"^http://[a-z0-9-]+\\.monitoring(\\.svc(\\.cluster\\.local)?)?:9090/?$"
"""Prometheus is a Service of the namespace `monitoring`, in which no team makes any."""

_METADATA: Final = "(has(t.metadata) ? t.metadata : {})"
_OF: Final = f"'identityOwner' in {_METADATA} && !(t.metadata.identityOwner in ['', 'pod'])"
_ELSEWHERE: Final = f"'serverAddress' in {_METADATA} && !string(t.metadata.serverAddress).matches('{MONITORING}')"
_REF: Final = "t.authenticationRef"
_OTHER: Final = f"has({_REF}.kind) && {_REF}.kind != 'TriggerAuthentication'"
_LOGIN: Final = f"has({_REF}) && (!t.type.startsWith('aws-') || {_OTHER})"
_TRIGGER: Final = (
    "!variables.known.exists(k, k.startsWith(t.type + ' ')) ? ['the trigger ' + string(t.type)] : "
    f"{_METADATA}.filter(k, !(t.type + ' ' + k in variables.known)).map(k, string(k)) + "
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
    parameters={"triggers": ",".join(f"{name} {key}" for name, keys in TRIGGERS.items() for key in keys)},
    variables={
        "known": listed("triggers"),
        "refused": f"{KIND} == 'TriggerAuthentication' ? [{O}.spec.filter(k, !(k in {literal(list(SOURCES))}))"
        f".map(k, string(k)) + (has({_IDENTITY}) && !({_OWN}) ? ['podIdentity'] : [])] : "
        f"(has({O}.spec.triggers) ? {O}.spec.triggers : []).map(t, {_TRIGGER})",
    },
    expression="variables.refused.all(l, l.size() == 0)",
    found=f"variables.refused.map(l, {joined('l')})",
    names={"triggers": ", ".join(TRIGGERS)},
)

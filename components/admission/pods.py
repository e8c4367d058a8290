"""Rules for all pods, and for what only controllers write to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from components.admission import kinds
from components.admission.monitors import COPIED, prometheus
from components.admission.rule import FIELDS, Fill, Rule, listed, literal
from components.admission.templates import (
    BY_A_CONTROLLER,
    KIND,
    SPEC_PATHS,
    O,
    below,
)
from spec.jobs import LONGEST_STOP
from spec.teams.labels import COST_CENTER, PROJECT, TEAM

DEVICE_VARIABLES: Final[Sequence[str]] = FIELDS["device variables"]
"""Variables by which the container runtime of GPU nodes gives a container devices (nvidia-container-toolkit v1.18,
internal/config/image/envvars.go)."""
_NO_DEVICES: Final = ("", "none", "void")
_NAMES: Final = listed("deviceVariables")
_DEVICES: Final = (
    f"((has(c.env) ? c.env.filter(v, v.name in {_NAMES} && (has(v.valueFrom) || (has(v.value) && "
    f"!(v.value in {literal(list(_NO_DEVICES))})))).map(v, v.name + ' of container ' + c.name) : []) + "
    f"(has(c.envFrom) ? c.envFrom.filter(f, has(f.prefix) && f.prefix != '' && {_NAMES}.exists(n, "
    "n.startsWith(f.prefix))).map(f, 'the prefix ' + f.prefix + ' of container ' + c.name) : []))"
)
_DATA: Final = literal([kinds.CONFIG_MAP.kind, kinds.SECRET.kind])
DEVICES: Final = Rule(
    name="device-variables",
    kinds=(*kinds.WITH_PODS, kinds.EPHEMERAL_CONTAINERS, kinds.CONFIG_MAP, kinds.SECRET),
    parameters={"deviceVariables": ",".join(DEVICE_VARIABLES)},
    variables={
        "named": f"variables.containers.map(l, l.map(c, {_DEVICES}.join(', ')).filter(t, t != '').join(', ')) + "
        f"({KIND} in {_DATA} ? ['data', 'binaryData'].map(f, f in {O} ? {O}[f].filter(k, k in {_NAMES})"
        ".map(k, string(k)).join(', ') : '') : [])",
    },
    expression="variables.named.all(t, t == '')",
    found="variables.named",
    names={"variable": DEVICE_VARIABLES[0]},
)

_LOOSE: Final = "(!i.matches('@|:[^/]*$') || i.matches('^[^@]*:latest$'))"
"""Whether image `i` has neither a digest nor a tag other than `latest`."""
_MOUNTED: Final = "has(v.image) && has(v.image.reference)"
_IMAGES: Final = (
    "l.filter(c, has(c.image)).map(c, string(c.image))",
    f"(has(s.volumes) ? s.volumes.filter(v, {_MOUNTED}).map(v, string(v.image.reference)) : [])",
)
_FORMATS: Final[Sequence[str]] = FIELDS["model formats"]
"""Fields of a predictor or explainer that have the address of a model (kserve v0.20.0, CRD)."""
_PREDICTORS: Final = (
    f"(['predictor', 'transformer', 'explainer'].filter(p, p in {O}.spec).map(p, {O}.spec[p]) + "
    f"(has({O}.spec.canary) ? {O}.spec.canary.filter(c, has(c.predictor)).map(c, c.predictor) : []))"
)
_ADDRESSES: Final = (
    f"({listed('modelFormats')}.filter(k, k in p && has(p[k].storageUri)).map(k, string(p[k].storageUri)) + "
    "(has(p.storageUris) ? p.storageUris.filter(u, has(u.uri)).map(u, string(u.uri)) : []))"
)
# KServe mounts the image of `oci+native://IMAGE`, and runs that of `oci://IMAGE` beside the server.
_MODELS: Final = (
    f"({KIND} == 'InferenceService' ? {_PREDICTORS}.map(p, {_ADDRESSES}"
    f".filter(u, u.matches('^oci[+a-z]*://')).map(u, u.split('://')[1]).filter(i, {_LOOSE}).join(', ')) : [])"
)
_OLD: Final = "dyn(oldObject)"
# A pod older than the rule keeps its images when Kueue removes its gate.
_SAME: Final = "['containers', 'initContainers', 'ephemeralContainers'].all(f, {} == {})".format(
    *(f"(f in {each}.spec ? {each}.spec[f].map(c, c.image) : [])" for each in (O, _OLD))
)
IMAGE_TAG: Final = Rule(
    name="image-tag",
    kinds=(*kinds.WITH_PODS, kinds.EPHEMERAL_CONTAINERS, kinds.INFERENCE_SERVICE),
    parameters={"modelFormats": ",".join(_FORMATS)},
    variables={
        "loose": f"variables.containers.map(l, {_IMAGES[0]}.filter(i, {_LOOSE}).join(', ')) + "
        f"variables.specs.map(s, {_IMAGES[1]}.filter(i, {_LOOSE}).join(', ')) + {_MODELS}",
    },
    expression=f"variables.loose.all(t, t == '') || ({KIND} == 'Pod' && request.operation == 'UPDATE' && "
    f"!has(request.subResource) && {_SAME})",
    found="variables.loose",
    pod_updates=True,
)

POD_FIELDS: Final[Sequence[str]] = FIELDS["pod"]
"""Fields of a pod that a team may have, some by other rules only. What Kubernetes adds is refused until somebody
has read what it does to others (`evictionResponders` of 1.37 holds up drains)."""
CONTEXT_FIELDS: Final[Sequence[str]] = FIELDS["container context"]
"""The same of a container's `securityContext`; Pod Security judges the values."""
_LONG: Final = f"terminationGracePeriodSeconds of more than {LONGEST_STOP}"
_VALUES: Final = {
    # Nobody would schedule it, and its pods would wait in the quota.
    f"has(s.schedulerName) && !(s.schedulerName in {listed('schedulers')})": "schedulerName",
    # Who answers for a name is the cluster's to say.
    "has(s.dnsConfig) && has(s.dnsConfig.nameservers)": "dnsConfig.nameservers",
    f"has(s.terminationGracePeriodSeconds) && s.terminationGracePeriodSeconds > {LONGEST_STOP}": _LONG,
}
"""Values of allowed fields that a pod may not have."""
_OTHER_VALUES: Final = " + ".join(f"({condition} ? ['{text}'] : [])" for condition, text in _VALUES.items())
_OTHER_FIELDS: Final = f"s.filter(f, !(f in {listed('podFields')}) && s[f] != false)"
_OTHER_CONTEXT: Final = f"s.filter(k, !(k in {listed('contextFields')}) && s[k] != false)"
_HOST: Final = (
    f"({_OTHER_FIELDS}.map(f, string(f)) + {_OTHER_VALUES} + "
    "(has(s.volumes) ? s.volumes.filter(v, has(v.hostPath)).map(v, 'hostPath of volume ' + v.name) : []))"
)
_PRIVILEGED: Final = (
    f"(l.filter(c, has(c.securityContext)).map(c, [c.securityContext].map(s, {_OTHER_CONTEXT}"
    ".map(k, string(k) + ' of container ' + c.name).join(', '))[0]).filter(t, t != '') + "
    "l.filter(c, has(c.ports) && c.ports.exists(q, has(q.hostPort) && q.hostPort > 0))"
    ".map(c, 'hostPort of container ' + c.name))"
)
HOST_ACCESS: Final = Rule(
    name="host-access",
    kinds=(*kinds.WITH_PODS, kinds.EPHEMERAL_CONTAINERS),
    parameters={"podFields": ",".join(POD_FIELDS), "contextFields": ",".join(CONTEXT_FIELDS)},
    variables={
        "held": f"variables.specs.map(s, {_HOST}.join(', ')) + variables.containers.map(l, {_PRIVILEGED}.join(', '))",
    },
    expression="variables.held.all(t, t == '')",
    found="variables.held",
    fills=(
        Fill(paths=SPEC_PATHS, removes=_OTHER_FIELDS),
        Fill(
            paths=below(SPEC_PATHS, "containers[].securityContext", "initContainers[].securityContext"),
            removes=_OTHER_CONTEXT,
        ),
        Fill(
            paths=below(SPEC_PATHS, "containers[].ports[]", "initContainers[].ports[]"),
            removes="s.filter(k, k == 'hostPort' && s[k] > 0)",
        ),
    ),
)  # fmt: skip

_EACH: Final = below(SPEC_PATHS, "containers[].securityContext+", "initContainers[].securityContext+")
RESTRICTED: Final = (
    Fill(paths=_EACH, field="allowPrivilegeEscalation", value="false"),
    Fill(paths=_EACH, field="capabilities", value=literal({"drop": ["ALL"]})),
    Fill(
        paths=below(
            SPEC_PATHS, "containers[].securityContext.capabilities", "initContainers[].securityContext.capabilities"
        ),
        field="drop",
        value=literal(["ALL"]),
    ),
    Fill(paths=below(SPEC_PATHS, "securityContext+"), field="runAsNonRoot", value="true"),
    Fill(
        paths=below(SPEC_PATHS, "securityContext+"), field="seccompProfile", value=literal({"type": "RuntimeDefault"})
    ),
)
"""What the Pod Security level `restricted` requires and a pod lacks (kubernetes.io, "Pod Security Standards"): filled
in where the namespace enforces it, which would refuse the pod otherwise."""


_OWNED: Final = (
    "(has(%s.metadata.ownerReferences) && %s.metadata.ownerReferences.exists(r, has(r.controller) && r.controller))"
)
CONTROLLER_REFERENCE: Final = Rule(
    name="controller-reference",
    kinds=(*kinds.WITH_PODS, kinds.TRAIN_JOB, kinds.WORKFLOW),
    # `kubectl create job --from=cronjob/NAME` sets its owner (kubectl v0.36, create_job.go). No queue leaves out what a
    # CronJob owns: it is not of a kind that Kueue queues.
    expression=f"!{_OWNED.replace('%s', 'object')} || {BY_A_CONTROLLER} || variables.ofCronJob || "
    f"(request.operation == 'UPDATE' && {_OWNED.replace('%s', 'oldObject')})",
    metadata=("ownerReferences",),
    pod_updates=True,
)

_BILLED: Final = (TEAM, PROJECT, COST_CENTER)
_OLD_LABELS: Final = f"(request.operation == 'UPDATE' && has({_OLD}.metadata.labels) ? {_OLD}.metadata.labels : {{}})"
_OF_NAMESPACE: Final = "namespaceObject.metadata.labels"
TEAM_LABELS: Final = Rule(
    name="team-labels",
    kinds=(*kinds.WITH_PODS, kinds.SERVICE),
    variables={
        "labelled": f"({KIND} == 'Service' ? [{O}] : variables.templates)"
        ".filter(t, has(t.metadata) && has(t.metadata.labels)).map(t, t.metadata.labels)",
        "others": "variables.labelled.map(m, m.filter(k, "
        f"({KIND} != 'Service' && k in {literal(list(_BILLED))} && !(has({_OF_NAMESPACE}) && k in {_OF_NAMESPACE} && "
        f"{_OF_NAMESPACE}[k] == m[k])) || ({prometheus('k')} in {literal(list(COPIED))} && m[k] != request.namespace "
        f"&& !(k in {_OLD_LABELS}))).map(k, string(k)).join(', '))",
    },
    expression="variables.others.all(t, t == '')",
    found="variables.others",
    names={"labels": ", ".join(COPIED)},
    metadata=("labels",),
    pod_updates=True,
)

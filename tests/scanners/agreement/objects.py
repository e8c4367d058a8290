"""Kubernetes: pods in every kind that has a template, roles and bindings, and network policies."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from policies.resources import tokens
from policies.resources.access import MISSING
from tests.policies.build import Fixture, FixtureResource, edited
from tests.policies.given import all_objects
from tests.scanners.agreement.spelling import Spelling, of

_CONTAINER: Final[dict[str, Any]] = {
    "name": "server",
    "image": "public.ecr.aws/slipway/server:1.4.2",
    "ports": [{"containerPort": 8080}],
    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}},
    "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}},
    "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}},
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "runAsUser": 20001,
        "capabilities": {"drop": ["ALL"]},
    },
    "volumeMounts": [{"name": "secret", "mountPath": "/secret"}],
}
_POD: Final[dict[str, Any]] = {
    "automountServiceAccountToken": False,
    "serviceAccountName": "server",
    "securityContext": {"runAsNonRoot": True, "runAsUser": 20001, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [_CONTAINER],
    "volumes": [{"name": "secret", "secret": {"secretName": "server"}}],
}
_SECOND: Final = {**_CONTAINER, "name": "second"}
_C: Final = "containers.0."
_SECURITY: Final = f"{_C}securityContext."
_REFERENCE: Final = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "server", "key": "token"}}}
_Edits = Mapping[str, Any]

_BAD: Final[Mapping[str, Sequence[_Edits]]] = {
    "CKV_K8S_10": ({f"{_C}resources.requests.cpu": MISSING}, {f"{_C}resources": MISSING}),
    "CKV_K8S_12": ({f"{_C}resources.requests.memory": MISSING}, {f"{_C}resources": MISSING}),
    "CKV_K8S_13": ({f"{_C}resources.limits.memory": MISSING}, {f"{_C}resources": MISSING}),
    "CKV_K8S_14": (
        {f"{_C}image": "public.ecr.aws/slipway/server:latest"},
        {f"{_C}image": "public.ecr.aws/slipway/server"},
    ),
    "CKV_K8S_16": ({f"{_SECURITY}privileged": True},),
    "CKV_K8S_17": ({"hostPID": True},),
    "CKV_K8S_18": ({"hostIPC": True},),
    "CKV_K8S_19": ({"hostNetwork": True},),
    "CKV_K8S_20": ({f"{_SECURITY}allowPrivilegeEscalation": True}, {f"{_SECURITY}allowPrivilegeEscalation": MISSING}),
    "CKV_K8S_22": ({f"{_SECURITY}readOnlyRootFilesystem": False}, {f"{_SECURITY}readOnlyRootFilesystem": MISSING}),
    "CKV_K8S_23": (
        {f"{_SECURITY}runAsNonRoot": MISSING, f"{_SECURITY}runAsUser": MISSING, "securityContext": MISSING},
        {f"{_SECURITY}runAsNonRoot": False, f"{_SECURITY}runAsUser": 0, "securityContext.runAsUser": 0},
    ),
    "CKV_K8S_25": ({f"{_SECURITY}capabilities.add": ["SYS_PTRACE"]},),
    "CKV_K8S_26": ({f"{_C}ports.0.hostPort": 8080},),
    "CKV_K8S_27": ({"volumes.0": {"name": "secret", "hostPath": {"path": "/var/run/docker.sock"}}},),
    "CKV_K8S_28": ({f"{_SECURITY}capabilities": MISSING}, {f"{_SECURITY}capabilities.drop": ["SYS_ADMIN"]}),
    "CKV_K8S_29": ({"securityContext": MISSING, f"{_C}securityContext": MISSING},),
    "CKV_K8S_30": ({"securityContext": MISSING, f"{_C}securityContext": MISSING},),
    "CKV_K8S_31": ({"securityContext.seccompProfile": MISSING}, {"securityContext.seccompProfile.type": "Unconfined"}),
    "CKV_K8S_35": ({f"{_C}env": [_REFERENCE]}, {f"{_C}envFrom": [{"secretRef": {"name": "server"}}]}),
    "CKV_K8S_37": ({f"{_SECURITY}capabilities": MISSING}, {f"{_SECURITY}capabilities.drop": ["NET_RAW"]}),
    "CKV_K8S_38": ({"automountServiceAccountToken": True, "serviceAccountName": "default"},),
    "CKV_K8S_39": ({f"{_SECURITY}capabilities.add": ["SYS_ADMIN"]},),
    "CKV_K8S_40": ({f"{_SECURITY}runAsUser": 100, "securityContext.runAsUser": 100},),
}
_PROBES: Final[Mapping[str, Sequence[_Edits]]] = {
    "CKV_K8S_8": ({f"{_C}livenessProbe": MISSING},),
    "CKV_K8S_9": ({f"{_C}readinessProbe": MISSING},),
}
"""Of kinds that serve requests."""


def _pod(edits: _Edits) -> dict[str, Any]:
    props: dict[str, Any] = deepcopy(_POD)
    for path, value in edits.items():
        props = edited(props, path, value)
    return props


def _in(kind: str, namespace: str = "team-vision") -> Any:
    """A builder of objects of a kind around a pod."""
    metadata = {"name": "server", "namespace": namespace}
    labels = {"app": "server"}

    def build(edits: _Edits, **more: Any) -> Fixture:
        if kind == tokens.POD:
            return {"it": of(kind, {"metadata": metadata, "spec": _pod(edits)})}
        job = kind in (tokens.JOB, tokens.CRON_JOB)
        pod = {**_pod(edits), **({"restartPolicy": "Never"} if job else {})}
        template = {"metadata": {"labels": labels}, "spec": pod}
        spec: dict[str, Any] = {"template": template, **({} if job else {"selector": {"matchLabels": labels}})}
        if kind == tokens.CRON_JOB:
            spec = {"schedule": "0 4 * * *", "jobTemplate": {"spec": spec}}
        return {"it": of(kind, {"metadata": {**metadata, **more}, "spec": spec})}

    return build


def _kind(kind: str, ids: Mapping[str, Sequence[_Edits]], **differs: Any) -> Spelling:
    build = _in(kind)
    name = kind.rpartition(":")[2]
    bad: dict[str, Any] = {one: [build(edits) for edits in all_] for one, all_ in ids.items()}
    other = _in(kind, "default")
    return Spelling(name=name, good=build({}), bad={**bad, "CKV_K8S_21": other({})}, **differs)


def _second(kind: str) -> Spelling:
    """The mistake in another container: one that starts first, or the second."""
    build = _in(kind)
    ids = {
        one: [build({where: [{**_CONTAINER, "name": "first"}, *extra]}) for where, extra in wrong]
        for one, wrong in {
            "CKV_K8S_14": [
                ("containers", [{**_SECOND, "image": "public.ecr.aws/slipway/server:latest"}]),
                ("initContainers", [{**_SECOND, "image": "public.ecr.aws/slipway/server"}]),
            ],
            "CKV_K8S_16": [
                ("containers", [{**_SECOND, "securityContext": {"privileged": True}}]),
                ("initContainers", [{**_SECOND, "securityContext": {"privileged": True}}]),
            ],
        }.items()
    }
    return Spelling(name=f"{kind.rpartition(':')[2]}, another container", good=build({}), bad=ids)


_ROLE_KINDS: Final = (tokens.CLUSTER_ROLE, tokens.NAMESPACE_ROLE)
_RBAC: Final = "rbac.authorization.k8s.io"


def _role(kind: str, groups: list[str], resources: list[str], verbs: list[str]) -> FixtureResource:
    space = {"namespace": "team-vision"} if kind == tokens.NAMESPACE_ROLE else {}
    rules = [{"apiGroups": groups, "resources": resources, "verbs": verbs}]
    return of(kind, {"metadata": {"name": "reader", **space}, "rules": rules})


def _bound(role: FixtureResource, kind: str) -> Fixture:
    space = {"namespace": "team-vision"} if kind == tokens.ROLE_BINDING else {}
    reference = {"apiGroup": _RBAC, "kind": role.type.rpartition(":")[2], "name": "reader"}
    subjects = [{"kind": "ServiceAccount", "name": "server", "namespace": "team-vision"}]
    binding = of(kind, {"metadata": {"name": "reader", **space}, "roleRef": reference, "subjects": subjects})
    return {"role": role, "binding": binding}


def _roles(kind: str) -> Spelling:
    name = kind.rpartition(":")[2]
    bad: dict[str, Any] = {
        "CKV_K8S_49": tuple(
            {"role": _role(kind, *rule)}
            for rule in (
                (["apps"], ["*"], ["get"]),
                (["apps"], ["deployments"], ["*"]),
                (["*"], ["deployments"], ["get"]),
            )
        ),
        "CKV_K8S_157": tuple(
            {"role": _role(kind, [_RBAC], [one], ["bind"])} for one in ("rolebindings", "clusterrolebindings")
        ),
        "CKV_K8S_158": tuple({"role": _role(kind, [_RBAC], [one], ["escalate"])} for one in ("roles", "clusterroles")),
    }
    if kind == tokens.CLUSTER_ROLE:
        webhooks = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
        certificates = "certificates.k8s.io"
        bad["CKV_K8S_155"] = tuple(
            {"role": _role(kind, ["admissionregistration.k8s.io"], [one], [verb])}
            for one in webhooks
            for verb in ("create", "update", "patch")
        )
        both = _role(kind, [certificates], ["certificatesigningrequests/approval"], ["update", "patch"])
        signers = {"apiGroups": [certificates], "resources": ["signers"], "verbs": ["approve"]}
        bad["CKV_K8S_156"] = {"role": of(kind, {**both.props, "rules": [*both.props["rules"], signers]})}
    return Spelling(name=name, good={"role": _role(kind, ["apps"], ["deployments"], ["get", "list"])}, bad=bad)


_GRANTS: Final = {
    "CKV2_K8S_1": ([_RBAC], ["rolebindings", "clusterrolebindings"], ["bind"]),
    "CKV2_K8S_2": ([""], ["pods/exec", "nodes/proxy"], ["create"]),
    "CKV2_K8S_3": ([""], ["users", "groups", "serviceaccounts"], ["impersonate"]),
    "CKV2_K8S_4": ([""], ["services/status"], ["update", "patch"]),
    "CKV2_K8S_5": ([""], ["secrets"], ["get", "list", "watch"]),
}


def _bindings(role: str, binding: str) -> Spelling:
    return Spelling(
        name=f"{binding.rpartition(':')[2]} of a {role.rpartition(':')[2]}",
        good=_bound(_role(role, ["apps"], ["deployments"], ["get"]), binding),
        bad={
            one: tuple(
                _bound(_role(role, groups, [resource], [verb]), binding) for resource in resources for verb in verbs
            )
            for one, (groups, resources, verbs) in _GRANTS.items()
        },
    )


def _account(name: str, *, mounted: bool | None) -> Fixture:
    props: dict[str, Any] = {"metadata": {"name": name, "namespace": "team-vision"}}
    return {
        "it": of(
            tokens.SERVICE_ACCOUNT, props if mounted is None else {**props, "automountServiceAccountToken": mounted}
        )
    }


def _to_account(kind: str) -> Spelling:
    bound = _bound(_role(tokens.CLUSTER_ROLE, ["apps"], ["deployments"], ["get"]), kind)
    good = {**bound, "account": _account("server", mounted=False)["it"]}
    wrong = edited(good["binding"].props, "subjects.0.name", "default")
    return Spelling(
        name=f"{kind.rpartition(':')[2]}, subjects", good=good, bad={"CKV_K8S_42": {**good, "binding": of(kind, wrong)}}
    )


_POLICIES: Final = "NetworkPolicy-"
_DENIED: Final[Fixture] = {
    **all_objects(),
    "pod": of(
        tokens.POD, {"metadata": {"name": "server", "namespace": "vision", "labels": {"app": "server"}}, "spec": _POD}
    ),
}
_SERVERS: Final = (*tokens.LONG_RUNNING, tokens.POD)
_JOBS: Final = (tokens.JOB, tokens.CRON_JOB)

SPELLINGS: Final = (
    *(_kind(kind, {**_BAD, **_PROBES}) for kind in _SERVERS),
    *(_kind(kind, _BAD) for kind in _JOBS),
    *(_second(kind) for kind in (tokens.POD, tokens.DEPLOYMENT, tokens.CRON_JOB)),
    *(_roles(kind) for kind in _ROLE_KINDS),
    _bindings(tokens.CLUSTER_ROLE, tokens.CLUSTER_ROLE_BINDING),
    _bindings(tokens.CLUSTER_ROLE, tokens.ROLE_BINDING),
    _bindings(tokens.NAMESPACE_ROLE, tokens.ROLE_BINDING),
    _to_account(tokens.CLUSTER_ROLE_BINDING),
    _to_account(tokens.ROLE_BINDING),
    Spelling(
        name="ServiceAccount",
        good=_account("default", mounted=False),
        bad={"CKV_K8S_41": (_account("default", mounted=True), _account("default", mounted=None))},
    ),
    Spelling(
        name="NetworkPolicy",
        good=_DENIED,
        bad={"CKV2_K8S_6": {key: one for key, one in _DENIED.items() if not key.startswith(_POLICIES)}},
    ),
)

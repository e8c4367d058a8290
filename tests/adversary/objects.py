"""Objects of probes."""

from typing import Any, Final

from tests.adversary.probe import Object
from tests.components.admission import samples as make
from tests.components.admission.samples import container, spec

RBAC: Final = "rbac.authorization.k8s.io/v1"
GUARD: Final = "admissionregistration.k8s.io/v1"
ALL: Final = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
HERE: Final = "vision-training"
OTHER: Final = "language-training"


def thing(api: str, kind: str, name: str = "it", namespace: str = HERE, **fields: Any) -> Object:
    """An object; an empty namespace is for one of the whole cluster."""
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **place}, **fields}


def secured(**context: Any) -> Object:
    return make.pod(spec(container(securityContext=context)))


def annotated(manifest: Object, **notes: str) -> Object:
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": notes}}

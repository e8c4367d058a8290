"""CronJobs that run a script of this package on the namespaces of teams: Python's standard library in a ConfigMap."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from components.base.operator import RBAC, to_account
from components.composition.cron_jobs import NAMESPACE, SMALL, account, cron_job, pod_of
from components.tenancy.roles import role_for

IMAGE: Final = "public.ecr.aws/docker/library/python:3.13.7-slim"
"""Docker's official image, as Amazon ECR Public has it (gallery.ecr.aws/docker/library/python; read 2026-11)."""
FOLDER: Final = "/scripts"


def permissions(name: str, rules: Sequence[Mapping[str, Any]], spaces: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Account, ClusterRole and a RoleBinding in each of these namespaces, by the suffix of their logical name."""
    role = f"slipway-{name}"
    bindings = {
        f"{space}-binding": {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": role, "namespace": space},
            **to_account(role, name, NAMESPACE.name),
        }
        for space in sorted(spaces)
    }
    return {"account": account(name), "role": role_for(role, rules), **bindings}


def job(name: str, when: str, modules: Sequence[ModuleType], arguments: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The CronJob and the ConfigMap of its script, by the suffix of their logical name.

    Args:
        name: Name of both, and of the account.
        when: Cron expression, in UTC.
        modules: The script, last, after the modules that it imports; each has its place in the pod as here.
        arguments: Its arguments.
    """
    sources = {module.__name__.replace(".", "/") + ".py": Path(str(module.__file__)) for module in modules}
    container = {
        "name": modules[-1].__name__.rpartition(".")[2].replace("_", "-"),
        "image": IMAGE,
        "command": ["python", "-m", modules[-1].__name__, *arguments],
        "workingDir": FOLDER,
        "volumeMounts": [{"name": "script", "mountPath": FOLDER, "readOnly": True}],
        **SMALL,
    }
    # A key of a ConfigMap has no slash.
    items = [{"key": source.name, "path": path} for path, source in sources.items()]
    volume = {"name": "script", "configMap": {"name": name, "items": items}}
    meta = {"name": name, "namespace": NAMESPACE.name}
    data = {source.name: source.read_text(encoding="utf-8") for source in sources.values()}
    return {
        "script": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data},
        "job": cron_job(name, when, "UTC", {**pod_of(container, name), "volumes": [volume]}),
    }

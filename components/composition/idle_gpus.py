"""Idle GPUs go back to the queue: every ten minutes a CronJob warns teams whose queued jobs don't use their GPUs, and
stops those that nobody keeps (`take_back.py`, which it runs).

It may read pods, and change Workloads of Kueue, in namespaces of teams alone: one ClusterRole, bound in each of them.
Model servers are no queued jobs, and scale by their load.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from components.base.operator import RBAC, rule, to_account
from components.composition.cron_jobs import NAMESPACE, SMALL, account, cron_job, pod_of
from components.tenancy.roles import role_for
from components.workloads.serving.scaling import PROMETHEUS
from spec.quantities import seconds
from spec.settings.cost import IdleGpus

NAME: Final = "idle-gpus"
ROLE: Final = f"slipway-{NAME}"
IMAGE: Final = "public.ecr.aws/docker/library/python:3.13.7-slim"
"""Docker's official image, as Amazon ECR Public has it (gallery.ecr.aws/docker/library/python; read 2026-11)."""
SCRIPT: Final = Path(__file__).with_name("take_back.py")
FOLDER: Final = "/scripts"
EVERY: Final = "*/10 * * * *"


def permissions(spaces: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Account, ClusterRole and a RoleBinding in each namespace of a team, by the suffix of their logical name."""
    rules = [
        rule("", ["pods"], ["get", "list"]),
        rule("", ["events"], ["create"]),
        rule("kueue.x-k8s.io", ["workloads"], ["get", "list", "patch"]),
    ]
    bindings = {
        f"{space}-binding": {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": ROLE, "namespace": space},
            **to_account(ROLE, NAME, NAMESPACE.name),
        }
        for space in sorted(spaces)
    }
    return {"account": account(NAME), "role": role_for(ROLE, rules), **bindings}


def job(settings: IdleGpus, spaces: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The CronJob and its script, by the suffix of their logical name."""
    limits = (str(seconds(settings.after)), str(seconds(settings.warning)))
    container = {
        "name": "take-back",
        "image": IMAGE,
        "command": ["python", f"{FOLDER}/{SCRIPT.name}", PROMETHEUS, *limits, *sorted(spaces)],
        "volumeMounts": [{"name": "script", "mountPath": FOLDER, "readOnly": True}],
        **SMALL,
    }
    pod = {**pod_of(container, NAME), "volumes": [{"name": "script", "configMap": {"name": NAME}}]}
    meta = {"name": NAME, "namespace": NAMESPACE.name}
    data = {SCRIPT.name: SCRIPT.read_text(encoding="utf-8")}
    return {
        "script": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data},
        "job": cron_job(NAME, EVERY, "UTC", pod),
    }

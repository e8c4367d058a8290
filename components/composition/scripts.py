"""CronJobs that run a script of this package on the namespaces of teams: Python's standard library in a ConfigMap.

Idle GPUs go back to the queue: every ten minutes `take_back.py` warns teams whose queued jobs don't use their GPUs, and
stops those that nobody keeps. Model servers are no queued jobs, and scale by their load. Canaries of KServe are rolled
back by their error rate: every minute `canary_rollback.py` compares it with the limit that the program set.

Each may read pods, write events, and change one kind of objects: one ClusterRole, bound in each of the namespaces.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from components.base import canaries
from components.base.operator import RBAC, object_of, rule, to_account
from components.composition import canary_rollback, in_cluster, take_back
from components.composition.cron_jobs import OURS, SMALL, CronJobs
from components.tenancy.roles import role_for
from components.workloads.serving.scaling import PROMETHEUS
from spec.quantities import seconds
from spec.settings.addons.serving import CanaryRollback
from spec.settings.cost import IdleGpus

Objects = Mapping[str, Mapping[str, Any]]  # manifests by the suffix of their logical name
IMAGE: Final = "public.ecr.aws/docker/library/python:3.13.7-slim"
"""Docker's official image, as Amazon ECR Public has it (gallery.ecr.aws/docker/library/python; read 2026-11)."""
FOLDER: Final = "/scripts"


@dataclass(frozen=True, kw_only=True)
class Script:
    """One CronJob."""

    name: str  # its name, and that of its account and ConfigMap
    every: str  # cron expression, in UTC
    modules: tuple[ModuleType, ...]
    """The script, last, after the modules that it imports; each has its place in the pod as here."""
    changes: tuple[str, str]  # API group and plural of the objects that it changes

    def permissions(self, spaces: Sequence[str], jobs: CronJobs = OURS) -> dict[str, dict[str, Any]]:
        """Account, ClusterRole and a RoleBinding in each of these namespaces, by the suffix of their logical name."""
        group, plural = self.changes
        role = jobs.named(self.name)
        rules = [
            rule("", ["pods"], ["get", "list"]),
            rule("", ["events"], ["create"]),
            rule(group, [plural], ["get", "list", "patch"]),
        ]
        bindings = {
            f"{space}-binding": object_of(
                f"{RBAC}/v1", "RoleBinding", role, space, **to_account(role, self.name, jobs.namespace.name)
            )
            for space in sorted(spaces)
        }
        return {"account": jobs.account(self.name), "role": role_for(role, rules), **bindings}

    def job(
        self, limits: Sequence[str], spaces: Sequence[str], jobs: CronJobs = OURS, prometheus: str = PROMETHEUS
    ) -> dict[str, dict[str, Any]]:
        """The CronJob and the ConfigMap of its script, by the suffix of their logical name."""
        sources = {module.__name__.replace(".", "/") + ".py": Path(str(module.__file__)) for module in self.modules}
        script = self.modules[-1].__name__
        container = {
            "name": script.rpartition(".")[2].replace("_", "-"),
            "image": IMAGE,
            "command": ["python", "-m", script, prometheus, *limits, *sorted(spaces)],
            "workingDir": FOLDER,
            "volumeMounts": [{"name": "script", "mountPath": FOLDER, "readOnly": True}],
            **SMALL,
        }
        # A key of a ConfigMap has no slash.
        items = [{"key": source.name, "path": path} for path, source in sources.items()]
        volume = {"name": "script", "configMap": {"name": self.name, "items": items}}
        data = {source.name: source.read_text(encoding="utf-8") for source in sources.values()}
        return {
            "script": object_of("v1", "ConfigMap", self.name, jobs.namespace.name, data=data),
            "job": jobs.job(self.name, self.every, "UTC", {**jobs.pod(container, self.name), "volumes": [volume]}),
        }


IDLE_GPUS: Final = Script(
    name="idle-gpus",
    every="*/10 * * * *",
    modules=(in_cluster, take_back),
    changes=("kueue.x-k8s.io", "workloads"),
)
CANARY_ROLLBACK: Final = Script(
    name="canary-rollback",
    every="* * * * *",
    modules=(canaries, in_cluster, canary_rollback),
    changes=("serving.kserve.io", "inferencegraphs"),
)


def scripts(
    spaces: Sequence[str],
    serving: Sequence[str] = (),
    *,
    jobs: CronJobs = OURS,
    idle: IdleGpus | None = None,
    rollback: CanaryRollback | None = None,
    prometheus: str = PROMETHEUS,
) -> dict[str, tuple[Objects, Objects]]:
    """Those of these namespaces by the part of their logical name: what each may do, and what it is."""
    found: dict[str, tuple[Objects, Objects]] = {}
    if idle and spaces:
        limits = (str(seconds(idle.after)), str(seconds(idle.warning)))
        found["idle"] = (IDLE_GPUS.permissions(spaces, jobs), IDLE_GPUS.job(limits, spaces, jobs, prometheus))
    if rollback and serving:
        limits = (str(seconds(rollback.window)), str(rollback.min_requests))
        found["canary"] = (CANARY_ROLLBACK.permissions(serving, jobs), CANARY_ROLLBACK.job(limits, serving, jobs))
    return found

"""CronJobs of the platform: each runs one container on the system nodes, with an account of its own."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from components.base.addon import Namespace
from components.base.operator import UNPRIVILEGED, object_of
from components.base.placement import CRITICAL, sized
from spec.pools import keys
from spec.settings.pools import Role

NAMESPACE: Final = Namespace(name="slipway-schedules", enforce="restricted")
SMALL: Final[Mapping[str, Any]] = {
    "resources": sized("10m", "64Mi"),
    "securityContext": {**UNPRIVILEGED, "readOnlyRootFilesystem": True},
}
"""Of a container that calls an API."""


def account(name: str) -> dict[str, Any]:
    """A service account of CronJobs."""
    return object_of("v1", "ServiceAccount", name, NAMESPACE.name, automountServiceAccountToken=False)


def cron_job(name: str, when: str, timezone: str, pod: Mapping[str, Any]) -> dict[str, Any]:
    """A CronJob in this namespace."""
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": name, "namespace": NAMESPACE.name},
        "spec": {
            "schedule": when,
            "timeZone": timezone,
            "concurrencyPolicy": "Forbid",
            # A run missed because the controller was down is caught up within an hour; later it would interrupt people
            # who work late on purpose.
            "startingDeadlineSeconds": 3600,
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 1,
            "jobTemplate": {"spec": {"backoffLimit": 3, "activeDeadlineSeconds": 600, "template": {"spec": dict(pod)}}},
        },
    }


def anywhere(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The same, on any node if it is a CronJob: where the program makes no system pool."""
    found = deepcopy(dict(manifest))
    if found["kind"] == "CronJob":
        del found["spec"]["jobTemplate"]["spec"]["template"]["spec"]["nodeSelector"]
    return found


def pod_of(container: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A pod of one container, which may do what the account of that name may."""
    return {
        "restartPolicy": "OnFailure",
        "serviceAccountName": name,
        "automountServiceAccountToken": True,
        "nodeSelector": {keys.ROLE: str(Role.SYSTEM)},
        "tolerations": [dict(CRITICAL)],
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [dict(container)],
    }

"""CronJobs of the platform: each runs one container on the system nodes, with an account of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.base.addon import Namespace
from components.base.operator import UNPRIVILEGED, object_of
from components.base.placement import CRITICAL, selector, sized

SMALL: Final[Mapping[str, Any]] = {
    "resources": sized("10m", "64Mi"),
    "securityContext": {**UNPRIVILEGED, "readOnlyRootFilesystem": True},
}
"""Of a container that calls an API."""


@dataclass(frozen=True, kw_only=True)
class CronJobs:
    """Where CronJobs run, and whose they are."""

    prefix: str = "slipway"  # begins the names of their namespace, roles and bindings
    systems: bool = True  # whether the program makes system pools, on which they run; else on any node

    @property
    def namespace(self) -> Namespace:
        """Their namespace."""
        return Namespace(name=self.named("schedules"), enforce="restricted")

    def named(self, name: str) -> str:
        """Name of a role that is not in their namespace."""
        return f"{self.prefix}-{name}"

    def account(self, name: str) -> dict[str, Any]:
        """A service account of CronJobs."""
        return object_of("v1", "ServiceAccount", name, self.namespace.name, automountServiceAccountToken=False)

    def job(self, name: str, when: str, timezone: str, pod: Mapping[str, Any]) -> dict[str, Any]:
        """A CronJob."""
        return {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": name, "namespace": self.namespace.name},
            "spec": {
                "schedule": when,
                "timeZone": timezone,
                "concurrencyPolicy": "Forbid",
                # A run missed because the controller was down is caught up within an hour; later it would interrupt
                # people who work late on purpose.
                "startingDeadlineSeconds": 3600,
                "successfulJobsHistoryLimit": 1,
                "failedJobsHistoryLimit": 1,
                "jobTemplate": {
                    "spec": {"backoffLimit": 3, "activeDeadlineSeconds": 600, "template": {"spec": dict(pod)}}
                },
            },
        }

    def pod(self, container: Mapping[str, Any], name: str) -> dict[str, Any]:
        """A pod of one container, which may do what the account of that name may."""
        placed = {"nodeSelector": selector([self])} if self.systems else {}
        return {
            "restartPolicy": "OnFailure",
            "serviceAccountName": name,
            "automountServiceAccountToken": True,
            **placed,
            "tolerations": [dict(CRITICAL)],
            "securityContext": {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [dict(container)],
        }


OURS: Final = CronJobs()
"""Those of a stack with system pools."""
NAMESPACE: Final = OURS.namespace

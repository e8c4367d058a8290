"""What happens during a trial: EC2 takes nodes back or has no capacity, a GPU breaks, the stack is updated."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.nodes import ec2, health
from sandbox.nodes.ec2 import Ec2, Refusal
from sandbox.nodes.instances import INTERRUPTION
from slipway.trial.expectations import Step
from slipway.trial.update import Update
from slipway.why.bundle import Bundle

RECLAIM: Final = "reclaim"
BREAK_GPU: Final = "breakGpu"
REFUSE: Final = "refuse"
RESTORE: Final = "restore"
UP: Final = "up"
_FORMAT: Final = "%Y-%m-%dT%H:%M:%SZ"


def interrupt(client: KubeClient, node: str, notice: float) -> str:
    """EC2 takes a Spot node back after a notice.

    Args:
        notice: Seconds until then.

    Returns:
        The moment, RFC 3339.
    """
    deadline = time.strftime(_FORMAT, time.gmtime(time.time() + notice))
    client.merge(Ref("v1", "Node", node), {"metadata": {"annotations": {INTERRUPTION: deadline}}})
    return deadline


@dataclass
class Events:
    """The events of one trial, undone at its end."""

    client: KubeClient  # the cluster, with an administrator's rights
    home: Path  # folder of the sandbox
    update: Update | None = None  # updates the stack; None if no step does
    _before: Ec2 | None = field(default=None, init=False)

    def act(self, step: Step, bundle: Bundle | None) -> bool:
        """Let a step happen; false if its object has no node yet or an update has not ended, so it is tried again."""
        if step.action == REFUSE:
            self._change(lambda settings: settings.refuse(_refusal(step)))
        elif step.action == RESTORE:
            self._change(lambda settings: settings.restore(_refusal(step)))
        elif step.action == UP:
            return self.update is not None and self.update.done(step.detail or {})
        else:
            return self._lose(step, bundle)
        return True

    @property
    def works(self) -> bool:
        """Whether an update is under way."""
        return self.update is not None and self.update.works

    def undo(self) -> None:
        """EC2 has the capacity that it had before, and no update goes on."""
        if self.update is not None:
            self.update.end()
        if self._before is not None:
            ec2.write(self.home, self._before)

    def _lose(self, step: Step, bundle: Bundle | None) -> bool:
        """EC2 takes the nodes back without the notice of two minutes, which would be most of a trial; or a GPU of one
        of them broke so long ago that it is repaired now."""
        pods = bundle.pods if bundle else ()
        nodes = sorted({str(pod["spec"]["nodeName"]) for pod in pods if pod["spec"].get("nodeName")})
        if step.action == BREAK_GPU:
            for name in nodes[:1]:
                health.break_gpu(self.client, name)
        else:
            for name in nodes:
                interrupt(self.client, name, 0)
        return bool(nodes)

    def _change(self, change: Callable[[Ec2], Ec2]) -> None:
        settings = ec2.read(self.home)
        self._before = self._before or settings
        ec2.write(self.home, change(settings))


def _refusal(step: Step) -> Refusal:
    detail = step.detail or {}
    return Refusal(detail.get("instanceType", ""), detail.get("zone", ""), detail.get("market", ""))

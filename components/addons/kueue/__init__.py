"""Kueue: queues with quotas, fair shares and preemption for jobs of every kind (kueue.sigs.k8s.io)."""

from components.addons.kueue.addon import Kueue

__all__ = ["Kueue"]

"""Kueue's objects: queues, quotas, flavors and priorities, by which teams share the pools."""

from components.queues.queues import QueuesArgs, queues

__all__ = ["QueuesArgs", "queues"]

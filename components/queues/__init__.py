"""Kueue's objects: how teams share the pools, and who goes first."""

from components.queues.queues import QueuesArgs, queues

__all__ = ["QueuesArgs", "queues"]

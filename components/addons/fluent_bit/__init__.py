"""Fluent Bit: logs of containers to CloudWatch Logs or S3 (fluentbit.io)."""

from components.addons.fluent_bit.addon import FluentBit

__all__ = ["FluentBit"]

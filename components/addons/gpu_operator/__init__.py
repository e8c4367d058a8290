"""NVIDIA GPU Operator: the add-on (`addon`), how GPUs are partitioned (`mig`) and shared (`plugin`)."""

from components.addons.gpu_operator.addon import GpuOperator, values

__all__ = ["GpuOperator", "values"]

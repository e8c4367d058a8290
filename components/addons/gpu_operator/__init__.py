"""NVIDIA GPU Operator: the add-on (`addon`), and how GPUs are shared (`plugin`)."""

from components.addons.gpu_operator.addon import GpuOperator, values

__all__ = ["GpuOperator", "values"]

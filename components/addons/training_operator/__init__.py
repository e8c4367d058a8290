"""Training operator v1: PyTorchJob, TFJob and similar kinds, for code that still needs them."""

from components.addons.training_operator.addon import TrainingOperator

__all__ = ["TrainingOperator"]

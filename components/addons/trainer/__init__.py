"""Kubeflow Trainer v2: TrainJobs on the platform's training runtimes (trainer.kubeflow.org)."""

from components.addons.trainer.addon import Trainer

__all__ = ["Trainer"]

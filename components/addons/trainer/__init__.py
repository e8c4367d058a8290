"""Kubeflow Trainer v2: TrainJobs on runtimes that the platform provides (trainer.kubeflow.org)."""

from components.addons.trainer.addon import Trainer

__all__ = ["Trainer"]

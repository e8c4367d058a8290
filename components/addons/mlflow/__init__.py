"""MLflow: runs, metrics, artifacts and the registry of models."""

from components.addons.mlflow.addon import Mlflow

__all__ = ["Mlflow"]

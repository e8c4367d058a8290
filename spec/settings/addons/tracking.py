"""Settings of experiment tracking."""

from typing import Annotated

from pydantic import Field

from spec.settings.addons.base import AddonSettings
from spec.settings.storage import Database


class Mlflow(AddonSettings):
    """MLflow: runs, their metrics and files, and the model registry, with a database of its own on RDS."""

    replicas: Annotated[int, Field(ge=1, le=10)] = 2
    """Replicas of the server."""
    database: Database = Field(default_factory=Database)
    """Database of runs and of the registry; files are in the bucket `models`."""

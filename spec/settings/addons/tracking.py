"""Settings of what remembers experiments and models."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from spec.settings.addons.base import AddonSettings
from spec.settings.database import Database


class Mlflow(AddonSettings):
    """MLflow: runs, their metrics and files, and the registry of models. It brings its database with it."""

    replicas: Annotated[int, Field(ge=1, le=10)] = 2
    """Servers."""
    database: Database = Field(default_factory=Database)
    """Where runs and the registry are kept; files go to the bucket `models`."""

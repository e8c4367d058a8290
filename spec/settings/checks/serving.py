"""Checks of model serving: add-ons that an ingress and a deployment mode need."""

from __future__ import annotations

from collections.abc import Iterator

from spec.settings.addons import Addons
from spec.settings.addons.serving import NEEDED_BY_INGRESS, Knative
from spec.settings.checks.addons import key_of
from spec.settings.checks.base import Context
from spec.settings.problems import Problem


def models_reachable(_context: Context, addons: Addons) -> Iterator[Problem]:
    """The add-ons of the chosen ingress and deployment mode are installed."""
    settings = addons.kserve
    if settings is None:
        return
    needed = NEEDED_BY_INGRESS.get(settings.ingress)
    if needed is not None and not addons.has(needed):
        need = key_of(needed)
        yield Problem(
            "addons.kserve.ingress",
            f"ingress {settings.ingress} needs {need}",
            settings.ingress,
            f"Add `{need}: {{}}` to addons, or set `ingress: none` to serve only inside the cluster.",
        )
    if settings.default_deployment_mode == "Knative" and not addons.has(Knative):
        yield Problem(
            "addons.kserve.defaultDeploymentMode",
            "the deployment mode Knative needs knative",
            settings.default_deployment_mode,
            "Add `knative: {}` to addons, or set `defaultDeploymentMode: Standard`.",
        )

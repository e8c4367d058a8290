"""The training operator v1 from manifests: its project publishes kustomize YAML and no chart.

Facts of v1.9.4 (github.com/kubeflow/trainer, branch release-1.9, 2026-08-18): names of objects, ports, flags, webhook
paths, permissions. It is the last release of version 1; Kubeflow Trainer v2 is maintained.
"""

from __future__ import annotations

from typing import Any, ClassVar

from components.addons.training_operator.crds import definition
from components.addons.training_operator.kinds import KINDS
from components.addons.training_operator.manifests import (
    NAME,
    NAMESPACE,
    budget,
    deployment,
    permissions,
    service,
    webhooks,
)
from components.base.addon import AddOn, AddOnContext, Namespace, Parts
from components.base.controllers import Controller
from components.base.placement import system_placement
from components.base.sizing import keeps_one
from spec.settings.addons.batch import TrainingOperator as Settings
from spec.settings.addons.batch import Volcano


class TrainingOperator(AddOn[Settings]):
    """CRDs of the configured kinds, the operator, and the validating webhook."""

    name: ClassVar[str] = "training-operator"
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="restricted")
    controllers: ClassVar[tuple[Controller, ...]] = (Controller(account=NAME, makes=("Pod",)),)

    def parts(self, context: AddOnContext) -> Parts:
        """Only manifests, no release."""
        kinds = [KINDS[name] for name in self.settings.kinds]
        crds: dict[str, Any] = {f"crd-{kind.plural}": definition(kind) for kind in kinds}
        operator = deployment(
            self.settings,
            kinds,
            placement=system_placement(context),
            gang_scheduler="volcano" if context.platform.addons.has(Volcano) else None,
        )
        return Parts(
            before={**crds, **permissions(kinds), "service": service()},
            objects={
                "operator": operator,
                "webhook": webhooks(kinds),
                **({"budget": budget()} if keeps_one(self.settings.replicas) else {}),
            },
        )

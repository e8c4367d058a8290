"""The MPI Operator from manifests: its project publishes YAML and no chart.

Names of objects, flags and permissions are those of deploy/v2beta1/mpi-operator.yaml (github.com/kubeflow/mpi-operator,
v0.8.2).
"""

from __future__ import annotations

from typing import ClassVar

from components.addons.mpi_operator.crd import definition
from components.addons.mpi_operator.manifests import NAME, NAMESPACE, budget, deployment, permissions
from components.base.addon import AddOn, AddOnContext, Namespace, Parts
from components.base.controllers import Controller
from components.base.placement import system_placement
from components.base.sizing import keeps_one
from spec.settings.addons.batch import MpiOperator as Settings
from spec.settings.addons.batch import Volcano


class MpiOperator(AddOn[Settings]):
    """The CRD, the operator and its permissions."""

    name: ClassVar[str] = "mpi-operator"
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="restricted")
    controllers: ClassVar[tuple[Controller, ...]] = (Controller(account=NAME, makes=("Job", "Pod")),)

    def parts(self, context: AddOnContext) -> Parts:
        """Only manifests, no release."""
        operator = deployment(
            self.settings,
            placement=system_placement(context),
            gang_scheduler="volcano" if context.platform.addons.has(Volcano) else None,
        )
        return Parts(
            before={"crd-mpijobs": definition(), **permissions()},
            objects={"operator": operator, **({"budget": budget()} if keeps_one(self.settings.replicas) else {})},
        )

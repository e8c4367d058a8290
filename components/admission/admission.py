"""The admission policies on the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi

from components.admission.context import StackContext
from components.admission.manifests import ACTIONS, binding, policy, policy_name
from components.admission.rules import rules
from components.base.controllers import Controller
from components.base.kubernetes import declare
from components.base.outputs import ClusterOutputs
from spec.pools.pool_spec import PoolSpec
from spec.settings.admission import Action
from spec.settings.admission import Admission as Settings


@dataclass(frozen=True, kw_only=True)
class AdmissionArgs:
    """Inputs of `Admission`.

    Attributes:
        settings: Action of each rule: deny, warn, audit or off.
        pools: Pools by name.
        queues: Whether Kueue queues jobs.
        cluster: The cluster.
        controllers: Controllers of the installed add-ons, with the namespaces of their service accounts.
    """

    settings: Settings
    pools: Mapping[str, PoolSpec]
    queues: bool
    cluster: ClusterOutputs
    controllers: Sequence[tuple[str, Controller]] = ()


class Admission(pulumi.ComponentResource):
    """A ValidatingAdmissionPolicy and its binding for every enabled rule. They need no controller."""

    PULUMI_TYPE: Final = "slipway:admission:Admission"

    def __init__(self, name: str, args: AdmissionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        child = pulumi.ResourceOptions(
            parent=self, depends_on=list(args.cluster.access), deleted_with=args.cluster.resource
        )
        context = StackContext(
            pools=args.pools,
            queues=args.queues,
            max_replicas=args.settings.max_replicas,
            controllers=args.controllers,
        )
        installed = {}
        for rule in rules(context):
            action = args.settings.of(rule.name)
            if action is not Action.OFF:
                installed[policy_name(rule)] = ACTIONS[action]
                declare(f"{name}-{rule.name}", policy(rule, context), child)
                declare(f"{name}-{rule.name}-binding", binding(rule, action), child)
        self.register_outputs({"rules": installed})

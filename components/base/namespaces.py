"""Namespaces of the add-ons, each declared once even if several add-ons share it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.base.addon import AddOn, Namespace
from components.base.kubernetes import declare
from components.base.outputs import ClusterOutputs


@dataclass(frozen=True, kw_only=True)
class NamespacesArgs:
    """Inputs of the namespaces.

    Attributes:
        addons: Enabled add-ons, by name.
        cluster: The cluster.
    """

    addons: Mapping[str, AddOn[Any]]
    cluster: ClusterOutputs


class Namespaces(pulumi.ComponentResource):
    """The namespaces that the platform creates; `kube-system` and the like belong to EKS."""

    PULUMI_TYPE: Final = "slipway:addons:Namespaces"

    resources: Mapping[str, pulumi.Resource]

    def __init__(self, name: str, args: NamespacesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        child = pulumi.ResourceOptions(
            parent=self, depends_on=list(args.cluster.access), deleted_with=args.cluster.resource
        )
        spaces = agreed(addon.namespace for addon in args.addons.values())
        self.resources = {key: declare(f"{name}-{key}", manifest(space), child) for key, space in spaces.items()}
        self.register_outputs({})

    def of(self, namespace: str) -> tuple[pulumi.Resource, ...]:
        """Dependencies of an object in this namespace; empty for a namespace of EKS."""
        return (self.resources[namespace],) if namespace in self.resources else ()


def agreed(spaces: Iterable[Namespace]) -> dict[str, Namespace]:
    """Namespaces that the platform creates, by name, sorted.

    Raises:
        ValueError: If add-ons that share one don't agree on its level or labels.
    """
    ours: dict[str, Namespace] = {}
    for space in spaces:
        if space.enforce is None:
            continue
        if ours.setdefault(space.name, space) != space:
            msg = f"two add-ons share the namespace {space.name} and disagree on it: {ours[space.name]} and {space}"
            raise ValueError(msg)
    return dict(sorted(ours.items()))


def manifest(space: Namespace) -> dict[str, Any]:
    """A Namespace; `warn` and `audit` equal `enforce`, so that a refused pod template also shows as a warning."""
    levels = {f"pod-security.kubernetes.io/{mode}": space.enforce for mode in ("enforce", "warn", "audit")}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": space.name, "labels": {**space.labels, **levels}},
    }

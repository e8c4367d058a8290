"""The software of the platform: Helm releases and EKS add-ons."""

from __future__ import annotations

from slipway.render.recording import Recording
from slipway.report.model import SoftwareView


def releases(recording: Recording) -> tuple[SoftwareView, ...]:
    """Helm releases, by namespace and name."""
    inputs = [one.inputs.plain for one in recording.of_type("kubernetes:helm.sh/v3:Release")]
    views = [
        SoftwareView(
            name=str(one["name"]),
            version=str(one.get("version") or "not pinned"),
            namespace=str(one.get("namespace") or "default"),
            chart=str(one["chart"]).rpartition("/")[2],
        )
        for one in inputs
    ]
    return tuple(sorted(views, key=lambda view: (view.namespace, view.name)))


def addons(recording: Recording) -> tuple[SoftwareView, ...]:
    """EKS add-ons, by name."""
    inputs = [one.inputs.plain for one in recording.of_type("aws:eks/addon:Addon")]
    views = [
        SoftwareView(
            name=str(one["addonName"]),
            version=str(one.get("addonVersion") or "EKS default"),
            namespace="kube-system",
            chart="",
        )
        for one in inputs
    ]
    return tuple(sorted(views, key=lambda view: view.name))

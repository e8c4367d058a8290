"""The EKS cluster: control plane, access, managed add-ons."""

from components.cluster.access import AccessEntries, AccessEntriesArgs
from components.cluster.addons import ManagedAddons, ManagedAddonsArgs, Phase
from components.cluster.control_plane import ControlPlane, ControlPlaneArgs

__all__ = [
    "AccessEntries",
    "AccessEntriesArgs",
    "ControlPlane",
    "ControlPlaneArgs",
    "ManagedAddons",
    "ManagedAddonsArgs",
    "Phase",
]

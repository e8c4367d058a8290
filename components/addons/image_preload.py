"""Images on nodes before a pod asks for them.

A DaemonSet for each pool mounts them as volumes. The kubelet loads them with its own permissions, nothing in them runs,
and it doesn't remove images that a pod uses (kubernetes.io, "Use an Image Volume With a Pod" and "Garbage collection").
"""

from collections.abc import Sequence
from typing import Any

from components.base.addon import AddOn, AddOnContext, Parts
from components.base.operator import RESTRICTED
from components.base.placement import pool_tolerations, sized
from spec.catalog.software import MANIFESTS
from spec.pools import keys
from spec.settings.addons.gpu import ImagePreload as Settings


class ImagePreload(AddOn[Settings]):
    """A DaemonSet for each pool that has images."""

    name = "image-preload"
    software = MANIFESTS["pause"]

    def parts(self, context: AddOnContext) -> Parts:
        """The DaemonSets."""
        return Parts(
            objects={
                pool: self._keeper(pool, images, pool_tolerations(context.pools, [pool]))
                for pool, images in sorted(self.settings.pools.items())
                if images
            }
        )

    def _keeper(self, pool: str, images: Sequence[str], tolerations: list[dict[str, str]]) -> dict[str, Any]:
        labels = {"app.kubernetes.io/name": self.name, keys.POOL: pool}
        volumes = [
            {"name": f"image-{number}", "image": {"reference": image, "pullPolicy": "IfNotPresent"}}
            for number, image in enumerate(images)
        ]
        container = {
            "name": "keeper",
            "image": MANIFESTS["pause"].image,
            "resources": sized("1m", "8Mi"),
            "securityContext": {**RESTRICTED, "readOnlyRootFilesystem": True, "runAsUser": 65535},
            "volumeMounts": [
                {"name": each["name"], "mountPath": f"/images/{number}", "readOnly": True}
                for number, each in enumerate(volumes)
            ],
        }
        spec = {
            "automountServiceAccountToken": False,
            "containers": [container],
            "enableServiceLinks": False,
            "nodeSelector": {keys.POOL: pool},
            "terminationGracePeriodSeconds": 0,
            "tolerations": tolerations,
            "volumes": volumes,
        }
        return {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            # Pulumi doesn't wait for the last node to have loaded the last image.
            "metadata": {
                "name": pool,
                "namespace": self.namespace.name,
                "annotations": {"pulumi.com/skipAwait": "true"},
            },
            "spec": {
                "selector": {"matchLabels": labels},
                # They serve nobody, so all nodes load a new image at once.
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }

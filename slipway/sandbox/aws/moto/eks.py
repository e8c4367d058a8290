"""EKS operations that moto 5.2.5 lacks, added to its server, so that boto3 and the AWS CLI see the same objects.

Codes and messages are those of EKS, from its API Reference and from error reports that quote it (read 2026-11).
"""

# Methods are AWS's operations, whose documentation is AWS's.

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult
from moto.eks import urls

from slipway.sandbox.aws.moto.eks_contents import contents
from slipway.sandbox.aws.moto.eks_operations import ContentOperations, done

_KINDS = ("addons", "access-entries", "pod-identity-associations")
_ROUTES = (
    *(f"{{0}}/clusters/(?P<name>[^/]+)/{kind}$" for kind in _KINDS),
    *(f"{{0}}/clusters/(?P<name>[^/]+)/{kind}/(?P<rest>.+)$" for kind in _KINDS),
    "{0}/clusters/(?P<name>[^/]+)/updates$",
    "{0}/clusters/(?P<name>[^/]+)/node-groups/(?P<nodegroupName>[^/]+)/update-version$",
)
# Routes of moto's own whose operations do more here.
_EXTENDED = ("{0}/clusters$", "{0}/clusters/(?P<name>[^/]+)/update-config$", "{0}/tags/(?P<resourceArn>.+)$")


def install() -> None:
    """Add the operations to moto. Before its server starts; idempotent."""
    paths: dict[str, Any] = urls.url_paths
    for route in (*_ROUTES, *_EXTENDED):
        paths[route] = _Eks.dispatch


class _Eks(ContentOperations):
    """Methods have the names of the operations, as in moto."""

    # -- clusters and node groups ------------------------------------------------------------------------------------

    def create_cluster(self) -> ActionResult:
        answer = super().create_cluster()
        access = self._get_param("accessConfig") or {}
        self.cluster().access_config = {"authenticationMode": access.get("authenticationMode") or "CONFIG_MAP"}
        return answer

    def update_cluster_config(self) -> ActionResult:
        answer = super().update_cluster_config()
        if self._get_param("accessConfig"):
            self.cluster().access_config = self._get_param("accessConfig")
        return answer

    def update_cluster_version(self) -> ActionResult:
        self.cluster().version = self._get_param("version")
        return done("VersionUpdate")

    def update_nodegroup_version(self) -> ActionResult:
        group = self.eks_backend.describe_nodegroup(self._get_param("name"), self._get_param("nodegroupName"))
        for parameter, attribute in (("version", "version"), ("launchTemplate", "launch_template")):
            if self._get_param(parameter):
                setattr(group, attribute, self._get_param(parameter))
        return done("VersionUpdate")

    # -- tags ----------------------------------------------------------------------------------------------------------

    def tag_resource(self) -> ActionResult:
        tags = self._tags()
        if tags is None:
            return super().tag_resource()
        tags.update(self._get_param("tags"))
        return ActionResult({})

    def untag_resource(self) -> ActionResult:
        tags = self._tags()
        if tags is None:
            return super().untag_resource()
        # Moto's parser of parameters keeps one value of a repeated one.
        keys = self.querystring["tagKeys"]
        for key in keys:
            tags.pop(key, None)
        return ActionResult({})

    def list_tags_for_resource(self) -> ActionResult:
        tags = self._tags()
        return super().list_tags_for_resource() if tags is None else ActionResult({"tags": tags})

    def _tags(self) -> dict[str, str] | None:
        arn = self._get_param("resourceArn")
        for cluster in self.eks_backend.clusters.values():
            found: dict[str, str] | None = cluster.tags if cluster.arn == arn else contents(cluster).tagged(arn)
            if found is not None:
                return found
        return None

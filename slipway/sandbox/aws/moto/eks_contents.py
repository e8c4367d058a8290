"""What an EKS cluster of moto contains beside node groups: add-ons, access entries and Pod Identity associations.

Moto 5.2.5 has none of them. They are kept as attributes of moto's own cluster objects, so that they exist once per
account and region and end with their cluster. Items have the form of the API's answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.core.utils import utcnow

_ATTRIBUTE = "slipway_contents"


@dataclass
class Contents:
    """The contents of one cluster."""

    addons: dict[str, dict[str, Any]] = field(default_factory=dict)
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Access entries by the principal's ARN."""
    policies: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """Associated access policies by the ARNs of principal and policy."""
    associations: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Pod Identity associations by their ids."""

    def association_of(self, namespace: str, service_account: str) -> dict[str, Any] | None:
        """The association of a service account; AWS allows one."""
        wanted = (namespace, service_account)
        return next((one for one in self.associations.values() if _account(one) == wanted), None)

    def tagged(self, arn: str) -> dict[str, str] | None:
        """The tags of the item with an ARN."""
        for items in (self.addons, self.entries, self.associations):
            for item in items.values():
                if arn in (item.get("addonArn"), item.get("accessEntryArn"), item.get("associationArn")):
                    tags: dict[str, str] = item["tags"]
                    return tags
        return None


def contents(cluster: Any) -> Contents:
    """The contents of one of moto's clusters."""
    if not hasattr(cluster, _ATTRIBUTE):
        setattr(cluster, _ATTRIBUTE, Contents())
    found: Contents = getattr(cluster, _ATTRIBUTE)
    return found


def digest(*parts: str, length: int = 17) -> str:
    """The hexadecimal part of an id or ARN: equal for equal parts, so that runs of the same program agree."""
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:length]


def arn(cluster: Any, kind: str, *path: str) -> str:
    """The ARN of something in a cluster."""
    head, _, name = str(cluster.arn).rpartition(":cluster/")
    return f"{head}:{kind}/{'/'.join((name, *path))}"


def stamped(values: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """An item without absent values, with the times of its creation and last change."""
    now = utcnow()
    known = {key: value for key, value in values.items() if value is not None}
    return {**known, **more, "createdAt": now, "modifiedAt": now}


def change(item: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Set the given values of an item."""
    item.update({key: value for key, value in values.items() if value is not None})
    item["modifiedAt"] = utcnow()


def _account(association: Mapping[str, Any]) -> tuple[str, str]:
    return association["namespace"], association["serviceAccount"]

"""EKS operations that moto 5.2.5 lacks, added to its server, so that boto3 and the AWS CLI see the same objects."""

# ruff: noqa: D102

from __future__ import annotations

import hashlib

# Methods are AWS's operations, whose documentation is AWS's.
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.core.responses import ActionResult
from moto.core.utils import utcnow

# Methods are AWS's operations, whose documentation is AWS's.
from moto.eks.exceptions import InvalidRequestException, ResourceInUseException, ResourceNotFoundException
from moto.eks.responses import EKSResponse

# What an EKS cluster of moto contains beside node groups: add-ons, access entries and Pod Identity associations.
#
# Moto 5.2.5 has none of them. They are kept as attributes of moto's own cluster objects, so that they exist once per
# account and region and end with their cluster. Items have the form of the API's answers.

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

    updates: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Updates of the cluster and what it contains by their ids."""

    def updated(self, kind: str) -> dict[str, Any]:
        """A new update, which is finished at once."""
        update = {"id": str(uuid.uuid4()), "status": "Successful", "type": kind, "params": []}
        self.updates[str(update["id"])] = update
        return update

    def association_of(self, namespace: str, service_account: str) -> dict[str, Any] | None:
        """The association of a service account; AWS allows one."""
        for one in self.associations.values():
            if (one["namespace"], one["serviceAccount"]) == (namespace, service_account):
                return one
        return None

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


# Operations of EKS on what a cluster contains, which moto 5.2.5 lacks; `eks` adds them to its server.
#
# Codes and messages are those of EKS, from its API Reference and from error reports that quote it (read 2026-11).

_NODE_ENTRIES = ("EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "HYBRID_LINUX", "HYPERPOD_LINUX", "EC2")


class ContentOperations(EKSResponse):
    """Methods have the names of the operations, as in moto."""

    # -- add-ons -------------------------------------------------------------------------------------------------------

    def create_addon(self) -> ActionResult:
        cluster, name = self.cluster(), self._get_param("addonName")
        inside = contents(cluster)
        if name in inside.addons:
            raise ResourceInUseException(clusterName=cluster.name, addonName=name, message="Addon already exists.")
        addon = stamped(
            self._named("addonVersion", "configurationValues", "serviceAccountRoleArn", "namespaceConfig"),
            addonName=name, clusterName=cluster.name, status="ACTIVE", tags=self._get_param("tags") or {},
            addonArn=arn(cluster, "addon", name, str(uuid.UUID(digest(cluster.arn, name, length=32)))),
            health={"issues": []},
        )  # fmt: skip
        self._give_roles(cluster, addon, self._get_param("podIdentityAssociations") or [])
        inside.addons[name] = addon
        return ActionResult({"addon": addon})

    def describe_addon(self) -> ActionResult:
        return ActionResult({"addon": self._addon()})

    def list_addons(self) -> ActionResult:
        return ActionResult({"addons": sorted(contents(self.cluster()).addons)})

    def update_addon(self) -> ActionResult:
        addon = self._addon()
        change(addon, self._named("addonVersion", "configurationValues", "serviceAccountRoleArn"))
        if not addon.get("configurationValues"):
            addon.pop("configurationValues", None)
        if self._get_param("podIdentityAssociations") is not None:
            self._take_roles(addon)
            self._give_roles(self.cluster(), addon, self._get_param("podIdentityAssociations"))
        return ActionResult({"update": contents(self.cluster()).updated("AddonUpdate")})

    def delete_addon(self) -> ActionResult:
        addon = self._addon()
        self._take_roles(addon)
        del contents(self.cluster()).addons[addon["addonName"]]
        return ActionResult({"addon": {**addon, "status": "DELETING"}})

    def _addon(self) -> dict[str, Any]:
        cluster, name = self.cluster(), self._get_param("addonName")
        addon = contents(cluster).addons.get(name)
        if addon is None:
            msg = f"No addon: {name} found in cluster: {cluster.name}"
            raise ResourceNotFoundException(clusterName=cluster.name, addonName=name, message=msg)
        return addon

    def _give_roles(self, cluster: Any, addon: dict[str, Any], wanted: list[dict[str, str]]) -> None:
        """EKS creates the associations of an add-on itself, in the add-on's namespace; the add-on owns them."""
        namespace = (addon.get("namespaceConfig") or {}).get("namespace", "kube-system")
        for one in wanted:
            _refuse_second(cluster, namespace, one["serviceAccount"])
        made = [self._associate(cluster, {**one, "namespace": namespace, "ownerArn": addon["addonArn"]})
                for one in wanted]  # fmt: skip
        addon["podIdentityAssociations"] = [one["associationArn"] for one in made]

    def _take_roles(self, addon: dict[str, Any]) -> None:
        associations = contents(self.cluster()).associations
        for id in [id for id, one in associations.items() if one.get("ownerArn") == addon["addonArn"]]:
            del associations[id]

    # -- access entries ------------------------------------------------------------------------------------------------

    def create_access_entry(self) -> ActionResult:
        cluster, principal = self._api_cluster(), self._get_param("principalArn")
        inside = contents(cluster)
        if principal in inside.entries:
            msg = "The specified access entry resource is already in use on this cluster."
            raise ResourceInUseException(clusterName=cluster.name, message=msg)
        entry = stamped(
            {},
            clusterName=cluster.name, principalArn=principal, type=self._get_param("type") or "STANDARD",
            username=self._get_param("username") or principal, tags=self._get_param("tags") or {},
            kubernetesGroups=self._get_param("kubernetesGroups") or [],
            accessEntryArn=arn(cluster, "access-entry", digest(cluster.arn, principal, length=36)),
        )  # fmt: skip
        inside.entries[principal] = entry
        return ActionResult({"accessEntry": entry})

    def describe_access_entry(self) -> ActionResult:
        return ActionResult({"accessEntry": self._entry()})

    def list_access_entries(self) -> ActionResult:
        return ActionResult({"accessEntries": sorted(contents(self._api_cluster()).entries)})

    def update_access_entry(self) -> ActionResult:
        entry = self._entry()
        change(entry, self._named("kubernetesGroups", "username"))
        return ActionResult({"accessEntry": entry})

    def delete_access_entry(self) -> ActionResult:
        entry, inside = self._entry(), contents(self.cluster())
        del inside.entries[entry["principalArn"]]
        for key in [key for key in inside.policies if key[0] == entry["principalArn"]]:
            del inside.policies[key]
        return ActionResult({})

    def associate_access_policy(self) -> ActionResult:
        entry = self._entry()
        if entry["type"] in _NODE_ENTRIES:
            msg = f"The access entry's type {entry['type']} does not allow access policies"
            raise InvalidRequestException(message=msg)
        now = stamped({})
        policy = {
            **self._named("policyArn", "accessScope"),
            "associatedAt": now["createdAt"],
            "modifiedAt": now["modifiedAt"],
        }
        contents(self.cluster()).policies[entry["principalArn"], policy["policyArn"]] = policy
        names = {key: entry[key] for key in ("clusterName", "principalArn")}
        return ActionResult({**names, "associatedAccessPolicy": policy})

    def list_associated_access_policies(self) -> ActionResult:
        entry = self._entry()
        policies = contents(self.cluster()).policies
        found = [policy for (principal, _), policy in policies.items() if principal == entry["principalArn"]]
        names = {key: entry[key] for key in ("clusterName", "principalArn")}
        return ActionResult({**names, "associatedAccessPolicies": found})

    def disassociate_access_policy(self) -> ActionResult:
        entry, policy = self._entry(), self._get_param("policyArn")
        policies = contents(self.cluster()).policies
        if policies.pop((entry["principalArn"], policy), None) is None:
            msg = f"The policy {policy} is not associated with the access entry"
            raise ResourceNotFoundException(clusterName=entry["clusterName"], message=msg)
        return ActionResult({})

    def _entry(self) -> dict[str, Any]:
        cluster, principal = self._api_cluster(), self._get_param("principalArn")
        entry = contents(cluster).entries.get(principal)
        if entry is None:
            msg = "The specified principalArn could not be found. You can view your available access entries with "
            msg += f"'list-access-entries': {principal}"
            raise ResourceNotFoundException(clusterName=cluster.name, message=msg)
        return entry

    def _api_cluster(self) -> Any:
        cluster = self.cluster()
        mode = getattr(cluster, "access_config", {}).get("authenticationMode")
        if mode not in ("API", "API_AND_CONFIG_MAP"):
            msg = (
                "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this "
                "operation."
            )
            raise InvalidRequestException(message=msg)
        return cluster

    # -- Pod Identity --------------------------------------------------------------------------------------------------

    def create_pod_identity_association(self) -> ActionResult:
        wanted = self._named("namespace", "serviceAccount", "roleArn", "disableSessionTags", "targetRoleArn", "policy")
        tags = self._get_param("tags") or {}
        return ActionResult({"association": self._associate(self.cluster(), wanted, tags)})

    def describe_pod_identity_association(self) -> ActionResult:
        return ActionResult({"association": self._association()})

    def list_pod_identity_associations(self) -> ActionResult:
        return ActionResult({"associations": list(contents(self.cluster()).associations.values())})

    def update_pod_identity_association(self) -> ActionResult:
        association = self._association()
        change(association, self._named("roleArn", "disableSessionTags", "targetRoleArn", "policy"))
        return ActionResult({"association": association})

    def delete_pod_identity_association(self) -> ActionResult:
        association = self._association()
        del contents(self.cluster()).associations[association["associationId"]]
        return ActionResult({"association": association})

    def _associate(self, cluster: Any, wanted: dict[str, Any], tags: dict[str, str] | None = None) -> dict[str, Any]:
        inside, account = contents(cluster), (wanted["namespace"], wanted["serviceAccount"])
        _refuse_second(cluster, *account)
        id = f"a-{digest(cluster.arn, *account)}"
        association = stamped(
            wanted, clusterName=cluster.name, associationId=id, tags=tags or {},
            associationArn=arn(cluster, "podidentityassociation", id),
        )  # fmt: skip
        inside.associations[id] = association
        return association

    def _association(self) -> dict[str, Any]:
        cluster, id = self.cluster(), self._get_param("associationId")
        association = contents(cluster).associations.get(id)
        if association is None:
            msg = f"No association found with the specified ID: {id}"
            raise ResourceNotFoundException(clusterName=cluster.name, message=msg)
        return association

    # -- parts ---------------------------------------------------------------------------------------------------------

    def cluster(self) -> Any:
        """The cluster that the request names."""
        return self.eks_backend.describe_cluster(self._get_param("clusterName") or self._get_param("name"))

    def _named(self, *parameters: str) -> dict[str, Any]:
        return {name: self._get_param(name) for name in parameters if self._get_param(name) is not None}


def _refuse_second(cluster: Any, namespace: str, service_account: str) -> None:
    """A service account has one association at most."""
    already = contents(cluster).association_of(namespace, service_account)
    if already is not None:
        msg = f"Association already exists: {already['associationId']}"
        raise ResourceInUseException(clusterName=cluster.name, message=msg)


_KINDS = ("addons", "access-entries", "pod-identity-associations")
ROUTES = (
    "{0}/cluster-versions$",
    *(f"{{0}}/clusters/(?P<name>[^/]+)/{kind}$" for kind in _KINDS),
    *(f"{{0}}/clusters/(?P<name>[^/]+)/{kind}/(?P<rest>.+)$" for kind in _KINDS),
    "{0}/clusters/(?P<name>[^/]+)/updates$",
    "{0}/clusters/(?P<name>[^/]+)/updates/(?P<updateId>[^/]+)$",
    "{0}/clusters/(?P<name>[^/]+)/node-groups/(?P<nodegroupName>[^/]+)/update-version$",
)
"""Addresses that moto 5.2.5 does not answer."""

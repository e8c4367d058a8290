"""Clusters and node groups of EKS as moto's server has them here: with an API server, nodes and a security group."""

# ruff: noqa: D102
# Methods are AWS's operations, whose documentation is AWS's.

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from moto.autoscaling import urls as autoscaling_urls
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.responses import ActionResult, EmptyResult
from moto.core.utils import camelcase_to_underscores, utcnow
from moto.eks import models, urls
from moto.eks.exceptions import InvalidRequestException, ResourceNotFoundException
from moto.eks.models import eks_backends
from moto.logs import exceptions as logs_exceptions
from moto.logs import urls as logs_urls
from moto.logs.responses import LogsResponse

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.moto import live
from sandbox.aws.moto.eks import ROUTES, ContentOperations, contents
from sandbox.aws.moto.judged import Refused
from sandbox.aws.rules.eks_cluster import VPC_DEFAULTS
from sandbox.aws.rules.eks_nodes import template_data
from spec import naming
from spec.catalog import kubernetes

_BAD: Final = "InvalidParameterException"
_OWNER_TAG: Final = "aws:eks:cluster-name"
_CONFIGS: Final = (
    "computeConfig", "controlPlaneScalingConfig", "kubeSchedulerConfig", "remoteNetworkConfig", "storageConfig",
    "upgradePolicy", "zonalShiftConfig",
)  # fmt: skip
_WAY_BACK: Final = timedelta(days=7)
"""After an in-place upgrade (EKS User Guide, rollback-cluster.html, Prerequisites, read 2026-11)."""
_LONG_AGO: Final = datetime(1, 1, 1)  # noqa: DTZ001 - as moto's own times
_DEFAULT_TYPE: Final = "t3.medium"
"""EKS's default if neither the node group nor its launch template names a type (CreateNodegroup, instanceTypes)."""


def _works(nodes: str, version: str) -> bool:
    """Whether nodes of a version work with a control plane of one (same guide, update-cluster.html, step 2)."""
    behind = kubernetes.skew(str(nodes), version)
    return behind is None or 0 <= behind <= kubernetes.SKEW


def install() -> None:
    """Add the operations to moto. Before its server starts; idempotent."""
    paths: dict[str, Any] = urls.url_paths
    for route in (*paths, *ROUTES):
        paths[route] = Operations.dispatch
    scaling: dict[str, Any] = autoscaling_urls.url_paths
    scaling.update(dict.fromkeys(scaling, ScalingOperations.dispatch))
    logs: dict[str, Any] = logs_urls.url_paths
    logs.update(dict.fromkeys(logs, LogOperations.dispatch))


class Operations(ContentOperations):
    """Methods have the names of the operations, as in moto."""

    # -- clusters ------------------------------------------------------------------------------------------------------

    def create_cluster(self) -> ActionResult:
        answer = super().create_cluster()
        cluster: Any = self.cluster()
        access = self._get_param("accessConfig") or {}
        cluster.access_config = {"authenticationMode": access.get("authenticationMode") or "CONFIG_MAP"}
        cluster.deletion_protection = bool(self._get_param("deletionProtection"))
        cluster.kube_scheduler_config, cluster.upgrade_policy = None, {"supportType": "EXTENDED"}
        self._configure(cluster)
        if not self._get_param("logging"):
            # Off by default (EKS API Reference, CreateCluster): moto turns all on.
            off = [{**part, "enabled": False} for part in cluster.logging["clusterLogging"]]
            cluster.logging = {"clusterLogging": off}
        cluster.version = self._get_param("version") or kubernetes.DEFAULT
        # Moto gives every cluster of a process the same issuer.
        cluster.identity = {"oidc": {"issuer": _issuer(self._aws(), cluster.name)}}
        group = make_security_group(self._aws(), cluster.name, cluster.resources_vpc_config.get("subnetIds") or [])
        cluster.resources_vpc_config = {**VPC_DEFAULTS, **cluster.resources_vpc_config, **group}
        self._start(cluster, cluster.version, live.CREATING)
        return answer

    def describe_cluster(self) -> ActionResult:
        return ActionResult({"cluster": self.cluster()})

    def update_cluster_config(self) -> ActionResult:
        cluster = self.cluster()
        if vpc := self._get_param("resourcesVpcConfig"):
            cluster.resources_vpc_config = {**cluster.resources_vpc_config, **vpc}
        if logging := self._get_param("logging"):
            cluster.logging = _logging(cluster.logging, logging)
        if access := self._get_param("accessConfig"):
            cluster.access_config = access
        self._configure(cluster)
        config, clusters = self._get_param("kubeSchedulerConfig"), live.behind().clusters
        if config and clusters is not None:
            clusters.schedule(cluster.name, config)
        if self._get_param("deletionProtection") is not None:
            cluster.deletion_protection = self._get_param("deletionProtection")
        return self._updated("ConfigUpdate" if vpc is None else "EndpointAccessUpdate")

    def _configure(self, cluster: Any) -> None:
        """What moto forgets of a cluster."""
        for name in _CONFIGS:
            if given := self._get_param(name):
                setattr(cluster, camelcase_to_underscores(name), given)

    def update_cluster_version(self) -> ActionResult:
        """A cluster that failed is started again by it: on AWS it would have to be made anew."""
        cluster, version = self.cluster(), self._get_param("version")
        if cluster.status not in (live.ACTIVE, live.FAILED):
            raise InvalidRequestException(message=models.CLUSTER_NOT_READY_MSG.format(clusterName=cluster.name))
        if cluster.status == live.ACTIVE and version == cluster.version:
            raise InvalidRequestException(message=f"Cluster is already at version {version}")
        back, now = kubernetes.skew(cluster.version, version) == -1, utcnow()
        if back and now - getattr(cluster, "upgraded", _LONG_AGO) > _WAY_BACK:
            msg = f"Cluster can't be rolled back: no in-place upgrade to {cluster.version} in the last 7 days"
            raise InvalidRequestException(message=msg)
        groups = [(one.nodegroup_name, one.version) for one in cluster.nodegroups.values()]
        if wrong := [f"{name} ({has})" for name, has in groups if not _works(has, version)]:
            msg = f"Kubelets of node groups {', '.join(wrong)} don't work with Kubernetes {version}"
            raise InvalidRequestException(message=msg)
        cluster.upgraded = _LONG_AGO if back or cluster.status == live.FAILED else now
        self._start(cluster, version, live.UPDATING if cluster.status == live.ACTIVE else live.CREATING)
        return self._updated("VersionRollback" if back else "VersionUpdate")

    def delete_cluster(self) -> ActionResult:
        cluster: Any = self.cluster()
        name: str = cluster.name
        backend, aws = self.eks_backend, self._aws()
        parts = cluster.logging.get("clusterLogging") or ()
        logs = any(part["enabled"] and part.get("types") for part in parts)
        if getattr(cluster, "deletion_protection", False):
            msg = f"cluster {cluster.name} has deletion protection: set deletionProtection to false first"
            raise InvalidRequestException(message=msg)
        models.validate_safe_to_delete(cluster)
        cluster.status = live.DELETING
        clusters = live.behind().clusters

        def gone(_: Any) -> None:
            if backend.clusters.get(name) is cluster:
                backend.delete_cluster(name)
                delete_security_group(aws, name)
                if logs:
                    _still_writing(aws.account, aws.region).add(naming.control_plane_logs(name))

        if clusters is None:
            gone(None)
        else:
            live.begin(cluster.name, "", lambda: clusters.delete(cluster.name), gone, _failure(cluster), ends=True)
        return ActionResult({"cluster": cluster})

    def _start(self, cluster: Any, version: str, status: str) -> None:
        """Start the API server, or restart it with a version."""
        clusters = live.behind().clusters
        if clusters is None:
            cluster.version = version
            return
        cluster.status = status
        if status == live.CREATING:
            cluster.endpoint = cluster.certificate_authority = None

        def ready(endpoint: Any) -> None:
            if cluster.status == live.DELETING:
                return
            cluster.endpoint = endpoint.server
            cluster.certificate_authority = {"data": endpoint.certificate_authority}
            cluster.version, cluster.status = version, live.ACTIVE

        made = str(cluster.created_at)

        def start() -> Any:
            endpoint = clusters.create(cluster.name, version, made)
            clusters.schedule(cluster.name, cluster.kube_scheduler_config or {})
            return endpoint

        live.begin(cluster.name, "", start, ready, _failure(cluster))

    # -- node groups ---------------------------------------------------------------------------------------------------

    def create_nodegroup(self) -> ActionResult:
        answer = super().create_nodegroup()
        group = self._group()
        template = self._template(group)
        # Moto has defaults of 2021 for these, and ignores the rest.
        group.instance_types = self._get_param("instanceTypes") or (
            None if (template or {}).get("InstanceType") else [_DEFAULT_TYPE]
        )
        group.disk_size = self._get_param("diskSize") or (None if template else 20)
        group.release_version, group.remote_access = self._get_param("releaseVersion"), self._get_param("remoteAccess")
        group.version = self._get_param("version") or self.cluster().version
        # From Kubernetes 1.30 on (EKS User Guide, al2023.html, read 2026-11).
        image = "CUSTOM" if (template or {}).get("ImageId") else "AL2023_x86_64_STANDARD"
        group.ami_type = self._get_param("amiType") or image
        group.update_config = self._get_param("updateConfig") or {"maxUnavailable": 1}
        group.node_repair_config = self._get_param("nodeRepairConfig")
        self._follow(group, live.CREATING, template)
        return answer

    def update_nodegroup_config(self) -> ActionResult:
        answer = super().update_nodegroup_config()
        group = self._group()
        self._follow(group, live.UPDATING, self._template(group))
        return self._kept(answer, group)

    def update_nodegroup_version(self) -> ActionResult:
        """A group whose nodes could not be replaced has the version that it had."""
        group = self._group()
        before = {name: getattr(group, name) for name in ("version", "release_version", "launch_template")}
        group.version = self._get_param("version") or group.version
        group.release_version = self._get_param("releaseVersion") or group.release_version
        if self._get_param("launchTemplate"):
            # Named by ID or by name; EKS answers with both.
            group.launch_template = {**(group.launch_template or {}), **self._get_param("launchTemplate")}
        forced = {"forceUpdateVersion": bool(self._get_param("force"))}
        self._follow(group, live.UPDATING, self._template(group), before, forced)
        return self._updated("VersionUpdate")

    def delete_nodegroup(self) -> ActionResult:
        group, backend = self._group(), self.eks_backend
        nodes, cluster, name = live.behind().nodes, group.cluster_name, group.nodegroup_name
        group.status = live.DELETING

        def gone(_: Any) -> None:
            if name in backend.clusters[cluster].nodegroups:
                backend.delete_nodegroup(cluster, name)

        if nodes is None:
            gone(None)
        else:
            live.begin(cluster, name, lambda: nodes.node_group_deleted(cluster, name), gone, _failure(group))
        return ActionResult({"nodegroup": group})

    def _group(self) -> Any:
        return self.eks_backend.describe_nodegroup(self._get_param("name"), self._get_param("nodegroupName"))

    def _template(self, group: Any) -> Mapping[str, Any] | None:
        """The data of its launch template, which somebody may have deleted since."""
        try:
            return template_data(self._aws(), group.launch_template)
        except AwsError as error:
            raise Refused(_BAD, error.text) from error

    def _follow(
        self,
        group: Any,
        status: str,
        template: Mapping[str, Any] | None,
        before: Mapping[str, Any] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """Let the nodes follow the group; `before` has values that it gets back if they don't, `more` other inputs."""
        nodes = live.behind().nodes
        if nodes is None:
            return
        group.status = status
        inputs, cluster, name = {**inputs_of(group), **(more or {})}, group.cluster_name, group.nodegroup_name

        def ready(_: Any) -> None:
            if group.status != live.DELETING:
                group.status = live.ACTIVE

        def work() -> None:
            nodes.node_group_changed(cluster, name, inputs, template)

        fails = _failure(group, "CREATE_FAILED" if status == live.CREATING else "DEGRADED")

        def failed(reason: str) -> None:
            vars(group).update(before or {})
            fails(reason)

        live.begin(cluster, name, work, ready, failed)

    # -- add-ons -------------------------------------------------------------------------------------------------------

    def create_addon(self) -> ActionResult:
        if (cluster := self.cluster()).status != live.ACTIVE:
            raise InvalidRequestException(message=models.CLUSTER_NOT_READY_MSG.format(clusterName=cluster.name))
        answer = super().create_addon()
        self._run(self._addon(), live.CREATING)
        return answer

    def update_addon(self) -> ActionResult:
        answer = super().update_addon()
        self._run(self._addon(), live.UPDATING)
        return answer

    def delete_addon(self) -> ActionResult:
        addon, inside, addons = self._addon(), contents(self.cluster()), live.behind().addons
        cluster, name = addon["clusterName"], addon["addonName"]
        if addons is None or str(self._get_param("preserve")).lower() == "true":
            return super().delete_addon()
        self._take_roles(addon)
        addon["status"] = live.DELETING

        def gone(_: Any) -> None:
            if inside.addons.get(name) is addon:
                del inside.addons[name]

        failed = _failure(addon, "DELETE_FAILED")
        live.begin(cluster, f"addons/{name}", lambda: addons.deleted(cluster, name), gone, failed)
        return ActionResult({"addon": addon})

    def _run(self, addon: dict[str, Any], status: str) -> None:
        """Install its pods."""
        addons = live.behind().addons
        if addons is None:
            return
        addon["status"], addon["health"] = status, {"issues": []}
        cluster, name, values = addon["clusterName"], addon["addonName"], addon.get("configurationValues")

        def ready(_: Any) -> None:
            if addon["status"] != live.DELETING:
                addon["status"] = live.ACTIVE

        failed = _failure(addon, "CREATE_FAILED" if status == live.CREATING else "UPDATE_FAILED")
        live.begin(cluster, f"addons/{name}", lambda: addons.changed(cluster, name, values), ready, failed)

    # -- updates -------------------------------------------------------------------------------------------------------

    def describe_update(self) -> ActionResult:
        cluster, id = self.cluster(), self._get_param("updateId")
        update = contents(cluster).updates.get(id)
        if update is None:
            msg = f"No update found for ID: {id}"
            raise ResourceNotFoundException(clusterName=cluster.name, message=msg)
        group = cluster.nodegroups.get(self._get_param("nodegroupName"))
        addon = contents(cluster).addons.get(self._get_param("addonName"))
        status = addon["status"] if addon else (group or cluster).status
        if status == live.ACTIVE:
            return ActionResult({"update": {**update, "status": "Successful"}})
        if str(status).endswith((live.FAILED, "DEGRADED")):
            health = (addon or {}).get("health") or getattr(group or cluster, "health", None) or {}
            errors = [{"errorCode": "Unknown", "errorMessage": one["message"]} for one in health.get("issues", ())]
            return ActionResult({"update": {**update, "status": "Failed", "errors": errors}})
        return ActionResult({"update": {**update, "status": "InProgress"}})

    def list_updates(self) -> ActionResult:
        return ActionResult({"updateIds": list(contents(self.cluster()).updates)})

    def _updated(self, kind: str) -> ActionResult:
        return ActionResult({"update": contents(self.cluster()).updated(kind)})

    def _kept(self, answer: ActionResult, group: Any) -> ActionResult:
        update: Any = answer.result
        contents(self.eks_backend.describe_cluster(group.cluster_name)).updates[update["update"]["id"]] = update[
            "update"
        ]
        return answer

    # -- versions ------------------------------------------------------------------------------------------------------

    def describe_cluster_versions(self) -> ActionResult:
        wanted, only = self._get_param("clusterVersions"), self._get_param("defaultOnly") in (True, "true")
        found = []
        for name, one in kubernetes.VERSIONS.items():
            stage, default = kubernetes.support(name, utcnow().date()), name == kubernetes.DEFAULT
            if stage in ("standard", "extended") and name in (wanted or [name]) and (default or not only):
                days = {"releaseDate": one.released, "endOfStandardSupportDate": one.standard_until,
                    "endOfExtendedSupportDate": one.extended_until}  # fmt: skip
                status = {"status": f"{stage}-support", "versionStatus": f"{stage.upper()}_SUPPORT"}
                found.append({"clusterVersion": name, "clusterType": "eks", "defaultVersion": default, **status,
                    **{of: str(day) for of, day in days.items()}})  # fmt: skip
        return ActionResult({"clusterVersions": found})

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
            groups = (group.tags for group in cluster.nodegroups.values() if group.arn == arn)
            if (found := found if found is not None else next(groups, None)) is not None:
                return found
        return None

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _aws(self) -> Aws:
        return Aws(live.behind().clients, self.region, self.current_account)


class ScalingOperations(AutoScalingResponse):
    """Tags of the Auto Scaling groups of node groups, which moto does not have: they describe nodes to autoscalers."""

    def create_or_update_tags(self) -> ActionResult:
        return self._tag(self._get_param("Tags", []), "create_or_update_tags", deleted=False)

    def delete_tags(self) -> ActionResult:
        return self._tag(self._get_params().get("Tags", []), "delete_tags", deleted=True)

    def describe_tags(self) -> ActionResult:
        there = self._of_node_groups()
        known = [tag for (group, _), tag in self._tags().items() if group in there]
        for one in self._get_param("Filters", []):
            name = {"auto-scaling-group": "ResourceId"}.get(one["Name"], one["Name"].title().replace("-", ""))
            known = [tag for tag in known if str(tag.get(name, "")) in one["Values"]]
        found = self.autoscaling_backend.describe_tags(filters=self._get_param("Filters", []))
        return ActionResult({"Tags": [*found, *known]})

    def _tag(self, tags: list[dict[str, Any]], operation: str, *, deleted: bool) -> ActionResult:
        own, of_nodes = self.autoscaling_backend.autoscaling_groups, self._of_node_groups()
        if missing := [one["ResourceId"] for one in tags if one["ResourceId"] not in {*own, *of_nodes}]:
            code, msg = "ValidationError", f"AutoScalingGroup name not found - {missing[0]}"
            raise Refused(code, msg)
        if others := [one for one in tags if one["ResourceId"] in own]:
            getattr(self.autoscaling_backend, operation)(others)
        nodes = live.behind().nodes
        for one in tags:
            group, key = one["ResourceId"], one["Key"]
            if group in of_nodes:
                self._tags().pop((group, key), None)
                if not deleted:
                    self._tags()[group, key] = {"ResourceType": "auto-scaling-group", **one}
                if nodes is not None:
                    nodes.asg_tag_changed(group, key, None if deleted else one.get("Value", ""))
        return EmptyResult()

    def _tags(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Of the groups of node groups, by group and key."""
        backend: Any = self.autoscaling_backend
        if not hasattr(backend, "slipway_tags"):
            backend.slipway_tags = {}
        found: dict[tuple[str, str], dict[str, Any]] = backend.slipway_tags
        return found

    def _of_node_groups(self) -> set[str]:
        clusters = eks_backends[self.current_account][self.region].clusters.values()
        groups = (group for cluster in clusters for group in cluster.nodegroups.values())
        resources: Iterator[Any] = (group.resources for group in groups)
        return {one["name"] for each in resources for one in each["autoScalingGroups"]}


class LogOperations(LogsResponse):
    """A control plane that ends writes once more, and its role makes the log group again if somebody deleted it.

    Seen in CloudTrail by terraform-aws-modules/terraform-aws-eks#2763 (2023-10). There it happens now and then, here
    after each deletion of a cluster with logs: a destroy that leaves the group shows it.
    """

    def delete_log_group(self) -> str:
        answer = super().delete_log_group()
        name, writing = self._get_param("logGroupName"), _still_writing(self.current_account, self.region)
        if name in writing:
            writing.remove(name)
            self.logs_backend.create_log_group(name, {})
        return answer

    # Moto 5.2.5 lacks both.

    def associate_kms_key(self) -> str:
        return self._encrypt(self._get_param("kmsKeyId"))

    def disassociate_kms_key(self) -> str:
        return self._encrypt(None)

    def _encrypt(self, key: str | None) -> str:
        name = self._get_param("logGroupName") or self._get_param("resourceIdentifier", "").rpartition(":log-group:")[2]
        if name not in self.logs_backend.groups:
            raise logs_exceptions.ResourceNotFoundException
        self.logs_backend.groups[name].kms_key_id = key
        return ""


def _still_writing(account: str, region: str) -> set[str]:
    """Log groups of clusters that were deleted before their log group was."""
    backend: Any = eks_backends[account][region]
    if not hasattr(backend, "slipway_still_writing"):
        backend.slipway_still_writing = set()
    found: set[str] = backend.slipway_still_writing
    return found


def inputs_of(group: Any) -> dict[str, Any]:
    """A node group of moto in the spelling of pulumi_aws, as the observer of nodes takes it."""
    given = {
        "amiType": group.ami_type,
        "capacityType": group.capacity_type,
        "clusterName": group.cluster_name,
        "diskSize": group.disk_size,
        "instanceTypes": group.instance_types,
        "labels": dict(group.labels),
        "launchTemplate": dict(group.launch_template) if group.launch_template else None,
        "nodeGroupName": group.nodegroup_name,
        "nodeRoleArn": group.node_role,
        "releaseVersion": group.release_version,
        "scalingConfig": dict(group.scaling_config),
        "subnetIds": list(group.subnets),
        "taints": [dict(one) for one in group.taints],
        "version": group.version,
    }
    return {name: value for name, value in given.items() if value is not None}


def _failure(item: Any, status: str = live.FAILED) -> Any:
    """Sets an object's status and the reason, where EKS says it."""

    def failed(reason: str) -> None:
        health = {"issues": [{"code": "InternalFailure", "message": reason}]}
        if isinstance(item, dict):
            item.update(status=status, health=health)
        else:
            item.status, item.health = status, health

    return failed


def _logging(before: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """All types of logs, as enabled or not; a request names some of them."""
    states = {
        name: part["enabled"]
        for parts in (before, wanted)
        for part in parts.get("clusterLogging") or ()
        for name in part.get("types") or ()
    }
    parts = [{"types": [name for name in states if states[name] is on], "enabled": on} for on in (True, False)]
    return {"clusterLogging": [part for part in parts if part["types"]]}


def _issuer(aws: Aws, cluster: str) -> str:
    digest = hashlib.sha256(f"{aws.account}/{aws.region}/{cluster}".encode()).hexdigest()[:32].upper()
    return f"https://oidc.eks.{aws.region}.amazonaws.com/id/{digest}"


# The group that EKS assigns to the control plane's interfaces and to managed nodes, which may reach each other.


def make_security_group(aws: Aws, cluster: str, subnets: list[str]) -> dict[str, str]:
    """Make it; its ID and its VPC's, as a cluster has them. Raises AwsError if the subnets do not exist."""
    if not subnets:
        operation, code, msg = "eks create_cluster", _BAD, "subnetIds must not be empty"
        raise AwsError(operation, code, msg)
    vpc = aws.call("ec2", "describe_subnets", SubnetIds=subnets)["Subnets"][0]["VpcId"]
    digits = int(hashlib.sha256(f"{aws.account}/{aws.region}/{cluster}".encode()).hexdigest()[:8], 16)
    name = f"eks-cluster-sg-{cluster}-{digits}"
    owner = [{"Key": _OWNER_TAG, "Value": cluster}, {"Key": "Name", "Value": name}]
    group = aws.call(
        "ec2",
        "create_security_group",
        GroupName=name,
        Description="EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, "
        "as well as any managed workloads.",
        VpcId=vpc,
        TagSpecifications=[{"ResourceType": "security-group", "Tags": owner}],
    )["GroupId"]
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    aws.call("ec2", "authorize_security_group_ingress", GroupId=group, IpPermissions=itself)
    return {"clusterSecurityGroupId": group, "vpcId": vpc}


def delete_security_group(aws: Aws, cluster: str) -> None:
    """Delete it, unless something uses it: EKS leaves it then, and its VPC can't be deleted."""
    mine = [{"Name": f"tag:{_OWNER_TAG}", "Values": [cluster]}]
    for group in aws.call("ec2", "describe_security_groups", Filters=mine)["SecurityGroups"]:
        try:
            aws.call("ec2", "delete_security_group", GroupId=group["GroupId"])
        except AwsError as error:
            if error.code != "DependencyViolation":
                raise

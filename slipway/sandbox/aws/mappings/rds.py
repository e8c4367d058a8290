"""RDS subnet groups, parameter groups and database instances: enough for the database of an experiment tracker.

Changes that force a new instance: the engine, and what ModifyDBInstance has no parameter for (API Reference,
2014-10-31).
"""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import ANY, Call, Inputs, Item, ResourceMapping, Setting, Tags, find

SERVICE = "rds"
_TAGS = Tags(
    "add_tags_to_resource",
    "remove_tags_from_resource",
    {"ResourceName": "{arn}"},
    read=Call("list_tags_for_resource", target={"ResourceName": "{arn}"}, item="TagList"),
)

SUBNET_GROUP = ResourceMapping(
    "aws:rds/subnetGroup:SubnetGroup",
    SERVICE,
    create=Call(
        "create_db_subnet_group",
        rename={"name": "DBSubnetGroupName", "description": "DBSubnetGroupDescription"},
        adapt=lambda inputs: {"description": "Managed by Pulumi", **inputs},
        omit=frozenset({"namePrefix"}),
    ),
    id="DBSubnetGroup.DBSubnetGroupName",
    read=Call("describe_db_subnet_groups", target={"DBSubnetGroupName": "{id}"}, item="DBSubnetGroups[0]"),
    delete=Call("delete_db_subnet_group", target={"DBSubnetGroupName": "{id}"}),
    force_new=frozenset({"name", "namePrefix"}),
    settings=(
        Setting(("subnetIds",), Call("modify_db_subnet_group", target={"DBSubnetGroupName": "{id}"}), at_create=False),
    ),
    tags=_TAGS,
    from_item={
        "arn": "DBSubnetGroupArn", "name": "DBSubnetGroupName", "subnetIds": "Subnets[].SubnetIdentifier",
        "description": "DBSubnetGroupDescription",
    },
    drift=("subnetIds",),
)  # fmt: skip


def _set_parameters(aws: Aws, id: str, inputs: Inputs) -> None:
    """AWS accepts 20 parameters per call, and names their fields differently."""
    parameters = [
        {
            "ParameterName": one["name"],
            "ParameterValue": str(one["value"]),
            "ApplyMethod": one.get("applyMethod") or "immediate",
        }
        for one in inputs.get("parameters") or []
    ]
    for first in range(0, len(parameters), 20):
        part = parameters[first : first + 20]
        aws.call(SERVICE, "modify_db_parameter_group", DBParameterGroupName=id, Parameters=part)


PARAMETER_GROUP = ResourceMapping(
    "aws:rds/parameterGroup:ParameterGroup",
    SERVICE,
    create=Call(
        "create_db_parameter_group",
        rename={"name": "DBParameterGroupName", "family": "DBParameterGroupFamily"},
        adapt=lambda inputs: {"description": "Managed by Pulumi", **inputs},
        omit=frozenset({"namePrefix", "parameters", "skipDestroy"}),
    ),
    id="DBParameterGroup.DBParameterGroupName",
    read=Call("describe_db_parameter_groups", target={"DBParameterGroupName": "{id}"}, item="DBParameterGroups[0]"),
    delete=Call("delete_db_parameter_group", target={"DBParameterGroupName": "{id}"}),
    force_new=frozenset({"description", "family", "name", "namePrefix"}),
    settings=(Setting(("parameters",), _set_parameters),),
    tags=_TAGS,
    from_item={"arn": "DBParameterGroupArn", "name": "DBParameterGroupName", "family": "DBParameterGroupFamily"},
    drift=("family",),
)

_RENAMED = {
    "identifier": "DBInstanceIdentifier", "instanceClass": "DBInstanceClass", "username": "MasterUsername",
    "password": "MasterUserPassword", "backupWindow": "PreferredBackupWindow", "parameterGroupName":
    "DBParameterGroupName", "maintenanceWindow": "PreferredMaintenanceWindow",
    "iamDatabaseAuthenticationEnabled": "EnableIAMDatabaseAuthentication",
}  # fmt: skip
_MANAGED = frozenset({"manageMasterUserPassword", "masterUserSecretKmsKeyId"})
"""Sent only when they change, as the provider does: moto (5.2.5) makes a secret at each modification with them."""
_OMITTED = frozenset({"finalSnapshotIdentifier", "identifierPrefix", "skipFinalSnapshot"})


def _delete(aws: Aws, id: str, outputs: Inputs) -> None:
    skip = outputs.get("skipFinalSnapshot") in (True, "true")
    last = outputs.get("finalSnapshotIdentifier")
    snapshot = {"FinalDBSnapshotIdentifier": last} if last and not skip else {}
    aws.call(SERVICE, "delete_db_instance", DBInstanceIdentifier=id, SkipFinalSnapshot=skip, **snapshot)


def _read(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The instance without LatestRestorableTime, which changes by itself."""
    describe = Call("describe_db_instances", target={"DBInstanceIdentifier": "{id}"}, item="DBInstances[0]")
    item = find(aws, SERVICE, describe, {"id": id}) or {}
    return {key: value for key, value in item.items() if key != "LatestRestorableTime"} or None


INSTANCE = ResourceMapping(
    "aws:rds/instance:Instance",
    SERVICE,
    create=Call("create_db_instance", rename=_RENAMED, omit=_OMITTED),
    id="DBInstance.DBInstanceIdentifier",
    read=_read,
    delete=_delete,
    force_new=frozenset(
        {
            "availabilityZone", "backupTarget", "characterSetName", "customIamInstanceProfile", "dbName", "engine",
            "kmsKeyId", "ncharCharacterSetName", "snapshotIdentifier", "storageEncrypted", "timezone", "username",
        }
    ),
    settings=(
        Setting(
            (ANY,),
            Call("modify_db_instance", {"DBInstanceIdentifier": "{id}"}, rename=_RENAMED,
                 omit=_OMITTED | _MANAGED | {"identifier", "tags"}),
            at_create=False,
        ),
        Setting(
            tuple(sorted(_MANAGED)), Call("modify_db_instance", {"DBInstanceIdentifier": "{id}"}), at_create=False
        ),
    ),
    tags=_TAGS,
    name="identifier",
    name_limit=63,
    from_item={
        "arn": "DBInstanceArn", "address": "Endpoint.Address", "port": "Endpoint.Port", "status": "DBInstanceStatus",
        "instanceClass": "DBInstanceClass", "identifier": "DBInstanceIdentifier", "resourceId": "DbiResourceId",
        "endpoint": "Endpoint.join(':', [Address, to_string(Port)])",
        "masterUserSecrets": "MasterUserSecret && [MasterUserSecret]",
    },
    drift=("instanceClass", "allocatedStorage", "engineVersion", "multiAz"),
)  # fmt: skip

MAPPINGS = (SUBNET_GROUP, PARAMETER_GROUP, INSTANCE)

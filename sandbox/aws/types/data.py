"""Functions of the types in data.yaml: S3, EFS, FSx, ECR and RDS."""

from __future__ import annotations

from sandbox.aws.client import Aws
from sandbox.aws.mapping import Call, Inputs, Item, find

# S3 buckets and their settings, each of which is a separate resource.

S3 = "s3"
NO_LOCATION = "us-east-1"
"""The one region that must not be the location constraint of a bucket
(https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html, read 2026-11).
"""


def create_bucket(aws: Aws, inputs: Inputs) -> str:
    name = str(inputs["bucket"])
    place = {} if aws.region == NO_LOCATION else {"CreateBucketConfiguration": {"LocationConstraint": aws.region}}
    lock = {"ObjectLockEnabledForBucket": True} if inputs.get("objectLockEnabled") in (True, "true") else {}
    aws.call(S3, "create_bucket", Bucket=name, **place, **lock)
    return name


def set_bucket_tags(aws: Aws, id: str, inputs: Inputs) -> None:
    """Replace the whole set: S3 can't change single tags."""
    pairs = [{"Key": key, "Value": value} for key, value in (inputs.get("tags") or {}).items()]
    if pairs:
        aws.call(S3, "put_bucket_tagging", Bucket=id, Tagging={"TagSet": pairs})
    else:
        aws.call(S3, "delete_bucket_tagging", Bucket=id)


def read_bucket(aws: Aws, id: str, names: Inputs) -> Item | None:
    if find(aws, S3, Call("list_objects_v2", target={"Bucket": "{id}"}, fixed={"MaxKeys": 1}), {"id": id}) is None:
        return None
    tags = find(aws, S3, Call("get_bucket_tagging", target={"Bucket": "{id}"}), {"id": id}) or {}
    return {"Bucket": id, "TagSet": tags.get("TagSet", [])}


def delete_bucket(aws: Aws, id: str, outputs: Inputs) -> None:
    """AWS refuses while there are objects; `forceDestroy` deletes them with all their versions."""
    if outputs.get("forceDestroy") in (True, "true"):
        while True:
            listed = aws.call(S3, "list_object_versions", Bucket=id)
            objects = [*listed.get("Versions", []), *listed.get("DeleteMarkers", [])]
            if not objects:
                break
            keys = [{"Key": item["Key"], "VersionId": item["VersionId"]} for item in objects]
            aws.call(S3, "delete_objects", Bucket=id, Delete={"Objects": keys})
    aws.call(S3, "delete_bucket", Bucket=id)


# EFS.

EFS = "efs"


def set_lifecycle(aws: Aws, id: str, inputs: Inputs) -> None:
    """Send all policies: AWS replaces the whole configuration, and an empty one turns it off."""
    policies = {"lifecyclePolicies": inputs.get("lifecyclePolicies") or []}
    Call("put_lifecycle_configuration", {"FileSystemId": "{id}"})(aws, EFS, policies, {"id": id})


# ECR repositories and their lifecycle policies.

ECR = "ecr"


def delete_repository(aws: Aws, id: str, outputs: Inputs) -> None:
    force = outputs.get("forceDelete") in (True, "true")
    aws.call(ECR, "delete_repository", repositoryName=id, force=force)


# RDS: enough for the database of an experiment tracker.

RDS = "rds"


def described(inputs: Inputs) -> Inputs:
    """With the description that the provider gives to what has none."""
    return {"description": "Managed by Pulumi", **inputs}


_CREATE_GROUP = Call(
    "create_db_subnet_group",
    rename={"name": "DBSubnetGroupName", "description": "DBSubnetGroupDescription"},
    adapt=described,
    omit=frozenset({"namePrefix"}),
)


def change_subnet_group(aws: Aws, id: str, inputs: Inputs) -> None:
    modify = Call("modify_db_subnet_group", {"DBSubnetGroupName": "{id}"}, {}, _CREATE_GROUP.rename)
    modify(aws, RDS, {key: inputs[key] for key in ("description", "subnetIds") if key in inputs}, {"id": id})


def set_parameters(aws: Aws, id: str, inputs: Inputs) -> None:
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
        aws.call(RDS, "modify_db_parameter_group", DBParameterGroupName=id, Parameters=part)


def delete_instance(aws: Aws, id: str, outputs: Inputs) -> None:
    skip = outputs.get("skipFinalSnapshot") in (True, "true")
    last = outputs.get("finalSnapshotIdentifier")
    snapshot = {"FinalDBSnapshotIdentifier": last} if last and not skip else {}
    aws.call(RDS, "delete_db_instance", DBInstanceIdentifier=id, SkipFinalSnapshot=skip, **snapshot)


def read_instance(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The instance without LatestRestorableTime, which changes by itself."""
    describe = Call("describe_db_instances", target={"DBInstanceIdentifier": "{id}"}, item="DBInstances[0]")
    item = find(aws, RDS, describe, {"id": id}) or {}
    return {key: value for key, value in item.items() if key != "LatestRestorableTime"} or None


# FSx for Lustre.


def shrinks(path: str, old: Inputs, new: Inputs) -> bool:
    """Capacity can only grow in place, and on SCRATCH_1 it can't change at all."""
    if path != "storageCapacity":
        return False
    smaller = int(new.get("storageCapacity", 0)) < int(old.get("storageCapacity", 0))
    return smaller or new.get("deploymentType", "SCRATCH_1") == "SCRATCH_1"

"""Samples: buckets, file systems, images and databases."""

import json
from typing import Any

from tests.sandbox.aws.samples.sample import RETAGGED, TAGGED, Sample, aws_call
from tests.sandbox.aws.samples.world import World, document

_LIFECYCLE_TEXT = json.dumps(
    {
        "rules": [
            {
                "rulePriority": 1,
                "selection": {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": 5},
                "action": {"type": "expire"},
            }
        ]
    }
)


def _lustre(world: World) -> dict[str, Any]:
    return {
        "subnetIds": world.subnets(1)[0],
        "storageCapacity": 1200,
        "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": 250,
        "securityGroupIds": [world.group()],
        "fileSystemTypeVersion": "2.15",
        **TAGGED,
    }


SAMPLES: dict[str, Sample] = {
    "aws:ecr/repository:Repository": Sample(lambda world: {"name": "train", "imageTagMutability": "IMMUTABLE",
            "imageScanningConfiguration": {"scanOnPush": True}, "encryptionConfigurations": [{"encryptionType": "KMS"}],
            "forceDelete": True, **TAGGED}, {"imageTagMutability": "MUTABLE", **RETAGGED},
        aws_call("ecr", "put_image_tag_mutability", repositoryName="ID", imageTagMutability="IMMUTABLE"),
        ("imageTagMutability",)),
    "aws:ecr/lifecyclePolicy:LifecyclePolicy": Sample(lambda world: {
            "repository": world.make("aws:ecr/repository:Repository", name=world.unique("serve"))[0],
            "policy": _LIFECYCLE_TEXT}, {"policy": _LIFECYCLE_TEXT.replace("5", "9")}),
    "aws:rds/subnetGroup:SubnetGroup": Sample(
        lambda world: {"name": "tracking", "subnetIds": world.subnets(), **TAGGED}, RETAGGED),
    "aws:rds/parameterGroup:ParameterGroup": Sample(lambda world: {"name": "tls-alone", "family": "postgres17",
            "parameters": [{"name": "rds.force_ssl", "value": "1"}], **TAGGED},
        {"parameters": [{"name": "rds.force_ssl", "value": "0"}], **RETAGGED}),
    "aws:rds/instance:Instance": Sample(lambda world: {"identifier": "tracking", "instanceClass": "db.t4g.medium",
            "engine": "postgres", "allocatedStorage": 20, "username": "mlflow", "password": "very-secret",
            "skipFinalSnapshot": True, **TAGGED}, {"instanceClass": "db.t4g.large", **RETAGGED}),
    "aws:s3/bucket:Bucket": Sample(lambda world: {"bucket": world.unique("models"), "forceDestroy": True, **TAGGED},
        RETAGGED,
        aws_call("s3", "put_bucket_tagging", Bucket="ID", Tagging={"TagSet": [{"Key": "team", "Value": "z"}]}),
        ("tags",)),
    "aws:s3/bucketVersioning:BucketVersioning": Sample(
        lambda world: {"bucket": world.bucket(), "versioningConfiguration": {"status": "Enabled"}},
        {"versioningConfiguration": {"status": "Suspended"}},
        aws_call("s3", "put_bucket_versioning", Bucket="ID", VersioningConfiguration={"Status": "Enabled"}),
        ("versioningConfiguration",), stays=True),
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": Sample(lambda world: {
            "bucket": world.bucket(), "rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms",
                        "kmsMasterKeyId": world.key()["arn"]}, "bucketKeyEnabled": True}]},
        {"rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"}}]}),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": Sample(
        lambda world: {"bucket": world.bucket(), "blockPublicAcls": True, "blockPublicPolicy": True},
        {"ignorePublicAcls": True}, aws_call("s3", "put_public_access_block", Bucket="ID",
            PublicAccessBlockConfiguration={"BlockPublicAcls": False, "BlockPublicPolicy": True,
                "IgnorePublicAcls": True}), ("blockPublicAcls",)),
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": Sample(lambda world: {"bucket": world.bucket(),
            "rules": [
                {"id": "old", "status": "Enabled", "filter": {"prefix": "checkpoints/"}, "expiration": {"days": 30}}]},
        {"rules": [{"id": "old", "status": "Disabled", "filter": {"prefix": "a/"}, "expiration": {"days": 9}}]}),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": Sample(
        lambda world: {"bucket": world.bucket(), "rule": {"objectOwnership": "BucketOwnerEnforced"}},
        {"rule": {"objectOwnership": "ObjectWriter"}}),
    "aws:s3/bucketPolicy:BucketPolicy": Sample(lambda world: {"bucket": (bucket := world.bucket()),
            "policy": document("s3:GetObject", f"arn:aws:s3:::{bucket}/*", Principal="*")},
        {"policy": document("s3:PutObject", "*", Principal="*")}),
    "aws:efs/fileSystem:FileSystem": Sample(lambda world: {"creationToken": "home", "encrypted": True,
            "lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}], **TAGGED},
        {"lifecyclePolicies": [{"transitionToIa": "AFTER_60_DAYS"}], **RETAGGED},
        aws_call("efs", "put_lifecycle_configuration", FileSystemId="ID", LifecyclePolicies=[]),
        ("lifecyclePolicies",)),
    "aws:efs/fileSystemPolicy:FileSystemPolicy": Sample(lambda world: {"fileSystemId": world.file_system(),
            "policy": document("elasticfilesystem:ClientMount", Principal="*")},
        {"policy": document("elasticfilesystem:ClientWrite", Principal="*")},
        aws_call("efs", "put_file_system_policy", FileSystemId="ID", Policy=document("elasticfilesystem:*")),
        ("policy",), stays=True),
    "aws:efs/mountTarget:MountTarget": Sample(lambda world: {"fileSystemId": world.file_system(),
            "subnetId": world.subnets(1)[0], "securityGroups": [world.group()]}),
    "aws:efs/accessPoint:AccessPoint": Sample(lambda world: {"fileSystemId": world.file_system(),
            "posixUser": {"uid": 1000, "gid": 1000}, "rootDirectory": {"path": "/home"}, **TAGGED}, RETAGGED,
        aws_call("efs", "tag_resource", ResourceId="ID", Tags=[{"Key": "team", "Value": "z"}]), ("tags",)),
    "aws:fsx/lustreFileSystem:LustreFileSystem": Sample(_lustre, {"storageCapacity": 2400, **RETAGGED},
        aws_call("fsx", "tag_resource", ResourceARN="$arn", Tags=[{"Key": "team", "Value": "z"}]), ("tags",)),
}  # fmt: skip

"""Mistakes of storage."""

from __future__ import annotations

from typing import Any, Final

from tests.spec.settings.bad.row import Bad


def _lustre(**settings: Any) -> dict[str, Any]:
    """In the zone of the training pools, so that nothing else is wrong."""
    return {"storage.lustre": settings}


def _secret(region: str, name: str) -> str:
    return f"arn:aws:secretsmanager:{region}:111122223333:secret:ecr-pullthroughcache/{name}"


_PROTECTED: Final = {"environment.protect": True}
_SAFE: Final = {"deletionProtection": True}

STORAGE: Final = (
    Bad(
        60, "file system too small", _lustre(storageCapacity=600), "storage.lustre.storageCapacity", "1200", "Use 1200."
    ),
    Bad(
        60,
        "file system of a size that FSx does not support",
        _lustre(storageCapacity=3600),
        "storage.lustre.storageCapacity",
        "a multiple of 2400",
        "Use 2400 or 4800.",
    ),
    Bad(60, "no size", _lustre(storageCapacity=0), "storage.lustre.storageCapacity", "1200", "Use 1200."),
    Bad(60, "negative size", _lustre(storageCapacity=-2400), "storage.lustre.storageCapacity", "1200", "Use 1200."),
    Bad(
        60,
        "size with a unit",
        _lustre(storageCapacity="1200Gi"),
        "storage.lustre.storageCapacity",
        "whole number",
        "only digits",
    ),
    Bad(
        60,
        "throughput of no tier",
        _lustre(perUnitStorageThroughput=200),
        "storage.lustre.perUnitStorageThroughput",
        "250, 500",
        "Use 125, 250, 500, 1000.",
    ),
    Bad(
        60,
        "throughput of a scratch file system",
        _lustre(deploymentType="SCRATCH_2", perUnitStorageThroughput=250),
        "storage.lustre.perUnitStorageThroughput",
        "fixed throughput",
        "Remove it",
    ),
    Bad(
        60,
        "unknown deployment",
        _lustre(deploymentType="PERSISTENT_1"),
        "storage.lustre.deploymentType",
        "SCRATCH_2",
        "PERSISTENT_2?",
    ),
    Bad(
        60,
        "file system in a zone of another network",
        _lustre(zone="us-east-1f"),
        "storage.lustre.zone",
        "the network's",
        "us-east-1a, us-east-1b",
    ),
    Bad(
        60,
        "scratch where data is protected",
        {**_PROTECTED, **_lustre(deploymentType="SCRATCH_2")},
        "storage.lustre.deploymentType",
        "must not use SCRATCH_2",
        "PERSISTENT_2",
    ),
    Bad(
        60,
        "buckets that are emptied where data is protected",
        {**_PROTECTED, "storage.buckets": {"forceDestroy": True}},
        "storage.buckets.forceDestroy",
        "emptied",
        "Remove the line",
    ),
    Bad(
        60,
        "file system without its driver",
        {"storage.efs": {}, "cluster.addons": {"aws-efs-csi-driver": {"enabled": False}}},
        "cluster.addons.aws-efs-csi-driver.enabled",
        "storage.efs needs this driver",
        "Remove the line",
    ),
    Bad(
        60,
        "checkpoints kept for no time",
        {"storage.buckets": {"checkpointDays": 0}},
        "storage.buckets.checkpointDays",
        "at least 1",
        "1 or more",
    ),
    Bad(
        61,
        "deletion of the data's key too soon",
        {"storage.keyDeletionDays": 6},
        "storage.keyDeletionDays",
        "at least 7",
        "7 or more",
    ),
    Bad(
        60,
        "storage that can't grow",
        {"addons.mlflow": {"database": {"allocatedStorage": 200, "maxAllocatedStorage": 210}}},
        "addons.mlflow.database.maxAllocatedStorage",
        "at least a tenth",
        "Use 220 or more",
    ),
    Bad(
        60,
        "database without deletion protection where data is protected",
        {**_PROTECTED, "addons.mlflow": {}},
        "addons.mlflow.database.deletionProtection",
        "needs deletion protection",
        "Set it to `true`",
    ),
    Bad(
        60,
        "database without a final snapshot where data is protected",
        {**_PROTECTED, "addons.mlflow": {"database": {**_SAFE, "finalSnapshot": False}}},
        "addons.mlflow.database.finalSnapshot",
        "final snapshot",
        "Remove the line",
    ),
    Bad(
        60,
        "password without an endpoint",
        {
            "addons.mlflow": {},
            "network.nat": "none",
            "network.endpoints": ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts"],
        },
        "network.endpoints",
        "needs the endpoint secretsmanager",
        "Add secretsmanager",
    ),
    Bad(
        60,
        "cache without the credentials that it needs",
        {"storage.registry": {"caches": {"docker-hub": {}}}},
        "storage.registry.caches.docker-hub.credentialsArn",
        "only with credentials",
        "ecr-pullthroughcache/",
    ),
    Bad(
        60,
        "credentials of another name",
        {
            "storage.registry": {
                "caches": {"github": {"credentialsArn": "arn:aws:secretsmanager:us-east-1:111122223333:secret:github"}}
            }
        },
        "storage.registry.caches.github.credentialsArn",
        "begins with ecr-pullthroughcache/",
        "Create the secret under such a name",
    ),
    Bad(
        60,
        "cache of a registry that ECR does not know",
        {"storage.registry": {"caches": {"nvcr": {}}}},
        "storage.registry.caches.nvcr",
        "quay",
        "Use",
    ),
    Bad(
        33,
        "cache whose images have too long a name",
        {"cluster.name": "c" * 27, "storage.registry": {"caches": {"k8s": {}}}},
        "storage.registry.caches.k8s",
        "at most 30 characters",
        "Shorten the cluster's name by 1",
    ),
    Bad(
        60,
        "an EC2 type for a database",
        {"addons.mlflow": {"database": {"instanceClass": "m7g.large"}}},
        "addons.mlflow.database.instanceClass",
        "instance class of RDS",
        "like db.t4g.medium",
    ),
    Bad(
        60,
        "images unpacked in parallel on a slow disk",
        {"pools.cpu.parallelImagePull": True},
        "pools.cpu.parallelImagePull",
        "600 MiB/s or more",
        "throughputMibps: 600",
    ),
    Bad(
        60,
        "more IOPS than the volume allows",
        {"pools.cpu.disk": {"sizeGib": 20, "iops": 16000}},
        "pools.cpu.disk.iops",
        "at most 10000 IOPS",
        "sizeGib of 32 or more",
    ),
    Bad(
        60,
        "more throughput than the IOPS allow",
        {"pools.cpu.disk": {"throughputMibps": 1000}},
        "pools.cpu.disk.throughputMibps",
        "at most 750 MiB/s",
        "iops of 4000 or more",
    ),
    Bad(
        60,
        "volume beyond gp3",
        {"pools.cpu.disk": {"sizeGib": 65537}},
        "pools.cpu.disk.sizeGib",
        "at most 65536",
        "65536 or less",
    ),
    Bad(
        60,
        "size beyond FSx's own number",
        _lustre(storageCapacity=2400 * 1_000_000),
        "storage.lustre.storageCapacity",
        "at most 2147483647",
        "2147483647 or less",
    ),
    Bad(
        60,
        "days that EFS does not support",
        {"storage.efs": {"transitionToIaDays": 45}},
        "storage.efs.transitionToIaDays",
        "30, 60",
        "Use 1, 7, 14",
    ),
    Bad(
        60,
        "storage that can not grow within RDS",
        {"addons.mlflow": {"database": {"allocatedStorage": 59579, "maxAllocatedStorage": 65536}}},
        "addons.mlflow.database.allocatedStorage",
        "at most 59578",
        "59578 or less",
    ),
    Bad(
        60,
        "less storage than RDS allows",
        {"addons.mlflow": {"database": {"allocatedStorage": 19}}},
        "addons.mlflow.database.allocatedStorage",
        "at least 20",
        "20 or more",
    ),
    Bad(
        60,
        "backups beyond 35 days",
        {"addons.mlflow": {"database": {"backupRetentionPeriod": 36}}},
        "addons.mlflow.database.backupRetentionPeriod",
        "at most 35",
        "35 or less",
    ),
    Bad(
        60,
        "credentials of another region",
        {"storage.registry": {"caches": {"github": {"credentialsArn": _secret("us-west-2", "github")}}}},
        "storage.registry.caches.github.credentialsArn",
        "in the stack's account and region",
        "Create the secret there",
    ),
    Bad(
        60,
        "letters in a secret's name that ECR does not allow",
        {"storage.registry": {"caches": {"github": {"credentialsArn": _secret("us-east-1", "gith\u00fcb")}}}},
        "storage.registry.caches.github.credentialsArn",
        "begins with ecr-pullthroughcache/",
        "Create the secret under such a name",
    ),
    Bad(
        33,
        "two dashes in the name of a database",
        {"cluster.name": "ml--one", "addons.mlflow": {}},
        "cluster.name",
        "two dashes in a row",
        "single dashes",
    ),
    Bad(
        33,
        "dash before the name of a repository",
        {"cluster.name": "ml-", "storage.registry": {"repositories": ["training"]}},
        "cluster.name",
        "no dash before the slash",
        "end with a letter",
    ),
)

"""Mistakes of what keeps data."""

from __future__ import annotations

from typing import Any, Final

from tests.infra.config.bad.row import Bad


def _lustre(**settings: Any) -> dict[str, Any]:
    """In the zone of the training pools, so that nothing else is wrong."""
    return {"storage.lustre": settings}


_PROTECTED: Final = {"environment.protect": True}
_SAFE: Final = {"deletionProtection": True}

STORAGE: Final = (
    Bad(60, "file system too small", _lustre(capacityGib=600), "storage.lustre.capacityGib", "1200", "Use 1200."),
    Bad(
        60,
        "file system of a size that FSx lacks",
        _lustre(capacityGib=3600),
        "storage.lustre.capacityGib",
        "a multiple of 2400",
        "Use 2400 or 4800.",
    ),
    Bad(60, "no size", _lustre(capacityGib=0), "storage.lustre.capacityGib", "1200", "Use 1200."),
    Bad(60, "negative size", _lustre(capacityGib=-2400), "storage.lustre.capacityGib", "1200", "Use 1200."),
    Bad(
        60,
        "size with a unit",
        _lustre(capacityGib="1200Gi"),
        "storage.lustre.capacityGib",
        "whole number",
        "digits alone",
    ),
    Bad(
        60,
        "throughput of no tier",
        _lustre(throughput=200),
        "storage.lustre.throughput",
        "250, 500",
        "Use 125, 250, 500, 1000.",
    ),
    Bad(
        60,
        "throughput of a scratch file system",
        _lustre(deployment="SCRATCH_2", throughput=250),
        "storage.lustre.throughput",
        "can't be chosen",
        "Remove it",
    ),
    Bad(
        60,
        "unknown deployment",
        _lustre(deployment="PERSISTENT_1"),
        "storage.lustre.deployment",
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
        {**_PROTECTED, **_lustre(deployment="SCRATCH_2")},
        "storage.lustre.deployment",
        "keeps nothing on SCRATCH_2",
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
        "checkpoints that never were",
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
        {"addons.mlflow": {"database": {"storageGib": 200, "maxStorageGib": 210}}},
        "addons.mlflow.database.maxStorageGib",
        "at least a tenth",
        "Use 221 or more",
    ),
    Bad(
        60,
        "database that a protected environment may lose",
        {**_PROTECTED, "addons.mlflow": {}},
        "addons.mlflow.database.deletionProtection",
        "protects its databases",
        "Set it to true",
    ),
    Bad(
        60,
        "database without a last snapshot where data is protected",
        {**_PROTECTED, "addons.mlflow": {"database": {**_SAFE, "finalSnapshot": False}}},
        "addons.mlflow.database.finalSnapshot",
        "last snapshot",
        "Remove the line",
    ),
    Bad(
        60,
        "password out of reach",
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
        "cache that ECR fills only as a user",
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
        "Name the secret so",
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
        "a machine of EC2 for a database",
        {"addons.mlflow": {"database": {"instanceClass": "m7g.large"}}},
        "addons.mlflow.database.instanceClass",
        "a class of RDS",
        "like db.t4g.medium",
    ),
    Bad(
        60,
        "images unpacked side by side on a slow disk",
        {"pools.cpu.parallelImagePull": True},
        "pools.cpu.parallelImagePull",
        "600 MiB/s or more",
        "throughputMibps: 600",
    ),
)

"""FSx for Lustre, buckets of S3, databases, and images that expire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final

from sandbox.aws.rules.rule import Case, Moment, rule, value

_LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
_FSX = "FSx API Reference, CreateFileSystem, read 2026-11: "
_THROUGHPUTS: Mapping[tuple[str, str], tuple[int, ...]] = MappingProxyType(
    {
        ("PERSISTENT_1", "SSD"): (50, 100, 200),
        ("PERSISTENT_1", "HDD"): (12, 40),
        ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
    }
)
"""MB/s for each TiB, by deployment type and storage."""
_HDD_STEPS = {12: 6000, 40: 1800}
_DEFAULT_DEPLOYMENT = "SCRATCH_1"


def _deployment(case: Case) -> tuple[str, str]:
    return case.new.get("deploymentType") or _DEFAULT_DEPLOYMENT, case.new.get("storageType") or "SSD"


@rule(
    _LUSTRE,
    "BadRequest",
    "storageCapacity deploymentType storageType perUnitStorageThroughput",
    f"{_FSX}StorageCapacity",
)
def lustre_capacity(case: Case) -> str | None:
    """Capacity comes in the steps of its disks."""
    given, (deployment, storage) = case.new.get("storageCapacity"), _deployment(case)
    if given is None or storage not in ("SSD", "HDD"):
        return None
    capacity = int(given)
    if storage == "HDD":
        step = _HDD_STEPS.get(int(case.new.get("perUnitStorageThroughput") or 0))
        allowed, words = step is None or capacity % step == 0, f"increments of {step} GiB"
    else:
        step = 3600 if deployment == "SCRATCH_1" else 2400
        allowed = capacity in (1200, 2400) or (capacity > 0 and capacity % step == 0)
        words = f"1200 GiB, 2400 GiB, and increments of {step} GiB"
    return None if allowed else f"Storage capacity {capacity} is invalid for {deployment} {storage}: {words}"


@rule(_LUSTRE, "BadRequest", "perUnitStorageThroughput deploymentType storageType", f"{_FSX}PerUnitStorageThroughput")
def lustre_throughput(case: Case) -> str | None:
    """Throughput comes in steps; a persistent file system needs one."""
    given, kind = case.new.get("perUnitStorageThroughput"), _deployment(case)
    allowed = _THROUGHPUTS.get(kind)
    if allowed is None:
        scratch = given is not None and kind[0].startswith("SCRATCH")
        return f"PerUnitStorageThroughput is not supported for {kind[0]}" if scratch else None
    if given is None or int(given) not in allowed:
        return (
            f"PerUnitStorageThroughput {given} is invalid for {' '.join(kind)}: one of {', '.join(map(str, allowed))}"
        )
    return None


@rule(
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", "FileSystemNotFound", "fileSystemId",
    "FSx API Reference, CreateDataRepositoryAssociation, read 2026-11; moto 5.2.5 answers with an empty list",
    Moment.CREATE,
)  # fmt: skip
def associated_file_system(case: Case) -> str | None:
    """An association is of a file system that exists."""
    wanted = str(case.new["fileSystemId"])
    systems = case.aws.call("fsx", "describe_file_systems", FileSystemIds=[wanted])["FileSystems"]
    return None if systems else f"File system '{wanted}' does not exist."


@rule(
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", "InvalidRequest", "rules",
    "S3 API Reference, AbortIncompleteMultipartUpload, read 2026-11: not in a rule with a filter of tags",
)  # fmt: skip
def aborted_uploads(case: Case) -> str | None:
    """Uploads that are not complete have no tags."""
    for one in case.new.get("rules") or ():
        chosen = one.get("filter") or {}
        if one.get("abortIncompleteMultipartUpload") and (chosen.get("tag") or (chosen.get("and") or {}).get("tags")):
            return "AbortIncompleteMultipartUpload cannot be specified with Tags."
    return None


@rule(
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration", "InvalidArgument", "rules",
    "S3 User Guide, lifecycle-transition-general-considerations.html, read 2026-11",
)  # fmt: skip
def expired_after_its_transition(case: Case) -> str | None:
    """An object moves before it expires."""
    for one in case.new.get("rules") or ():
        for moves, end, days in (
            (one.get("transitions"), one.get("expiration"), "days"),
            (one.get("noncurrentVersionTransitions"), one.get("noncurrentVersionExpiration"), "noncurrentDays"),
        ):
            last, moved = _days((end or {}).get(days)), [_days(move.get(days)) for move in moves or ()]
            if last is not None and any(each is not None and each >= last for each in moved):
                return "'Days' in the Expiration action must be greater than 'Days' in the Transition action"
    return None


def _days(given: Any) -> int | None:
    return int(given) if str(given).isdecimal() else None


@rule(
    "aws:s3/bucketNotification:BucketNotification", "InvalidArgument", "queues topics lambdaFunctions",
    "S3 User Guide, notification-how-to-filtering.html, read 2026-11",
)  # fmt: skip
def notified_once(case: Case) -> str | None:
    """No event of an object goes to two receivers."""
    found = [one for name in ("queues", "topics", "lambdaFunctions") for one in case.new.get(name) or ()]
    for first, second in combinations(found, 2):
        events = any(
            _covers(a, b) or _covers(b, a) for a in first.get("events") or () for b in second.get("events") or ()
        )
        prefixes = [str(one.get("filterPrefix") or "") for one in (first, second)]
        suffixes = [str(one.get("filterSuffix") or "")[::-1] for one in (first, second)]
        if events and all(a.startswith(b) or b.startswith(a) for a, b in (prefixes, suffixes)):
            return (
                "Configurations overlap. Configurations on the same bucket cannot share a common event type with "
                f"overlapping prefixes and suffixes: {', '.join(map(repr, prefixes))}"
            )
    return None


def _covers(event: str, other: str) -> bool:
    return event == other or (event.endswith("*") and other.startswith(event[:-1]))


@rule("aws:s3/bucketVersioning:BucketVersioning", "InvalidBucketState", "versioningConfiguration.status bucket",
      "S3 User Guide, object-lock.html, read 2026-11", Moment.CREATE, Moment.UPDATE)  # fmt: skip
def versions_of_locked_objects(case: Case) -> str | None:
    """Object Lock needs versions."""
    if value(case.new, "versioningConfiguration.status") != "Suspended":
        return None
    locked = case.seen("s3", "get_object_lock_configuration", Bucket=case.new["bucket"])
    if locked.get("ObjectLockConfiguration", {}).get("ObjectLockEnabled") != "Enabled":
        return None
    return "An Object Lock configuration is present on this bucket, so the versioning state cannot be changed."


@rule("aws:s3/bucketAcl:BucketAcl", "AccessControlListNotSupported", "bucket",
      "S3 User Guide, about-object-ownership.html: BucketOwnerEnforced unless it is changed", Moment.CREATE,
      Moment.UPDATE)  # fmt: skip
def lists_are_on(case: Case) -> str | None:
    """A bucket has an access control list only if its ownership controls let objects have other owners."""
    found = case.seen("s3", "get_bucket_ownership_controls", Bucket=case.new["bucket"])
    rules = found.get("OwnershipControls", {}).get("Rules") or [{}]
    if rules[0].get("ObjectOwnership", "BucketOwnerEnforced") == "BucketOwnerEnforced":
        return "The bucket does not allow ACLs"
    return None


_STRIPED: Final[Mapping[str, int]] = {"mariadb": 400, "mysql": 400, "postgres": 400, "oracle": 200}
"""GiB of gp3 from which RDS stripes over several volumes, by the first word of the engine."""


@rule(
    "aws:rds/instance:Instance", "InvalidParameterCombination",
    "iops storageThroughput storageType engine allocatedStorage",
    "RDS User Guide, CHAP_Storage.html#gp3-storage, read 2026-11",
)  # fmt: skip
def gp3_of_a_small_database(case: Case) -> str | None:
    """The baseline of a small gp3 volume can't be changed."""
    engine, size = str(case.new.get("engine") or ""), _days(case.new.get("allocatedStorage"))
    least = _STRIPED.get(engine.partition("-")[0])
    given = [name for name in ("iops", "storageThroughput") if case.new.get(name)]
    if case.new.get("storageType") != "gp3" or not given or least is None or size is None or size >= least:
        return None
    return f"You can't specify IOPS or storage throughput for engine {engine} and a storage size less than {least}."


@rule("aws:ecr/lifecyclePolicy:LifecyclePolicy", "InvalidParameterException", "policy",
      "ECR User Guide, lifecycle_policy_parameters.html, read 2026-11")  # fmt: skip
def images_expire(case: Case) -> str | None:
    """Each rule has a priority of its own, one for images of any tag the last, and a unit where it counts days."""
    try:
        document = json.loads(case.new["policy"])
    except (TypeError, ValueError):
        return None  # said of its form
    found = document.get("rules") or () if isinstance(document, Mapping) else ()
    priorities = [int(one.get("rulePriority") or 0) for one in found]
    if len({*priorities}) < len(priorities):
        return f"{_EXPIRY}: rule priorities must be unique"
    for one, priority in zip(found, priorities, strict=True):
        selection = one.get("selection") or {}
        if selection.get("tagStatus") == "any" and priority != max(priorities):
            return f"{_EXPIRY}: a rule with tagStatus any must have the highest rulePriority"
        if selection.get("countType") == "sinceImagePushed" and "countUnit" not in selection:
            return f"{_EXPIRY}: countType sinceImagePushed needs countUnit"
    return None


_EXPIRY = "Invalid parameter at 'LifecyclePolicyText' failed to satisfy constraint"

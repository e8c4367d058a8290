"""FSx for Lustre, and lifecycle rules of S3."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sandbox.aws.rules.rule import Case, Moment, rule

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


RULES = (aborted_uploads, lustre_capacity, lustre_throughput, associated_file_system)

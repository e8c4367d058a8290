"""FSx for Lustre, and the attributes of queues and log groups that their models keep as free numbers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sandbox.aws.rules.rule import Case, Moment, Rule, rule

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


_RETENTIONS = frozenset(
    {
        1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
    }
)  # fmt: skip


@rule(
    "aws:cloudwatch/logGroup:LogGroup", "InvalidParameterException", "retentionInDays",
    "CloudWatch Logs API Reference, PutRetentionPolicy retentionInDays, read 2026-11; 0 is the AWS provider's `never`",
)  # fmt: skip
def log_retention(case: Case) -> str | None:
    """Days of retention are some of a list."""
    days = int(case.new.get("retentionInDays") or 0)
    if not days or days in _RETENTIONS:
        return None
    listed = ", ".join(map(str, sorted(_RETENTIONS)))
    return (
        f"Value '{days}' at 'retentionInDays' failed to satisfy constraint: Member must satisfy enum value set: "
        f"[{listed}]"
    )


_QUEUE = (
    ("delaySeconds", "DelaySeconds", 0, 900),
    ("kmsDataKeyReusePeriodSeconds", "KmsDataKeyReusePeriodSeconds", 60, 86_400),
    ("maxMessageSize", "MaximumMessageSize", 1024, 1_048_576),
    ("messageRetentionSeconds", "MessageRetentionPeriod", 60, 1_209_600),
    ("receiveWaitTimeSeconds", "ReceiveMessageWaitTimeSeconds", 0, 20),
    ("visibilityTimeoutSeconds", "VisibilityTimeout", 0, 43_200),
)
"""Input, attribute, lowest and highest value."""


def _attribute(at: str, attribute: str, low: int, high: int) -> Rule:
    def queue_attribute(case: Case) -> str | None:
        """The attribute is in its range."""
        given = case.new.get(at)
        if given is None or low <= int(given) <= high:
            return None
        return f"Invalid value for the parameter {attribute}: {given} is not between {low} and {high}."

    source = "SQS API Reference, CreateQueue Attributes, read 2026-11"
    return rule("aws:sqs/queue:Queue", "InvalidAttributeValue", at, source)(queue_attribute)


RULES = (
    lustre_capacity, lustre_throughput, associated_file_system, log_retention, *(_attribute(*one) for one in _QUEUE),
)  # fmt: skip

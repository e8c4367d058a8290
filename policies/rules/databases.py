"""RDS databases: encryption, network access, passwords, backups and monitoring."""

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.checks.questions import absent, at_least, false, filled, is_in, present, true
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import DATABASE, DATABASE_CLUSTER, PARAMETER_GROUP
from policies.rule import Check, Context, Levels, ResourceRule, StackRule, Violation, setting, violation

_TYPES: Final = (DATABASE, DATABASE_CLUSTER)


CLOSED = ResourceRule(
    name="rds-closed",
    types=_TYPES,
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    checks={
        "encrypted": Check("must be true", true("storageEncrypted"), ("CKV_AWS_16", "AVD-AWS-0079", "AVD-AWS-0080")),
        "key": Check("must be a customer managed KMS key", present("kmsKeyId")),
        "private": Check("must be false", false("publiclyAccessible"), ("CKV_AWS_17", "AVD-AWS-0180")),
        "password": Check("must not be set", absent("password")),
        "managed": Check("must be true", true("manageMasterUserPassword")),
        "iam": Check("must be true", true("iamDatabaseAuthenticationEnabled"), ("CKV_AWS_161", "AVD-AWS-0176")),
    },
)


def _single_zone(database: Resource, context: Context) -> Iterator[Violation]:
    if context.settings["spread"] and database.type == DATABASE and database["multiAz"].is_false(default=False):
        yield violation(database["multiAz"])


KEPT = ResourceRule(
    name="rds-kept",
    types=_TYPES,
    severity=Severity.HIGH,
    levels=Levels("A/A/M"),
    settings={
        "backupDays": setting("minimum retention of backups, in days", 1, 1, 7, minimum=0, maximum=35),
        "spread": setting("whether a database must be Multi-AZ", False, False, True),
    },
    checks={
        "backups": Check(
            "must be at least the environment's minimum",
            at_least("backupRetentionPeriod", "backupDays"),
            ("CKV_AWS_133", "AVD-AWS-0077"),
        ),
        "tags": Check("must be true", true("copyTagsToSnapshot"), ("CKV2_AWS_60",)),
        "final": Check("must be false", false("skipFinalSnapshot")),
        "protection": Check("must be true", true("deletionProtection"), ("CKV_AWS_293", "AVD-AWS-0177")),
        "zones": Check("must be true", _single_zone, ("CKV_AWS_157",)),
    },
)

WATCHED = ResourceRule(
    name="rds-watched",
    types=(DATABASE,),
    severity=Severity.LOW,
    levels=Levels("A/A/M"),
    checks={
        "upgrades": Check("must be true", true("autoMinorVersionUpgrade", default=True), ("CKV_AWS_226",)),
        "logs": Check("must list log types", filled("enabledCloudwatchLogsExports"), ("CKV_AWS_129",)),
        "monitoring": Check(
            "must be an interval of enhanced monitoring, in seconds",
            is_in("monitoringInterval", 1, 5, 10, 15, 30, 60),
            ("CKV_AWS_118",),
        ),
        "insights": Check("must be true", true("performanceInsightsEnabled"), ("CKV_AWS_353", "AVD-AWS-0133")),
        "insights-key": Check(
            "must be a customer managed KMS key",
            present("performanceInsightsKmsKeyId"),
            ("CKV_AWS_354", "AVD-AWS-0078"),
        ),
    },
)


def _values(groups: list[Resource], name: str) -> list[Node]:
    """Values of a parameter in parameter groups, and unknown nodes that may be one of them."""
    values = [group["parameters"] for group in groups if group["parameters"].unknown]
    for entry in (entry for group in groups for entry in group["parameters"].items()):
        if entry["name"].unknown or entry["name"].raw == name:
            values.append(entry["name"] if entry["name"].unknown else entry["value"])
    return values


def _without(name: str, *accepted: str, engine: str = "postgres") -> Any:
    """Every database of an engine must have a parameter group that sets a parameter to an accepted value."""

    def find(stack: Stack, _: Context) -> Iterator[Violation]:
        for database in stack.of(DATABASE):
            groups = database.source("parameterGroupName", PARAMETER_GROUP)
            elsewhere = not groups and not database["parameterGroupName"].missing
            values = _values(groups, name)
            good = any(value.unknown or str(value.raw) in accepted for value in values)
            if database["engine"].raw == engine and not elsewhere and not good:
                yield Violation(path="parameterGroupName", got=f"without {name}", at=database)

    return find


PARAMETERS = StackRule(
    name="rds-parameters",
    types=(DATABASE, PARAMETER_GROUP),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    checks={
        "tls": Check("must set rds.force_ssl to 1", _without("rds.force_ssl", "1"), ("CKV2_AWS_69",)),
        "slow": Check(
            "must set log_min_duration_statement",
            _without("log_min_duration_statement", "0", "100", "250", "500", "1000", "5000"),
            ("CKV2_AWS_30",),
        ),
        "mysql-tls": Check(
            "must set require_secure_transport to 1",
            _without("require_secure_transport", "1", "ON", engine="mysql"),
        ),
        "mysql-slow": Check("must set slow_query_log to 1", _without("slow_query_log", "1", "ON", engine="mysql")),
    },
)

RULES = (CLOSED, KEPT, WATCHED, PARAMETERS)

"""RDS databases: encryption, network access, passwords, backups and monitoring."""

from collections.abc import Iterator
from typing import Any, Final

from policies.checks.questions import absent, at_least, false, filled, is_in, present, true
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import DATABASE, DATABASE_CLUSTER, PARAMETER_GROUP
from policies.rule import Context, ResourceRule, StackRule, Violation, setting, violation

_TYPES: Final = (DATABASE, DATABASE_CLUSTER)


CLOSED = ResourceRule(
    name="rds-closed",
    types=_TYPES,
    finds={
        "encrypted": true("storageEncrypted"),
        "key": present("kmsKeyId"),
        "private": false("publiclyAccessible"),
        "password": absent("password"),
        "managed": true("manageMasterUserPassword"),
        "iam": true("iamDatabaseAuthenticationEnabled"),
    },
)


def _single_zone(database: Resource, context: Context) -> Iterator[Violation]:
    if context.settings["spread"] and database.type == DATABASE and database["multiAz"].is_false(default=False):
        yield violation(database["multiAz"])


KEPT = ResourceRule(
    name="rds-kept",
    types=_TYPES,
    settings={
        "backupDays": setting("minimum retention of backups, in days", 1, 1, 7, minimum=0, maximum=35),
        "spread": setting("whether a database must be Multi-AZ", False, False, True),
    },
    finds={
        "backups": at_least("backupRetentionPeriod", "backupDays"),
        "tags": true("copyTagsToSnapshot"),
        "final": false("skipFinalSnapshot"),
        "protection": true("deletionProtection"),
        "zones": _single_zone,
    },
)

WATCHED = ResourceRule(
    name="rds-watched",
    types=(DATABASE,),
    finds={
        "upgrades": true("autoMinorVersionUpgrade", default=True),
        "logs": filled("enabledCloudwatchLogsExports"),
        "monitoring": is_in("monitoringInterval", 1, 5, 10, 15, 30, 60),
        "insights": true("performanceInsightsEnabled"),
        "insights-key": present("performanceInsightsKmsKeyId"),
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
    finds={
        "tls": _without("rds.force_ssl", "1"),
        "slow": _without("log_min_duration_statement", "0", "100", "250", "500", "1000", "5000"),
        "mysql-tls": _without("require_secure_transport", "1", "ON", engine="mysql"),
        "mysql-slow": _without("slow_query_log", "1", "ON", engine="mysql"),
    },
)

"""Databases (RDS): closed, encrypted, backed up, and without a password that anybody wrote down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pulumi_policy import Severity

from policies.access import Node
from policies.fixtures import Fixture, FixtureResource, edited, one, with_, without
from policies.levels import Levels
from policies.questions import absent, at_least, false, filled, given, is_in, true
from policies.resource import Resource, Stack
from policies.rule import Check, Context, Problem, ResourceRule, Setting, StackRule, problem
from policies.tokens import DATABASE, DATABASE_CLUSTER, PARAMETER_GROUP

_TYPES: Final = (DATABASE, DATABASE_CLUSTER)
_KEY: Final = "arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d"
_DATABASE: Final[dict[str, Any]] = {
    "engine": "postgres",
    "storageEncrypted": True,
    "kmsKeyId": _KEY,
    "publiclyAccessible": False,
    "manageMasterUserPassword": True,
    "iamDatabaseAuthenticationEnabled": True,
    "backupRetentionPeriod": 7,
    "copyTagsToSnapshot": True,
    "skipFinalSnapshot": False,
    "deletionProtection": True,
    "multiAz": True,
    "autoMinorVersionUpgrade": True,
    "performanceInsightsEnabled": True,
    "performanceInsightsKmsKeyId": _KEY,
    "monitoringInterval": 60,
    "enabledCloudwatchLogsExports": ["postgresql", "upgrade"],
}


def _unset(path: str, *values: Any) -> tuple[Fixture, ...]:
    """The good database without a property, and with each of some wrong values of it."""
    return (one(edited(_DATABASE, path)), *(one(edited(_DATABASE, path, value)) for value in values))


CLOSED = ResourceRule(
    name="rds-closed",
    title="A database is encrypted, out of the internet's reach, and nobody knows its password",
    types=_TYPES,
    severity=Severity.HIGH,
    levels=Levels("M/M/M"),
    why="Encryption can't be switched on later, and a password in a state file is known to all who read states.",
    fix="Set storageEncrypted, kmsKeyId and manageMasterUserPassword, and leave publiclyAccessible false.",
    checks={
        "encrypted": Check(
            asks="must be true",
            find=true("storageEncrypted"),
            external_ids=("CKV_AWS_16", "AVD-AWS-0079", "AVD-AWS-0080"),
            bad=_unset("storageEncrypted", False),
        ),
        "key": Check(asks="must be a key of the stack's own", find=given("kmsKeyId"), bad=_unset("kmsKeyId")),
        "private": Check(
            asks="must be false",
            find=false("publiclyAccessible"),
            external_ids=("CKV_AWS_17", "AVD-AWS-0180"),
            bad=(one(edited(_DATABASE, "publiclyAccessible", True)),),
        ),
        "password": Check(
            asks="must not be set",
            find=absent("password"),
            bad=(one({**_DATABASE, "password": "correct horse"}),),
        ),
        "managed": Check(
            asks="must be true",
            find=true("manageMasterUserPassword"),
            bad=_unset("manageMasterUserPassword", False),
        ),
        "iam": Check(
            asks="must be true",
            find=true("iamDatabaseAuthenticationEnabled"),
            external_ids=("CKV_AWS_161", "AVD-AWS-0176"),
            bad=_unset("iamDatabaseAuthenticationEnabled", False),
        ),
    },
    good=(one(_DATABASE), one(edited(_DATABASE, "publiclyAccessible"))),
)


def _alone(database: Resource, context: Context) -> Iterator[Problem]:
    if context.settings["spread"] and database.type == DATABASE and database["multiAz"].is_false(default=False):
        yield problem(database["multiAz"])


KEPT = ResourceRule(
    name="rds-kept",
    title="A database survives a lost zone and a wrong command",
    types=_TYPES,
    severity=Severity.HIGH,
    levels=Levels("A/A/M"),
    why="The record of every experiment and model is in it, and no bucket has a copy.",
    fix="Set backupRetentionPeriod, deletionProtection and multiAz, and leave skipFinalSnapshot false.",
    settings={
        "backupDays": Setting(
            asks="days for which backups are kept",
            schema={"type": "integer", "minimum": 0, "maximum": 35},
            values={"dev": 1, "staging": 1, "prod": 7},
        ),
        "spread": Setting(
            asks="whether a database must stand in several zones",
            schema={"type": "boolean"},
            values={"dev": False, "staging": False, "prod": True},
        ),
    },
    checks={
        "backups": Check(
            asks="must be long enough to notice what is missing",
            find=at_least("backupRetentionPeriod", "backupDays"),
            external_ids=("CKV_AWS_133", "AVD-AWS-0077"),
            bad=_unset("backupRetentionPeriod", 6),
        ),
        "tags": Check(
            asks="must be true",
            find=true("copyTagsToSnapshot"),
            external_ids=("CKV2_AWS_60",),
            bad=_unset("copyTagsToSnapshot", False),
        ),
        "final": Check(
            asks="must be false", find=false("skipFinalSnapshot"), bad=_unset("skipFinalSnapshot", True)[1:]
        ),
        "protection": Check(
            asks="must be true",
            find=true("deletionProtection"),
            external_ids=("CKV_AWS_293", "AVD-AWS-0177"),
            bad=_unset("deletionProtection", False),
        ),
        "zones": Check(asks="must be true", find=_alone, external_ids=("CKV_AWS_157",), bad=_unset("multiAz", False)),
    },
    good=(
        one(_DATABASE),
        one(edited(_DATABASE, "skipFinalSnapshot")),
        one(edited(_DATABASE, "multiAz"), type=DATABASE_CLUSTER),
    ),
)

WATCHED = ResourceRule(
    name="rds-watched",
    title="A database is kept current, and tells how it is",
    types=(DATABASE,),
    severity=Severity.LOW,
    levels=Levels("A/A/M"),
    why="What is slow or under attack is found in the logs and counters that were switched on before.",
    fix="Set autoMinorVersionUpgrade, enabledCloudwatchLogsExports, monitoringInterval and Performance Insights.",
    checks={
        "upgrades": Check(
            asks="must be true",
            find=true("autoMinorVersionUpgrade", default=True),
            external_ids=("CKV_AWS_226",),
            bad=(one(edited(_DATABASE, "autoMinorVersionUpgrade", False)),),
        ),
        "logs": Check(
            asks="must name logs",
            find=filled("enabledCloudwatchLogsExports"),
            external_ids=("CKV_AWS_129",),
            bad=_unset("enabledCloudwatchLogsExports", []),
        ),
        "monitoring": Check(
            asks="must be a number of seconds that enhanced monitoring knows",
            find=is_in("monitoringInterval", 1, 5, 10, 15, 30, 60),
            external_ids=("CKV_AWS_118",),
            bad=_unset("monitoringInterval", 0),
        ),
        "insights": Check(
            asks="must be true",
            find=true("performanceInsightsEnabled"),
            external_ids=("CKV_AWS_353", "AVD-AWS-0133"),
            bad=_unset("performanceInsightsEnabled", False),
        ),
        "insights-key": Check(
            asks="must be a key of the stack's own",
            find=given("performanceInsightsKmsKeyId"),
            external_ids=("CKV_AWS_354", "AVD-AWS-0078"),
            bad=_unset("performanceInsightsKmsKeyId"),
        ),
    },
    good=(one(_DATABASE), one(edited(_DATABASE, "autoMinorVersionUpgrade"))),
)


def _values(groups: list[Resource], name: str) -> list[Node]:
    """Values of a parameter in parameter groups; what is unknown may be one of them."""
    found = [group["parameters"] for group in groups if group["parameters"].unknown]
    for entry in (entry for group in groups for entry in group["parameters"].items()):
        if entry["name"].unknown or entry["name"].raw == name:
            found.append(entry["name"] if entry["name"].unknown else entry["value"])
    return found


def _without(name: str, *accepted: str) -> Any:
    """Every PostgreSQL database must have a parameter group that sets a parameter to something accepted."""

    def find(stack: Stack, _: Context) -> Iterator[Problem]:
        for database in stack.of(DATABASE):
            groups = database.source("parameterGroupName", PARAMETER_GROUP)
            elsewhere = not groups and not database["parameterGroupName"].missing
            values = _values(groups, name)
            good = any(value.unknown or str(value.raw) in accepted for value in values)
            if database["engine"].raw == "postgres" and not elsewhere and not good:
                yield Problem(path="parameterGroupName", got=f"without {name}", at=database)

    return find


_GROUP: Final = {
    "parameters": [{"name": "rds.force_ssl", "value": "1"}, {"name": "log_min_duration_statement", "value": "1000"}]
}
_SET: Final[Fixture] = {
    "database": FixtureResource(
        type=DATABASE,
        props={"engine": "postgres", "parameterGroupName": "slipway"},
        takes={"parameterGroupName": ("group",)},
    ),
    "group": FixtureResource(type=PARAMETER_GROUP, props=_GROUP),
}

PARAMETERS = StackRule(
    name="rds-parameters",
    title="A PostgreSQL database takes connections over TLS alone, and logs what is slow",
    types=(DATABASE, PARAMETER_GROUP),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="Without rds.force_ssl a client decides whether its password goes over the network in the open.",
    fix="Give the database a parameter group with rds.force_ssl 1 and log_min_duration_statement.",
    checks={
        "tls": Check(
            asks="must set rds.force_ssl to 1",
            find=_without("rds.force_ssl", "1"),
            external_ids=("CKV2_AWS_69",),
            bad=(with_(_SET, "group", "parameters.0.value", "0"),),
        ),
        "slow": Check(
            asks="must set log_min_duration_statement",
            find=_without("log_min_duration_statement", "0", "100", "250", "500", "1000", "5000"),
            external_ids=("CKV2_AWS_30",),
            bad=(with_(_SET, "group", "parameters.1.value", "-1"),),
        ),
    },
    good=(
        _SET,
        {"database": FixtureResource(type=DATABASE, props={"engine": "mysql"})},
        {
            "database": FixtureResource(
                type=DATABASE, props={"engine": "postgres", "parameterGroupName": "of-another-stack"}
            )
        },
        without(_SET, "database"),
    ),
)

RULES = (CLOSED, KEPT, WATCHED, PARAMETERS)

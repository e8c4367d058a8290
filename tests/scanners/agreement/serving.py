"""Databases and load balancers."""

from __future__ import annotations

from typing import Any, Final

from policies.resources import tokens
from policies.resources.access import UNKNOWN
from tests.policies.fixtures.build import Fixture, FixtureResource
from tests.scanners.agreement.spelling import UNREVIEWED, Spelling, by_pack, changed, of

_KEY: Final = "arn:aws:kms:us-east-1:111122223333:key/0d0c4a1e-7d5c-4a10-9f5d-7a8f0f1f6a11"
_DATABASE: Final = of(
    tokens.DATABASE,
    {
        "engine": "postgres",
        "instanceClass": "db.m7g.large",
        "storageEncrypted": True,
        "kmsKeyId": _KEY,
        "publiclyAccessible": False,
        "manageMasterUserPassword": True,
        "iamDatabaseAuthenticationEnabled": True,
        "monitoringInterval": 60,
        "enabledCloudwatchLogsExports": ["postgresql"],
        "backupRetentionPeriod": 7,
        "multiAz": True,
        "autoMinorVersionUpgrade": True,
        "deletionProtection": True,
        "performanceInsightsEnabled": True,
        "performanceInsightsKmsKeyId": _KEY,
        "copyTagsToSnapshot": True,
    },
)
_CLUSTER: Final = of(
    tokens.DATABASE_CLUSTER, {"engine": "aurora-postgresql", "storageEncrypted": True, "backupRetentionPeriod": 7}
)
_MEMBER: Final = of(
    "aws:rds/clusterInstance:ClusterInstance",
    {
        "clusterIdentifier": "it",
        "engine": "aurora-postgresql",
        "instanceClass": "db.r7g.large",
        "publiclyAccessible": False,
        "monitoringInterval": 60,
        "autoMinorVersionUpgrade": True,
        "performanceInsightsEnabled": True,
        "performanceInsightsKmsKeyId": _KEY,
    },
)
_TLS: Final = {"name": "rds.force_ssl", "value": "1"}
_SLOW: Final = {"name": "log_min_duration_statement", "value": "1000"}


def _group(*parameters: dict[str, str]) -> Fixture:
    return {
        "database": of(tokens.DATABASE, _DATABASE.props, parameterGroupName="group"),
        "group": of(tokens.PARAMETER_GROUP, {"family": "postgres17", "parameters": list(parameters)}),
    }


_BALANCER: Final = of(
    tokens.LOAD_BALANCER,
    {
        "internal": True,
        "loadBalancerType": "application",
        "accessLogs": {"bucket": "slipway-logs", "enabled": True},
        "dropInvalidHeaderFields": True,
        "enableDeletionProtection": True,
        "desyncMitigationMode": "strictest",
    },
)
_NETWORK: Final = changed(changed(_BALANCER, "loadBalancerType", "network"), "enableCrossZoneLoadBalancing", True)
_FORWARD: Final = [{"type": "forward", "targetGroupArn": "arn:aws:elasticloadbalancing:us-east-1:111122223333:t"}]
_REDIRECT: Final = [{"type": "redirect", "redirect": {"port": "443", "protocol": "HTTPS", "statusCode": "HTTP_301"}}]
_MODERN: Final = "ELBSecurityPolicy-TLS13-1-2-2021-06"


def _listener(**props: Any) -> Fixture:
    listener = {"port": 443, "protocol": "HTTPS", "sslPolicy": _MODERN, "defaultActions": _FORWARD, **props}
    return {
        "balancer": _BALANCER,
        "listener": of(tokens.LISTENER, {key: one for key, one in listener.items() if one}, loadBalancerArn="balancer"),
    }


_PLAIN: Final = _listener(port=80, protocol="HTTP", sslPolicy=None)
_OLD: Final = ("ELBSecurityPolicy-2016-08", "ELBSecurityPolicy-TLS-1-1-2017-01", None)


def _targets(**props: Any) -> Fixture:
    health = {"enabled": True, "path": "/healthz", "protocol": "HTTPS"}
    return {"it": of(tokens.TARGET_GROUP, {"port": 443, "protocol": "HTTPS", "healthCheck": health, **props})}


def _forwarded(protocol: str, port: int) -> Fixture:
    """A target group with HTTP behind a listener."""
    props = {"port": port, "protocol": protocol, "loadBalancerArn": "arn:aws:elasticloadbalancing:us-east-1:1:b"}
    actions = [{"type": "forward", "targetGroupArn": UNKNOWN}]
    tls = {"sslPolicy": _MODERN} if protocol == "HTTPS" else {}
    return {
        "group": _targets(protocol="HTTP", port=80)["it"],
        "listener": FixtureResource(
            type=tokens.LISTENER,
            props={**props, **tls, "defaultActions": actions},
            takes={"defaultActions": ("group",)},
        ),
    }


_PUBLIC: Final = changed(_BALANCER, "internal", False)
_FILTERED: Final[Fixture] = {
    "balancer": _PUBLIC,
    "acl": of(
        tokens.WEB_ACL_ASSOCIATION, {"webAclArn": "arn:aws:wafv2:us-east-1:111122223333:a"}, resourceArn="balancer"
    ),
}
_ON_CLUSTERS: Final = {
    "CKV_AWS_17": ("publiclyAccessible", True),
    "CKV_AWS_118": ("monitoringInterval", 0),
    "CKV_AWS_226": ("autoMinorVersionUpgrade", False),
    "CKV_AWS_353": ("performanceInsightsEnabled", False),
}

SPELLINGS: Final = (
    Spelling(
        name="aws_db_instance",
        good={"it": _DATABASE},
        bad={
            **{
                one: {"it": changed(_DATABASE, key, value)}
                for one, (key, value) in {
                    "CKV_AWS_16": ("storageEncrypted", False),
                    "CKV_AWS_129": ("enabledCloudwatchLogsExports", []),
                    "CKV_AWS_133": ("backupRetentionPeriod", 0),
                    "CKV_AWS_157": ("multiAz", False),
                    "CKV_AWS_161": ("iamDatabaseAuthenticationEnabled", False),
                    "CKV_AWS_293": ("deletionProtection", False),
                    "CKV2_AWS_60": ("copyTagsToSnapshot", False),
                    **_ON_CLUSTERS,
                }.items()
            },
            "CKV_AWS_354": {"it": changed(_DATABASE, "performanceInsightsKmsKeyId")},
        },
    ),
    Spelling(
        name="aws_rds_cluster",
        good={"it": _CLUSTER},
        bad={"CKV_AWS_133": {"it": changed(_CLUSTER, "backupRetentionPeriod", 0)}},
    ),
    Spelling(
        name="aws_rds_cluster_instance",
        good={"it": _MEMBER},
        bad={
            **{one: {"it": changed(_MEMBER, key, value)} for one, (key, value) in _ON_CLUSTERS.items()},
            "CKV_AWS_354": {"it": changed(_MEMBER, "performanceInsightsKmsKeyId")},
        },
        good_differs=dict.fromkeys((*_ON_CLUSTERS, "CKV_AWS_354"), UNREVIEWED),
    ),
    Spelling(
        name="aws_db_parameter_group",
        good=_group(_TLS, _SLOW),
        bad={
            "CKV2_AWS_69": (_group(_SLOW), _group({**_TLS, "value": "0"}, _SLOW)),
            "CKV2_AWS_30": _group(_TLS),
        },
        bad_differs={"CKV2_AWS_30": by_pack("Checkov's conditions are joined by `or`: each instance passes")},
    ),
    Spelling(
        name="aws_db_instance without a parameter group",
        good=_group(_TLS, _SLOW),
        bad={"CKV2_AWS_69": {"it": _DATABASE}},
        bad_differs={"CKV2_AWS_69": by_pack("Checkov trusts the default group of the engine")},
    ),
    Spelling(
        name="aws_lb, application",
        good={"it": _BALANCER},
        bad={
            "CKV_AWS_91": (
                {"it": changed(_BALANCER, "accessLogs.enabled", False)},
                {"it": changed(_BALANCER, "accessLogs")},
            ),
            "CKV_AWS_131": (
                {"it": changed(_BALANCER, "dropInvalidHeaderFields", False)},
                {"it": changed(_BALANCER, "dropInvalidHeaderFields")},
            ),
            "CKV_AWS_150": {"it": changed(_BALANCER, "enableDeletionProtection", False)},
            "CKV_AWS_328": {"it": changed(_BALANCER, "desyncMitigationMode", "monitor")},
        },
    ),
    Spelling(
        name="aws_lb, network",
        good={"it": _NETWORK},
        bad={
            "CKV_AWS_91": {"it": changed(_NETWORK, "accessLogs")},
            "CKV_AWS_150": {"it": changed(_NETWORK, "enableDeletionProtection")},
            "CKV_AWS_152": (
                {"it": changed(_NETWORK, "enableCrossZoneLoadBalancing", False)},
                {"it": changed(_NETWORK, "enableCrossZoneLoadBalancing")},
            ),
        },
    ),
    Spelling(
        name="aws_lb_listener, HTTPS",
        good=_listener(),
        bad={
            "CKV_AWS_2": _PLAIN,
            "CKV_AWS_103": tuple(_listener(sslPolicy=one) for one in _OLD),
            "CKV2_AWS_20": _PLAIN,
            "CKV2_AWS_74": tuple(_listener(sslPolicy=one) for one in _OLD),
        },
    ),
    Spelling(
        name="aws_lb_listener, a redirect",
        good=_listener(port=80, protocol="HTTP", sslPolicy=None, defaultActions=_REDIRECT),
        bad={"CKV_AWS_2": _PLAIN, "CKV2_AWS_20": _PLAIN, "CKV_AWS_103": _PLAIN},
    ),
    Spelling(
        name="aws_lb_target_group",
        good=_targets(),
        bad={
            "CKV_AWS_261": _targets(healthCheck=None),
            "CKV_AWS_378": _targets(protocol="HTTP", port=80),
        },
    ),
    Spelling(
        name="aws_lb_listener, in front of aws_lb_target_group",
        good=_forwarded("HTTPS", 443),
        bad={"CKV_AWS_378": _forwarded("HTTP", 80)},
    ),
    Spelling(
        name="aws_wafv2_web_acl_association",
        good=_FILTERED,
        bad={"CKV2_AWS_28": {"balancer": _PUBLIC}},
    ),
    Spelling(
        name="aws_lb, internal",
        good={"balancer": _BALANCER},
        bad={"CKV2_AWS_28": {"balancer": _PUBLIC}},
    ),
)

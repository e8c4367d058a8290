"""Every identifier of Checkov that the pack covers, in each way to write what it asks for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.scanners.agreement import identities, objects, security_groups
from tests.scanners.agreement.spelling import Spelling, read

TABLE: Final[tuple[Spelling, ...]] = (
    *(spelling for module in (identities, security_groups, objects) for spelling in module.SPELLINGS),
    *(spelling for path in sorted(Path(__file__).parent.glob("*.yaml")) for spelling in read(path)),
)
"""Rows that are alike for many ports, documents or kinds are Python, all others YAML."""

LEFT_OUT: Final[Mapping[str, str]] = {
    "aws_alb": "the former name of aws_lb; nobody has reviewed it",
    "aws_alb_listener": "the former name of aws_lb_listener; nobody has reviewed it",
    "aws_alb_target_group": "the former name of aws_lb_target_group; nobody has reviewed it",
    "aws_db_security_group": "of EC2-Classic; the provider dropped it in version 5",
    "aws_elasticache_security_group": "of EC2-Classic; the provider dropped it in version 5",
    "aws_elb": "a classic load balancer; nobody has reviewed it",
    "aws_iam_policy_document": "a data source: the program has its result",
    "aws_redshift_security_group": "of EC2-Classic; the provider dropped it in version 5",
    "aws_transfer_server": "nobody has reviewed it",
    "aws_wafregional_web_acl_association": "of WAF Classic; nobody has reviewed it",
    "DeploymentConfig": "a kind of OpenShift",
    "PodTemplate": "no controller makes pods of it",
    "ReplicationController": "nobody has reviewed it",
}
"""Types that Checkov reads for some identifier and the table does not have, with the reason."""

ONE_IS_ENOUGH: Final[Mapping[str, str]] = {
    "CKV2_AWS_5": "every type that takes a security group counts, for the pack as well",
    "CKV2_K8S_6": "Checkov reports pods alone; the pack asks for a policy of each namespace of a team",
    "CKV_K8S_21": "the pack asks where pods run; an object without pods in the namespace default does nothing",
}
"""Identifiers for which the table need not have each type that Checkov reads."""

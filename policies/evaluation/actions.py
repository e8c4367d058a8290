"""Access levels of IAM actions, derived from their names: reads begin with one of a few verbs.

AWS's Service Authorization Reference lists the access level of every action. These verbs agree with it except for the
actions in `_WRITES`, so no copy of the table has to be maintained.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

_VERBS: Final = ("batchget", "check", "describe", "download", "estimate", "filter", "get", "head", "list", "lookup")
_MORE_VERBS: Final = ("preview", "query", "receive", "scan", "search", "select", "simulate", "test", "validate", "view")
_WRITES: Final = frozenset({"ec2:getconsolescreenshot", "sts:getfederationtoken"})
"""Named like reads, but with access level Write in AWS's table."""

EXFILTRATION: Final = (
    "s3:getobject*",
    "ssm:getparameter*",
    "secretsmanager:getsecretvalue",
    "secretsmanager:batchgetsecretvalue",
    "dynamodb:scan",
    "rds:downloaddblogfileportion",
)
"""Reading the data itself; salesforce/cloudsplaining 0.8, constants, READ_ONLY_DATA_EXFILTRATION_ACTIONS, and scans."""
CREDENTIALS: Final = (
    "sts:assumerole*",
    "sts:getfederationtoken",
    "sts:getsessiontoken",
    "iam:createaccesskey",
    "iam:createloginprofile",
    "iam:updateloginprofile",
    "iam:updateaccesskey",
    "iam:createservicespecificcredential",
    "iam:resetservicespecificcredential",
    "codeartifact:getauthorizationtoken",
    "lightsail:getinstanceaccessdetails",
    "rds-db:connect",
    "redshift:getclustercredentials",
    "chime:createapikey",
    "ecr:getlogin*",
)
"""Actions that return credentials; same source, ACTIONS_THAT_RETURN_CREDENTIALS. Without `ecr:GetAuthorizationToken`,
which supports no resources and grants no permission that the caller does not have."""
PERMISSIONS: Final = (
    "iam:add*",
    "iam:attach*",
    "iam:create*",
    "iam:delete*",
    "iam:detach*",
    "iam:passrole",
    "iam:put*",
    "iam:remove*",
    "iam:set*",
    "iam:update*",
    "kms:creategrant",
    "kms:putkeypolicy",
    "s3:*acl",
    "s3:*bucketpolicy",
    "sqs:addpermission",
    "sqs:setqueueattributes",
    "sns:addpermission",
    "lambda:addpermission",
    "ecr:setrepositorypolicy",
    "secretsmanager:putresourcepolicy",
    "organizations:*",
)
"""Access level "Permissions management" in AWS's table, for services that this platform uses."""
ESCALATION: Final = (
    "iam:createpolicyversion",
    "iam:setdefaultpolicyversion",
    "iam:createaccesskey",
    "iam:createloginprofile",
    "iam:updateloginprofile",
    "iam:attach*policy",
    "iam:put*policy",
    "iam:addusertogroup",
    "iam:updateassumerolepolicy",
    "iam:passrole",
)
"""Each of these, on every resource, allows privilege escalation (Rhino Security Labs, "AWS IAM Privilege Escalation
Methods"; PassRole is part of most pairs in it)."""
RESTRICTABLE: Final = (
    "acm:describecertificate",
    "dynamodb:*",
    "ec2:getsecuritygroupsforvpc",
    "ecr:batchgetimage",
    "ecr:getdownloadurlforlayer",
    "eks:describe*",
    "iam:getinstanceprofile",
    "iam:getpolicy*",
    "iam:getrole*",
    "kms:describekey",
    "lambda:getfunction*",
    "logs:filterlogevents",
    "logs:getlogevents",
    "s3:getbucket*",
    "s3:listbucket",
    "sns:gettopicattributes",
    "sqs:getqueue*",
    "sqs:receivemessage",
)
"""Reads that can be limited to a resource (Service Authorization Reference), for services that this platform uses."""


def reads(action: str) -> bool:
    """Whether an action, in lower case, only reads: `ec2:describe*` does, `ec2:*` does not."""
    verb = action.partition(":")[2]
    return action not in _WRITES and verb.startswith(_VERBS + _MORE_VERBS)


def among(action: str, patterns: tuple[str, ...]) -> bool:
    """Whether an action, which may be a pattern, matches or covers one of the patterns."""
    return any(fnmatchcase(action, pattern) or fnmatchcase(pattern.rstrip("*"), action) for pattern in patterns)

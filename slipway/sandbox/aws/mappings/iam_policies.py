"""Managed IAM policies and the OpenID Connect providers behind IRSA."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Call, Inputs, Item, ResourceMapping, Setting, Tags, find
from slipway.sandbox.aws.mappings.iam_roles import SERVICE

MAX_VERSIONS = 5
"""Maximum of versions of a policy; AWS refuses a sixth
(https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html, read 2026-11).
"""

_GET_POLICY = Call("get_policy", target={"PolicyArn": "{id}"}, item="Policy")


def _read_policy(aws: Aws, id: str, names: Inputs) -> Item | None:
    policy = find(aws, SERVICE, _GET_POLICY, {"id": id})
    if policy is None:
        return None
    version = aws.call(SERVICE, "get_policy_version", PolicyArn=id, VersionId=policy["DefaultVersionId"])
    return {**policy, "Policy": version["PolicyVersion"]["Document"]}


def _old_versions(aws: Aws, arn: str) -> list[str]:
    versions = aws.call(SERVICE, "list_policy_versions", PolicyArn=arn)["Versions"]
    old = [version for version in versions if not version["IsDefaultVersion"]]
    return [str(version["VersionId"]) for version in sorted(old, key=lambda version: version["CreateDate"])]


def _new_version(aws: Aws, id: str, inputs: Inputs) -> None:
    old = _old_versions(aws, id)
    if len(old) + 1 >= MAX_VERSIONS:
        aws.call(SERVICE, "delete_policy_version", PolicyArn=id, VersionId=old[0])
    create = Call("create_policy_version", {"PolicyArn": id}, {"SetAsDefault": True}, {"policy": "PolicyDocument"})
    create(aws, SERVICE, {"policy": inputs["policy"]}, {})


def _delete_policy(aws: Aws, id: str, inputs: Inputs) -> None:
    for version in _old_versions(aws, id):
        aws.call(SERVICE, "delete_policy_version", PolicyArn=id, VersionId=version)
    aws.call(SERVICE, "delete_policy", PolicyArn=id)


POLICY = ResourceMapping(
    "aws:iam/policy:Policy",
    SERVICE,
    create=Call(
        "create_policy",
        rename={"name": "PolicyName", "policy": "PolicyDocument"},
        omit=frozenset({"namePrefix", "delayAfterPolicyCreationInMs"}),
    ),
    id="Policy.Arn",
    read=_read_policy,
    delete=_delete_policy,
    force_new=frozenset({"name", "namePrefix", "path", "description"}),
    settings=(Setting(("policy",), _new_version, at_create=False),),
    tags=Tags("tag_policy", "untag_policy", {"PolicyArn": "{id}"}),
    name_limit=128,
    from_item={"name": "PolicyName"},
    drift=("policy",),
)

OIDC_PROVIDER = ResourceMapping(
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
    SERVICE,
    create=Call("create_open_id_connect_provider"),
    id="OpenIDConnectProviderArn",
    read=Call("get_open_id_connect_provider", target={"OpenIDConnectProviderArn": "{id}"}),
    delete=Call("delete_open_id_connect_provider", target={"OpenIDConnectProviderArn": "{id}"}),
    force_new=frozenset({"url"}),
    settings=(
        Setting(
            ("thumbprintLists",),
            Call("update_open_id_connect_provider_thumbprint", target={"OpenIDConnectProviderArn": "{id}"}),
            at_create=False,
        ),
    ),
    tags=Tags("tag_open_id_connect_provider", "untag_open_id_connect_provider", {"OpenIDConnectProviderArn": "{id}"}),
    computed={"arn": "{id}"},
    drift=("thumbprintLists",),
)

MAPPINGS = (POLICY, OIDC_PROVIDER)

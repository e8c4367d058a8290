"""Launch templates: every change other than one of tags creates a new version."""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from dataclasses import replace

from slipway.sandbox.aws.client import Aws, AwsError
from slipway.sandbox.aws.mapping import ANY, Call, Inputs, Item, ResourceMapping, Setting, find
from slipway.sandbox.aws.mappings import ec2

_DESCRIBE = ec2.described("describe_launch_templates", "LaunchTemplateIds", "LaunchTemplates")
# Properties of the template that aren't part of a version's data.
_OUTSIDE = frozenset({"defaultVersion", "updateDefaultVersion"})
_RENAMED = {
    "name": "LaunchTemplateName", "description": "VersionDescription", "vpcSecurityGroupIds": "SecurityGroupIds",
}  # fmt: skip


def _new_version(aws: Aws, id: str, inputs: Inputs) -> None:
    data = {key: value for key, value in inputs.items() if key not in ("name", "namePrefix", "tags")}
    create = Call(
        "create_launch_template_version",
        {"LaunchTemplateId": "{id}"},
        rename=_RENAMED,
        omit=_OUTSIDE,
        wrap="LaunchTemplateData",
    )
    answer = create(aws, ec2.SERVICE, data, {"id": id})
    if inputs.get("updateDefaultVersion"):
        newest = str(answer["LaunchTemplateVersion"]["VersionNumber"])
        aws.call(ec2.SERVICE, "modify_launch_template", LaunchTemplateId=id, DefaultVersion=newest)


def in_use(aws: Aws, wanted: Inputs | None) -> Item | None:
    """The data of the version that a node group uses; None without a template.

    Raises AwsError if the template or its version does not exist.
    """
    if not wanted:
        return None
    key = {"LaunchTemplateId": wanted["id"]} if wanted.get("id") else {"LaunchTemplateName": wanted["name"]}
    versions = [str(wanted.get("version", "$Default"))]
    operation = "describe_launch_template_versions"
    answer = aws.call(ec2.SERVICE, operation, **key, Versions=versions)["LaunchTemplateVersions"]
    if not answer:
        code, msg = "InvalidLaunchTemplateId.VersionNotFound", f"launch template {wanted} has no version {versions[0]}"
        raise AwsError(operation, code, msg)
    data: Item = answer[0]["LaunchTemplateData"]
    return data


def _choose_default(aws: Aws, id: str, inputs: Inputs) -> None:
    if inputs.get("defaultVersion"):
        version = str(inputs["defaultVersion"])
        aws.call(ec2.SERVICE, "modify_launch_template", LaunchTemplateId=id, DefaultVersion=version)


def _read(aws: Aws, id: str, names: Inputs) -> Item | None:
    """The template with the data of its latest version, as the AWS provider reads it."""
    template = find(aws, ec2.SERVICE, _DESCRIBE, {"id": id})
    if template is None:
        return None
    versions = aws.call(ec2.SERVICE, "describe_launch_template_versions", LaunchTemplateId=id, Versions=["$Latest"])[
        "LaunchTemplateVersions"
    ]
    data = dict(versions[0]["LaunchTemplateData"]) if versions else {}
    data["VpcSecurityGroupIds"] = data.pop("SecurityGroupIds", None)
    return {**data, **template}


LAUNCH_TEMPLATE = ResourceMapping(
    "aws:ec2/launchTemplate:LaunchTemplate",
    ec2.SERVICE,
    create=Call("create_launch_template", rename=_RENAMED, omit=_OUTSIDE, wrap="LaunchTemplateData"),
    id="LaunchTemplate.LaunchTemplateId",
    read=_read,
    delete=ec2.by_id("delete_launch_template", "LaunchTemplateId"),
    force_new=frozenset({"name", "namePrefix"}),
    settings=(
        Setting((ANY,), _new_version, at_create=False, unless=_OUTSIDE),
        Setting(("defaultVersion",), _choose_default, at_create=False),
    ),
    # Moto describes a template with the tags that it was created with.
    tags=replace(
        ec2.tags("launch-template"),
        read=Call(
            "describe_tags", target={"Filters": [{"Name": "resource-id", "Values": ["{id}"]}]}, item="{Tags: Tags}"
        ),
    ),
    name_limit=128,
    from_item={
        "name": "LaunchTemplateName",
        "latestVersion": "LatestVersionNumber",
        "defaultVersion": "DefaultVersionNumber",
    },
    computed=ec2.arn("launch-template"),
    drift=("imageId", "instanceType", "userData", "vpcSecurityGroupIds"),
    volatile=("latestVersion", "defaultVersion"),
)

MAPPINGS = (LAUNCH_TEMPLATE,)

"""ECR repositories and their lifecycle policies."""

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Call, Inputs, ResourceMapping, Setting, Tags

SERVICE = "ecr"
_NAMED = {"repositoryName": "{id}"}


def _delete(aws: Aws, id: str, outputs: Inputs) -> None:
    force = outputs.get("forceDelete") in (True, "true")
    aws.call(SERVICE, "delete_repository", repositoryName=id, force=force)


REPOSITORY = ResourceMapping(
    "aws:ecr/repository:Repository",
    SERVICE,
    create=Call(
        "create_repository",
        rename={"name": "repositoryName", "encryptionConfigurations": "encryptionConfiguration"},
        omit=frozenset({"forceDelete"}),
    ),
    id="repository.repositoryName",
    read=Call("describe_repositories", target={"repositoryNames": ["{id}"]}, item="repositories[0]"),
    delete=_delete,
    force_new=frozenset({"encryptionConfigurations", "name"}),
    settings=(
        Setting(("imageTagMutability",), Call("put_image_tag_mutability", _NAMED), at_create=False),
        Setting(("imageScanningConfiguration",), Call("put_image_scanning_configuration", _NAMED), at_create=False),
    ),
    tags=Tags(
        "tag_resource",
        "untag_resource",
        {"resourceArn": "{arn}"},
        read=Call("list_tags_for_resource", target={"resourceArn": "{arn}"}, item="tags"),
    ),
    name_limit=256,
    from_item={"arn": "repositoryArn", "repositoryUrl": "repositoryUri", "name": "repositoryName"},
    defaults={"imageTagMutability": "MUTABLE", "imageScanningConfiguration": {"scanOnPush": False}},
    drift=("imageTagMutability", "imageScanningConfiguration"),
)

_PUT_POLICY = Call("put_lifecycle_policy", rename={"repository": "repositoryName", "policy": "lifecyclePolicyText"})

LIFECYCLE_POLICY = ResourceMapping(
    "aws:ecr/lifecyclePolicy:LifecyclePolicy",
    SERVICE,
    create=_PUT_POLICY,
    id="{repository}",
    read=Call("get_lifecycle_policy", target=_NAMED),
    delete=Call("delete_lifecycle_policy", target=_NAMED),
    force_new=frozenset({"repository"}),
    settings=(Setting(("policy", "repository"), _PUT_POLICY, at_create=False),),
    from_item={"repository": "repositoryName", "policy": "lifecyclePolicyText"},
    drift=("policy",),
)

MAPPINGS = (REPOSITORY, LIFECYCLE_POLICY)

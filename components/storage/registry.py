"""Image repositories with immutable tags, and pull-through caches of public registries.

Names are fixed, because image references contain them. Each begins with the cluster's name, so that environments of one
account don't conflict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from spec.catalog.regions import CACHES
from spec.settings.storage import Registry, Upstream

UPSTREAMS: Final[Mapping[Upstream, str]] = {Upstream(prefix): host for prefix, host in CACHES.items()}


@dataclass(frozen=True, kw_only=True)
class ImagesArgs:
    """Inputs of `Images`.

    Attributes:
        settings: Repositories, caches and retention of images.
        key_arn: KMS key of the images.
        cluster: Name of the cluster.
        protect: Protect repositories from deletion, and retain them when removed from the stack.
    """

    settings: Registry
    key_arn: pulumi.Input[str]
    cluster: str
    protect: bool


class Images(pulumi.ComponentResource):
    """Repositories and caches; `urls` are the repository URLs by name."""

    PULUMI_TYPE: Final = "slipway:storage:Images"

    urls: Mapping[str, pulumi.Output[str]]

    def __init__(self, name: str, args: ImagesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        self.urls = {key: self._repository(key) for key in sorted(set(args.settings.repositories))}
        for upstream, cache in sorted(args.settings.caches.items()):
            self._cache(upstream, cache.credentials_arn)
        self.register_outputs({})

    def _repository(self, key: str) -> pulumi.Output[str]:
        args = self._args
        repository = aws.ecr.Repository(
            f"{self._name}-{key}",
            name=f"{args.cluster}/{key}",
            image_tag_mutability="IMMUTABLE",
            image_scanning_configuration={"scan_on_push": True},
            encryption_configurations=[
                aws.ecr.RepositoryEncryptionConfigurationArgs(encryption_type="KMS", kms_key=args.key_arn)
            ],
            force_delete=False,
            opts=pulumi.ResourceOptions(parent=self, protect=args.protect, retain_on_delete=args.protect),
        )
        policy = expiry(untagged_days=args.settings.untagged_days, keep=args.settings.keep_images)
        aws.ecr.LifecyclePolicy(
            f"{self._name}-{key}-lifecycle", repository=repository.name, policy=policy, opts=self._child
        )
        return repository.repository_url

    def _cache(self, upstream: Upstream, credentials: str | None) -> None:
        """A pull-through cache rule, and the template of its repositories. Their tags are mutable, like upstream's."""
        prefix = f"{self._args.cluster}/{upstream}"
        template = aws.ecr.RepositoryCreationTemplate(
            f"{self._name}-cache-{upstream}-template",
            prefix=prefix,
            applied_fors=["PULL_THROUGH_CACHE"],
            description=f"Images of {UPSTREAMS[upstream]}",
            image_tag_mutability="MUTABLE",
            lifecycle_policy=expiry(cached_days=self._args.settings.cached_days),
            opts=self._child,
        )
        aws.ecr.PullThroughCacheRule(
            f"{self._name}-cache-{upstream}",
            ecr_repository_prefix=prefix,
            upstream_registry_url=UPSTREAMS[upstream],
            credential_arn=credentials,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[template]),
        )


def expiry(*, untagged_days: int | None = None, keep: int | None = None, cached_days: int | None = None) -> str:
    """A lifecycle policy; the rule for any image is last, as ECR requires (ECR User Guide, "Lifecycle policy properties
    in Amazon ECR", `rulePriority`; read 2026-11)."""
    rules: list[dict[str, Any]] = []
    if untagged_days is not None:
        rules.append({"tagStatus": "untagged", **_older(untagged_days)})
    if cached_days is not None:
        rules.append({"tagStatus": "any", **_older(cached_days)})
    if keep is not None:
        rules.append({"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": keep})
    numbered = [
        {"rulePriority": number, "selection": rule, "action": {"type": "expire"}}
        for number, rule in enumerate(rules, start=1)
    ]
    return json.dumps({"rules": numbered}, sort_keys=True)


def _older(days: int) -> dict[str, Any]:
    return {"countType": "sinceImagePushed", "countUnit": "days", "countNumber": days}

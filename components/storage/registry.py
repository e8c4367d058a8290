"""Image repositories whose tags never move, and caches of public registries.

Names are fixed, because images are named by them; the cluster's name begins each, so that two environments of one
account do not meet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from spec.settings.registry import Registry, Upstream

UPSTREAMS: Final[Mapping[Upstream, str]] = {
    Upstream.ECR_PUBLIC: "public.ecr.aws",
    Upstream.K8S: "registry.k8s.io",
    Upstream.QUAY: "quay.io",
    Upstream.DOCKER_HUB: "registry-1.docker.io",
    Upstream.GITHUB: "ghcr.io",
    Upstream.GITLAB: "registry.gitlab.com",
}


@dataclass(frozen=True, kw_only=True)
class ImagesArgs:
    """Inputs of the repositories.

    Attributes:
        settings: Which there are, and how long images stay.
        key_arn: Key of the images.
        cluster: Name of the cluster.
        protect: Refuse to remove repositories, and keep them when the stack forgets them.
    """

    settings: Registry
    key_arn: pulumi.Input[str]
    cluster: str
    protect: bool


class Images(pulumi.ComponentResource):
    """Repositories and caches; `urls` are the repositories' addresses by name."""

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
        """A rule, and what the repositories are like that ECR makes by it. Upstream's tags move, so these do."""
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
    """A lifecycle policy; the rule for any image comes last, as ECR wants it (ECR User Guide, "Lifecycle policy
    properties in Amazon ECR", `rulePriority`; read 2026-11)."""
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

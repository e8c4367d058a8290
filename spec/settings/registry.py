"""Settings of image repositories (ECR), and of caches of public registries."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from spec.settings.base import Model, Name
from spec.settings.patterns import pattern


class Upstream(StrEnum):
    """Upstream registries, by the prefix of their cached images: those that ECR can cache (botocore 1.44.5, ecr
    `UpstreamRegistry`), except other ECR, Azure and Chainguard registries. ECR can't cache NVIDIA's `nvcr.io`."""

    ECR_PUBLIC = "ecr-public"
    """`public.ecr.aws`."""
    K8S = "k8s"
    """`registry.k8s.io`."""
    QUAY = "quay"
    """`quay.io`."""
    DOCKER_HUB = "docker-hub"
    """`registry-1.docker.io`; needs credentials."""
    GITHUB = "github"
    """`ghcr.io`; needs credentials."""
    GITLAB = "gitlab"
    """`registry.gitlab.com`; needs credentials."""


class Cache(Model):
    """A pull-through cache of one registry."""

    credentials_arn: (
        Annotated[
            str,
            pattern(
                r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:ecr-pullthroughcache/[A-Za-z0-9_/+=.@-]+$",
                rule="the credentials must be the ARN of a secret whose name begins with ecr-pullthroughcache/",
                fix="Create the secret under such a name, and use its ARN.",
                max_length=612,
            ),
        ]
        | None
    ) = None
    """ARN of a secret with `username` and `accessToken`, created outside the stack, in its account and region; ECR
    requires the prefix `ecr-pullthroughcache/` in its name (botocore 1.44.5, ecr `CredentialArn`)."""


class Registry(Model):
    """Image repositories, named `<cluster>/<name>`, and pull-through caches, named `<cluster>/<upstream>`."""

    repositories: tuple[Name, ...] = ()
    """Repositories; their tags are immutable."""
    keep_images: Annotated[int, Field(ge=1, le=1000)] = 100
    """Images that each repository keeps; the oldest expire."""
    untagged_days: Annotated[int, Field(ge=1, le=365)] = 7
    """Days after which an untagged image expires."""
    caches: dict[Upstream, Cache] = Field(default_factory=dict)
    """Pull-through caches of public registries, by upstream."""
    cached_days: Annotated[int, Field(ge=1, le=365)] = 30
    """Days after which a cached image expires; the next pull fetches it again."""

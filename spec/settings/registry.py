"""Settings of image repositories (ECR), and of caches of public registries."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from spec.settings.base import Model, Name


class Upstream(StrEnum):
    """Registries that ECR can cache, by the name that their images get here (botocore 1.44.5, ecr `UpstreamRegistry`),
    but for other registries of ECR, Azure's and Chainguard's. NVIDIA's `nvcr.io` is not among them."""

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
    """A cache of one registry."""

    credentials_arn: (
        Annotated[
            str,
            StringConstraints(
                pattern=r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:ecr-pullthroughcache/[A-Za-z0-9_/+=.@-]+$",
                max_length=612,
            ),
        ]
        | None
    ) = None
    """Secret with `username` and `accessToken`, made outside the stack, in its account and region; ECR wants its name
    to begin so (botocore 1.44.5, ecr `CredentialArn`)."""


class Registry(Model):
    """Image repositories of the environment, named `<cluster>/<name>`, and caches, named `<cluster>/<upstream>`."""

    repositories: tuple[Name, ...] = ()
    """Repositories; a tag, once pushed, never moves."""
    keep_images: Annotated[int, Field(ge=1, le=1000)] = 100
    """Images that each repository keeps; the oldest go."""
    untagged_days: Annotated[int, Field(ge=1, le=365)] = 7
    """Days after which an image without a tag goes."""
    caches: dict[Upstream, Cache] = Field(default_factory=dict)
    """Caches of public registries, by upstream."""
    cached_days: Annotated[int, Field(ge=1, le=365)] = 30
    """Days after which a cached image goes; it is fetched again when it is asked for."""

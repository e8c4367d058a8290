"""The platform as a component of a Pulumi package, for programs of other projects and languages.

Pulumi infers the package's schema from the annotations and docstrings here (pulumi.provider.experimental), and serves
the component over its plugin protocol: `package/PulumiPlugin.yaml`. It reads annotations as they are, so this module
has no `from __future__ import annotations`, which would make text of them.
"""

from collections.abc import Mapping
from typing import Any, Final, TypedDict

import pulumi
from pulumi.provider.experimental import component_provider_host

from infra.program import build
from spec.errors import SlipwayError
from spec.settings import load

NAME: Final = "slipway"
TOKEN: Final = f"{NAME}:index:Platform"


class PlatformArgs(TypedDict):
    """Inputs of a platform."""

    settings: dict[str, Any]
    """The settings of an environment: what a stack file has below `slipway:platform`. No output of another resource."""


class Platform(pulumi.ComponentResource):
    """A machine-learning platform on Amazon EKS."""

    cluster_name: pulumi.Output[str]
    """Name of the EKS cluster."""
    cluster_endpoint: pulumi.Output[str]
    """URL of its API server."""
    kubeconfig_command: pulumi.Output[str]
    """Command that adds the cluster to a kubeconfig."""
    vpc_id: pulumi.Output[str]
    """ID of the VPC."""
    buckets: pulumi.Output[dict[str, str]]
    """Names of the buckets by purpose."""

    def __init__(self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(TOKEN, name, {}, opts)
        data = whole(args["settings"])
        environment = data.get("environment") if isinstance(data, Mapping) else None
        stack = str(environment.get("name", "")) if isinstance(environment, Mapping) else ""
        try:
            settings = load(data, stack=stack)
        except SlipwayError as error:
            # RunError ends the program with its message and without a traceback.
            raise pulumi.RunError(str(error)) from None
        for warning in settings.warnings:
            pulumi.log.warn(str(warning), self)
        outputs = build(settings.platform, self)
        self.cluster_name = pulumi.Output.from_input(outputs["clusterName"])
        self.cluster_endpoint = pulumi.Output.from_input(outputs["clusterEndpoint"])
        self.kubeconfig_command = pulumi.Output.from_input(outputs["kubeconfigCommand"])
        self.vpc_id = pulumi.Output.from_input(outputs["vpcId"])
        self.buckets = pulumi.Output.from_input(outputs["buckets"])
        self.register_outputs(dict(outputs))


def whole(value: Any) -> Any:
    """The value with whole numbers as integers: the engine transports every number as a float."""
    if isinstance(value, Mapping):
        return {key: whole(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [whole(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def serve() -> None:
    """Serve the package until the engine ends it."""
    component_provider_host(name=NAME, components=[Platform])

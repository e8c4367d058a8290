"""A trivial program of so many resources: what a preview takes whatever is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NAME = "trivial"
PROGRAM = '''\
"""{size.components} components and {number} resources of one input each, none of which depends on another."""

import importlib

import pulumi
import pulumi_aws as aws
{imports}
for module in {modules!r}:
    # The SDK loads a module when an attribute of it is asked for.
    hasattr(importlib.import_module(module), "anything")

providers = [aws.Provider("aws", region="us-east-1", allowed_account_ids=["111122223333"]){providers}]


class Group(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("trivial:index:Group", name, None, pulumi.ResourceOptions(providers=providers))


groups = [Group(f"group-{{number}}") for number in range({size.components})]
for number in range({size.aws}):
    child = pulumi.ResourceOptions(parent=groups[number % {size.components}])
    aws.mediapackage.Channel(f"channel-{{number}}", channel_id=f"channel-{{number}}", opts=child)
for number in range({size.kubernetes}):
    child = pulumi.ResourceOptions(parent=groups[number % {size.components}])
    name = f"map-{{number}}"
    kubernetes.apiextensions.CustomResource(
        name, api_version="v1", kind="ConfigMap", metadata={{"name": name, "namespace": "default"}}, opts=child
    )
'''
"""A channel is a record in the sandbox and has one required input; its module is among the smallest of pulumi-aws. A
ConfigMap is the smallest object of Kubernetes, by the class with which the platform makes nearly all of its own."""


@dataclass(frozen=True)
class Size:
    """How many of what: components without the stack itself, resources without the providers."""

    components: int
    aws: int
    kubernetes: int = 0

    @property
    def without_kubernetes(self) -> Size:
        """As many resources, all of them of AWS; one more replaces the second provider."""
        return Size(self.components, self.aws + self.kubernetes + 1)


def write(directory: Path, size: Size, modules: Sequence[str] = ()) -> Path:
    """Write the project.

    Args:
        directory: Where; it is made.
        size: How many resources.
        modules: What it imports beyond what it needs.
    """
    directory.mkdir(parents=True)
    (directory / "Pulumi.yaml").write_text(f"name: {NAME}\nruntime: python\n", encoding="utf-8")
    program = PROGRAM.format(
        size=size,
        number=size.aws + size.kubernetes,
        modules=list(modules),
        imports="import pulumi_kubernetes as kubernetes\n" if size.kubernetes else "",
        providers=', kubernetes.Provider("kubernetes", kubeconfig="")' if size.kubernetes else "",
    )
    (directory / "__main__.py").write_text(program, encoding="utf-8")
    return directory

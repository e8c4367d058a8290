"""The least that a program of so many resources can be: what a preview costs whatever is in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

NAME = "trivial"
PROGRAM = '''\
"""{components} components and {resources} resources: one provider, one type with one input, no needs among them."""

import importlib

import pulumi
import pulumi_aws as aws

for module in {modules!r}:
    # The SDK loads a module when an attribute of it is asked for.
    hasattr(importlib.import_module(module), "anything")

provider = aws.Provider("aws", region="us-east-1", allowed_account_ids=["111122223333"])


class Group(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("trivial:index:Group", name, None, pulumi.ResourceOptions(providers=[provider]))


groups = [Group(f"group-{{number}}") for number in range({components})]
for number in range({resources}):
    child = pulumi.ResourceOptions(parent=groups[number % {components}])
    aws.mediapackage.Channel(f"channel-{{number}}", channel_id=f"channel-{{number}}", opts=child)
'''
"""A channel is a record in the sandbox and has one required input; its module is among the smallest of pulumi-aws."""


def write(directory: Path, *, components: int, resources: int, modules: Sequence[str] = ()) -> Path:
    """Write the project.

    Args:
        directory: Where; it is made.
        components: Components, without the stack itself.
        resources: Resources of providers, without the provider itself.
        modules: What it imports without any need.
    """
    directory.mkdir(parents=True)
    (directory / "Pulumi.yaml").write_text(f"name: {NAME}\nruntime: python\n", encoding="utf-8")
    program = PROGRAM.format(components=components, resources=resources, modules=list(modules))
    (directory / "__main__.py").write_text(program, encoding="utf-8")
    return directory

"""What a program of workloads begins with: which platform, which namespace, which cluster.

    from components.workloads import connect

    build(*connect())

The platform is read from its stack file, which says everything that workloads must agree with and is checked as it is
read. The cluster is the one of that name in the kubeconfig: `slipway sandbox env` sets it for the sandbox,
`aws eks update-kubeconfig --name NAME --alias NAME` on AWS.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pulumi
import pulumi_kubernetes as kubernetes

from components.workloads.target import Target
from spec.settings import ConfigurationError

STACKS: Final = Path("../../stacks")
"""Folder of the stack files, seen from the folder of a program."""


def connect() -> tuple[Target, pulumi.ResourceOptions]:
    """The target and the options with its provider, by the configuration of the running program.

    Keys, all optional but `namespace`: `platform`, the stack of the platform (the program's own stack where not given);
    `namespace`; `stacks`, the folder of the stack files.

    Raises:
        pulumi.RunError: For a stack file or namespace that is refused.
    """
    config = pulumi.Config()
    stack = config.get("platform") or pulumi.get_stack()
    folder = Path(config.get("stacks") or STACKS)
    try:
        target = Target.from_stack_file(stack, folder.resolve(), namespace=config.require("namespace"))
    except ConfigurationError as error:
        raise pulumi.RunError(str(error)) from None
    provider = kubernetes.Provider("platform", kubeconfig=kubeconfig(), context=target.cluster)
    return target, pulumi.ResourceOptions(providers=[provider])


def kubeconfig() -> str:
    """Path of the kubeconfig, the first where the variable names several."""
    first = os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
    return first or str(Path.home() / ".kube" / "config")

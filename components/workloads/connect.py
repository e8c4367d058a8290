"""Entry point of a program with workloads: selects platform, namespace and cluster.

    from components.workloads import connect

    build(*connect())

The platform's settings come from its stack file, which is validated. The cluster is the kubeconfig context with the
cluster's name: `slipway sandbox env` sets it for the sandbox, `aws eks update-kubeconfig --name NAME --alias NAME` on
AWS.
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
"""Folder of the stack files, relative to the folder of an example program."""


def connect() -> tuple[Target, pulumi.ResourceOptions]:
    """The target and the resource options with its provider, from the configuration of the running program.

    Keys, all optional but `namespace`: `platform`, the stack of the platform (by default the program's own stack);
    `namespace`; `stacks`, the folder of the stack files.

    Raises:
        pulumi.RunError: For an invalid stack file or namespace.
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
    """Path of the kubeconfig; the first one if the variable lists several."""
    first = os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
    return first or str(Path.home() / ".kube" / "config")

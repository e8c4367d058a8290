"""The binaries that the sandbox runs (pulumi, kube-apiserver, etcd, helm): finding them, and making them when absent.

    find("pulumi")     the binary if this machine has it, else None; never installs or builds
    ensure("pulumi")   the binary, installed or built first if need be

Which versions, and the ways to come by each tool, are in `tools`.
"""

from slipway.errors import ToolError
from slipway.toolchain.ensure import ensure
from slipway.toolchain.locate import find

__all__ = ["ToolError", "ensure", "find"]

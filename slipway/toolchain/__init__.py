"""The binaries that the sandbox runs (pulumi, kube-apiserver, etcd, helm): finds them, installs or builds missing ones.

    find("pulumi")     the binary if this machine has it, else None; never installs or builds
    ensure("pulumi")   the binary, installed or built first if it is missing

The versions, and the ways to obtain each tool, are in `tools`.
"""

from slipway.errors import ToolError
from slipway.toolchain.ensure import ensure
from slipway.toolchain.locate import find

__all__ = ["ToolError", "ensure", "find"]

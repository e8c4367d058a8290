"""The binaries that the sandbox runs (pulumi, kube-apiserver, etcd, helm): finds them, installs or builds missing ones.

    find("pulumi")     the binary if this machine has it, else None; never installs or builds
    ensure("pulumi")   the binary, installed or built first if it is missing

The versions, and the ways to obtain each tool, are in `tools`.
"""

from sandbox.errors import ToolError
from sandbox.toolchain.locate import find
from sandbox.toolchain.obtain import ensure

__all__ = ["ToolError", "ensure", "find"]

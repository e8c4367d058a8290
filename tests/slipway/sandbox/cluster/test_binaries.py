from __future__ import annotations

import pytest

from slipway import toolchain
from slipway.errors import SandboxError
from slipway.sandbox.cluster import binaries


def test_a_missing_tool_is_reported_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find", lambda name: None)
    with pytest.raises(SandboxError, match=r"needs kube-apiserver, which is not on this machine.*make tools"):
        binaries.require("kube-apiserver")


def test_an_error_of_the_toolchain_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        msg = f"SLIPWAY_{name} names no program"
        raise toolchain.ToolError(msg)

    monkeypatch.setattr(toolchain, "find", refuse)
    with pytest.raises(SandboxError, match="SLIPWAY_etcd names no program"):
        binaries.require("etcd")

"""Numbers that pages name are those of the code."""

from __future__ import annotations

import re

from slipway.sandbox.aws.rows import ROWS
from slipway.toolchain.tools import KUBERNETES_VERSION
from tests.docs.pages import ROOT

SANDBOX = (ROOT / "docs" / "guides" / "sandbox.md").read_text(encoding="utf-8")


def test_the_types_in_moto_are_counted() -> None:
    assert set(re.findall(r"(\d+) (?:AWS )?types(?: live in|:)", SANDBOX)) == {str(len(ROWS))}


def test_the_version_of_the_api_server_is_that_of_the_toolchain() -> None:
    assert f"the API server is {KUBERNETES_VERSION} whatever" in SANDBOX

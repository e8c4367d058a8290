"""Runs Checkov over all Terraform documents in one process, because its start takes longer than its work."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tools import scanners


@dataclass(frozen=True, order=True)
class Verdict:
    """Result of one Checkov check for one resource.

    Attributes:
        check: ID of the check: `CKV_AWS_58`.
        name: Name of the resource without its type; Checkov 3.3 reports the type only for graph checks.
        passed: Whether the check passed.
    """

    check: str
    name: str
    passed: bool


def scan(documents: Mapping[str, Any], folder: Path) -> dict[str, frozenset[Verdict]]:
    """Verdicts by the name of the document.

    Skips the test if Checkov is not installed.
    """
    command = scanners.find("checkov")
    if command is None:
        pytest.skip("Checkov is not installed here: run `make scanners`")
    for name, content in documents.items():
        (folder / name).mkdir()
        (folder / name / "main.tf.json").write_text(json.dumps(content))
    # It fetches no guidelines, downloads no module and needs no platform key.
    arguments = ["--framework", "terraform", "terraform_json", "--output", "json", "--quiet", "--skip-download"]
    finished = subprocess.run(
        [command, "--directory", ".", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "LOG_LEVEL": "ERROR"},
    )
    assert finished.returncode in (0, 1), finished.stderr
    written = json.loads(finished.stdout)
    verdicts: dict[str, set[Verdict]] = {name: set() for name in documents}
    for report in written if isinstance(written, list) else [written]:
        for kind in ("passed_checks", "failed_checks"):
            for one in report.get("results", {}).get(kind, []):
                document = Path(one["file_path"]).parts[1]
                verdicts[document].add(
                    Verdict(one["check_id"], one["resource"].rpartition(".")[2], passed=kind == "passed_checks")
                )
    return {name: frozenset(those) for name, those in verdicts.items()}

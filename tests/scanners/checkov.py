"""Runs Checkov over Terraform documents, all in one process, since its start takes longer than its work."""

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
    """What Checkov says of one resource.

    Attributes:
        check: Id of the check: `CKV_AWS_58`.
        name: Name of the resource without its type, which Checkov 3.3 gives for its graph checks alone.
        passed: Whether nothing is wrong.
    """

    check: str
    name: str
    passed: bool


def scan(documents: Mapping[str, Any], folder: Path) -> dict[str, frozenset[Verdict]]:
    """Verdicts by the name of the document.

    Skips the test where Checkov is not installed.
    """
    command = scanners.find("checkov")
    if command is None:
        pytest.skip("Checkov is not installed here: run `make scanners`")
    for name, content in documents.items():
        (folder / name).mkdir()
        (folder / name / "main.tf.json").write_text(json.dumps(content))
    # No guidelines are fetched, no module is downloaded, and no key of a platform is asked for.
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
    found: dict[str, set[Verdict]] = {name: set() for name in documents}
    for report in written if isinstance(written, list) else [written]:
        for kind in ("passed_checks", "failed_checks"):
            for one in report.get("results", {}).get(kind, []):
                document = Path(one["file_path"]).parts[1]
                found[document].add(
                    Verdict(one["check_id"], one["resource"].rpartition(".")[2], passed=kind == "passed_checks")
                )
    return {name: frozenset(verdicts) for name, verdicts in found.items()}

"""Runs Checkov over all Terraform documents in one process, because its start takes longer than its work."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.scanners import hcl
from tools import scanners


@dataclass(frozen=True, order=True)
class Verdict:
    """Result of one Checkov check for one resource."""

    check: str  # ID of the check: `CKV_AWS_58`
    name: str  # name of the resource without its type; Checkov 3.3 reports the type only for graph checks
    passed: bool  # whether the check passed


def scan(documents: Mapping[str, Any], folder: Path) -> dict[str, frozenset[Verdict]]:
    """Verdicts by the name of the document: a document of Terraform, or a list of Kubernetes objects.

    Skips the test if Checkov is not installed.
    """
    command = scanners.find("checkov")
    if command is None:
        pytest.skip("Checkov is not installed here: run `make scanners`")
    for name, content in documents.items():
        (folder / name).mkdir()
        if isinstance(content, Mapping):
            (folder / name / "main.tf").write_text(hcl.text(content))
        else:
            (folder / name / "objects.yaml").write_text(yaml.safe_dump_all(content))
    # It fetches no guidelines, downloads no module and needs no platform key.
    arguments = ["--framework", "terraform", "kubernetes", "--output", "json", "--skip-download"]
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


_TYPES = """
import json, re
from pathlib import Path
import checkov
import checkov.kubernetes.checks.resource.k8s, checkov.terraform.checks.provider.aws
import checkov.terraform.checks.resource.aws
from checkov.kubernetes.checks.resource.registry import registry as objects
from checkov.terraform.checks.provider.registry import provider_registry as providers
from checkov.terraform.checks.resource.registry import resource_registry as resources
types = {}
for kinds in (objects.checks, providers.checks, resources.checks):
    for kind, checks in kinds.items():
        for check in checks:
            types.setdefault(check.id, set()).add(kind)
for path in Path(checkov.__file__).parent.glob("*/checks/graph_checks/**/*.json"):
    text = path.read_text()
    words = set(re.findall(r'"(aws_[a-z0-9_]+|Role|ClusterRole|RoleBinding|ClusterRoleBinding|Pod|Deployment)"', text))
    types.setdefault(json.loads(text)["metadata"]["id"], set()).update(words)
read = {key: [kind for kind in kinds if not kind.startswith("kubernetes_")] for key, kinds in types.items()}
print(json.dumps(read))
"""


def types_by_id() -> dict[str, list[str]]:
    """By the ID of a check: types of Terraform's AWS provider and kinds of Kubernetes that it reads.

    Skips the test if Checkov is not installed.
    """
    python = scanners.find("python")
    if python is None:
        pytest.skip("Checkov is not installed here: run `make scanners`")
    finished = subprocess.run([python, "-c", _TYPES], capture_output=True, text=True, check=True, cwd=python.parent)
    types: dict[str, list[str]] = json.loads(finished.stdout.splitlines()[-1])
    return types

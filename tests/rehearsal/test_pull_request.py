"""Rehearsed pull requests: commits in a scratch repository, checked by the scripts that preview.yml runs."""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from slipway.report.markdown import marker
from spec.errors import EXIT_REFUSED, EXIT_STATEFUL
from tests.rehearsal.repository import STACK_FILE, Repository
from tests.slipway.report.test_make import advised, rehearsed
from tools.ci.comment import section

MONTH = 730
ONE_MORE_NODE = round(Decimal("0.92736") * MONTH + 100 * Decimal("0.08"), 2)
"""The largest type that pool cpu may choose (m7a.4xlarge, us-east-1, USD an hour), and its 100 GB volume of gp3."""
MORE_LUSTRE = 1200 * Decimal("0.14")
"""From 1200 to 2400 GiB of a SCRATCH_2 file system at USD 0.14 a GB and month."""

EXCUSE = """\
- rule: queues-encrypted/principal
  urn: "urn:pulumi:*::karpenter-queue"
  value: "x"
  reason: "It is needed for the release."
  owner: "ml-platform"
  until: 2027-06-30
- rule: queues-encrypted/key
"""
PUBLIC = {
    'principals={"Service": ["events.amazonaws.com"]}': 'principals={"AWS": ["*"]}',
    'conditions={"ArnLike": {"aws:SourceArn": [rules_arn]}},': "",
}


def test_the_expected_costs_are_the_sums_of_list_prices() -> None:
    assert (Decimal("684.97"), Decimal("168.00")) == (ONE_MORE_NODE, MORE_LUSTRE)


@pytest.mark.parametrize(
    ("file", "changes", "stacks"),
    [
        (STACK_FILE, {"max: 2": "max: 3"}, ["dev"]),
        ("stacks/Pulumi.prod.yaml", {"preset: cpu": "preset: cpu  "}, ["prod"]),
        ("components/base/outputs.py", {'"""\n': '"""\n\n'}, ["dev", "prod", "staging"]),
        ("tools/setup.sh", {"set -euo pipefail\n": "set -euo pipefail\n\n"}, ["dev", "prod", "staging"]),
        ("Makefile", {}, ["dev", "prod", "staging"]),
        (".github/CODEOWNERS", {}, ["dev", "prod", "staging"]),
        ("yaml.py", {}, ["dev", "prod", "staging"]),
        (".gitattributes", {}, ["dev", "prod", "staging"]),
        ("docs/new.md", {}, []),
        ("tests/new/test_it.py", {}, []),
        ("stacks/Pulumi.$(touch broken).yaml", {}, None),
    ],
)
def test_a_change_affects_the_stacks_that_use_the_file(
    repository: Repository, file: str, changes: dict[str, str], stacks: list[str] | None
) -> None:
    repository.pull_request(changes, file)
    done = repository.script("stacks.sh")
    if stacks is None:
        assert done.returncode == EXIT_REFUSED
        assert "a stack's name has lower-case letters" in done.stdout
        assert not (repository.root / "broken").exists()
    else:
        assert json.loads(done.stdout) == stacks


def test_an_unknown_base_is_an_error_and_not_an_empty_change(repository: Repository) -> None:
    done = repository.script("stacks.sh", "no-such-branch")
    assert done.returncode != 0
    assert "[" not in done.stdout


@pytest.mark.parametrize(
    ("file", "changes", "said"),
    [
        ("policies/suppressions.yaml", {"- rule: queues-encrypted/key\n": EXCUSE},
            "review: the change adds the suppression of queues-encrypted/principal"),
        ("policies/rules/message_queues.yaml", {"levels: M/M/M": "levels: -/-/-"},
            "review: the change changes enforcementLevel"),
        ("Makefile", {}, "review: the change changes Makefile"),
        ("components/network/flow_logs.py", {'f"log-group:{self._group_name}:*"': '"log-group:theirs:*"'},
            "mandatory program-as-given"),
        # A policy that a preview doesn't know.
        ("components/addons/karpenter.py", PUBLIC, "mandatory queues-encrypted"),
        (STACK_FILE, {"ml-research@example.com": "a@b.example"}, ""),
    ],
)  # fmt: skip
def test_the_pack_of_the_base_judges_a_change(
    repository: Repository, file: str, changes: dict[str, str], said: str
) -> None:
    repository.pull_request(changes, file)
    done = repository.run(".venv/bin/python", "-m", "slipway", "policies", "dev", "--against", "HEAD^1")
    assert said in done.stdout
    if not said:
        assert (done.returncode, "program-as-given" in done.stdout) == (0, False), done.stdout


def test_only_the_changed_pool_is_on_the_page_and_in_the_comment(repository: Repository, tmp_path: Path) -> None:
    repository.pull_request({"cpu, max: 2": "cpu, max: 3"})
    done = repository.script("page.sh", "dev", str(tmp_path))
    assert done.returncode == 0, done.stdout
    comment = (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith(f"{marker('dev')}\n")
    assert "Resources: 1 to update" in comment
    (kind,) = re.findall(r"^\| Kind \| update \|\n\|---\|--:\|\n((?:\|.*\n)+)", comment, re.MULTILINE)
    assert re.fullmatch(r"\| .*\bNodePool\b.* \| 1 \|\n", kind)
    # The only pool line is that of the changed pool, whose maximum has one more node.
    assert set(re.findall(r"^\| pool ([\w-]+)", comment, re.MULTILINE)) == {"cpu"}
    assert f"+${ONE_MORE_NODE}" in comment
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "pool-cpu-node-pool" in page
    # comment.yml changes nothing but the first line.
    assert section("dev", comment).split() == comment.removeprefix(marker("dev")).split()


def test_scenarios_and_advice_are_in_the_comment(repository: Repository, tmp_path: Path) -> None:
    repository.pull_request({"cpu, max: 2": "cpu, max: 3"})
    for name, content in (
        ("scenarios/rehearsal.json", rehearsed(True, False)),
        ("advice.json", advised(advised=True)),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    done = repository.script("page.sh", "dev", str(tmp_path))
    assert done.returncode == 0, done.stdout
    comment = (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert "**Scenarios: 1 of 2 scenarios and bad variants as expected**" in comment
    assert "What saves most, by replays of the generator" in comment


@pytest.mark.parametrize(("max_", "code"), [("3", 0), ("-2", 0)])
def test_a_stack_without_scenarios_and_queues_has_neither(
    repository: Repository, tmp_path: Path, max_: str, code: int
) -> None:
    repository.pull_request({"cpu, max: 2": f"cpu, max: {max_}"})
    done = repository.script("scenarios.sh", "dev", str(tmp_path))
    assert done.returncode == code, done.stdout
    assert not (tmp_path / "advice.json").exists()
    assert (tmp_path / "scenarios" / "rehearsal.json").exists() == (max_ == "3")


def test_the_cost_of_a_larger_file_system_is_exact(repository: Repository) -> None:
    repository.pull_request({"SCRATCH_2}": "SCRATCH_2, storageCapacity: 2400}"})
    done = repository.run(".venv/bin/python", "-m", "slipway", "cost", "dev", "--against", "HEAD^1")
    (difference,) = [line.split() for line in done.stdout.splitlines() if line.startswith("difference")]
    assert difference[1:] == [f"+{MORE_LUSTRE}"] * 3


def test_refused_settings_are_reported_in_the_comment(repository: Repository, tmp_path: Path) -> None:
    repository.pull_request({"cpu, max: 2": "cpu, max: -2"})
    done = repository.script("page.sh", "dev", str(tmp_path))
    assert done.returncode == EXIT_REFUSED
    comment = (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith(f"{marker('dev')}\n")
    assert "pools.cpu.max" in comment


def test_stack_files_are_judged_by_the_code_of_the_base_and_links_are_not_followed(
    repository: Repository, tmp_path: Path
) -> None:
    repository.pull_request({"cpu, max: 2": "cpu, max: -2"})
    repository.git("checkout", "--quiet", "main")
    for change, said in (("merge", "pools.cpu.max"), ("link", "a stack file is a map")):
        if change == "link":
            repository.pull_request({}, link="/etc/hostname")
            repository.git("checkout", "--quiet", "main")
        done = repository.script("judge.sh", "change", str(tmp_path / change))
        assert done.returncode == 0, done.stdout
        text = (tmp_path / change / "judged.md").read_text(encoding="utf-8")
        assert "### Stack dev, by the code of the default branch\n\n**Refused**" in text
        assert said in text
        repository.git("checkout", "--quiet", "--force", "main")


@pytest.mark.sandbox
def test_the_gate_refuses_a_change_of_an_immutable_field(repository: Repository, tmp_path: Path) -> None:
    repository.pull_request({"SCRATCH_2": "PERSISTENT_2"})
    (tmp_path / "comment.md").write_text("the report\n")
    done = repository.script("rehearse.sh", "dev", str(tmp_path))
    assert done.returncode == EXIT_STATEFUL, done.stdout
    urn = next(line for line in done.stdout.splitlines() if line.startswith("  - replace ")).rpartition(" ")[2]
    assert urn.endswith("aws:fsx/lustreFileSystem:LustreFileSystem::storage-lustre-files")
    comment = (tmp_path / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith("the report\n\n### Rehearsal\n")
    assert "- **The gate refuses it.**" in comment
    assert "loses: every file on it" in comment
    assert """deploymentType can't be changed in place: "SCRATCH_2" -> "PERSISTENT_2\"""" in comment
    assert f"--allow-replace '{urn}'" in comment
    # Nothing else would be lost, and the sandbox was stopped.
    assert comment.count("  - replace urn:") == 1
    status = repository.run(
        ".venv/bin/python", "-m", "slipway", "sandbox", "status",
        environment={"SLIPWAY_SANDBOX_HOME": str(repository.root / "build" / "ci" / "sandbox")},
    )  # fmt: skip
    assert status.returncode == 1, status.stdout

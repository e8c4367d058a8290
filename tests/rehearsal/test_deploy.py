"""How deploy.yml and drift.yml call the engine, with a fake engine that records its calls."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from spec.errors import EXIT_REFUSED
from tests.rehearsal.repository import Repository

LOST = "urn:pulumi:dev::slipway::aws:efs/fileSystem:FileSystem::files"
DRIFT = 7
"""ExitNoChanges of the engine (pulumi v3.258.0, sdk/go/common/util/cmdutil/exit.go)."""
ENGINE = """\
#!/bin/sh
[ "$1" = version ] && echo v3.258.0 && exit
[ "$1 $2" = "stack export" ] && echo '{state}' && exit
printf '%s\\n' "$*" >>{log}
printf '\\033[33m~\\033[0m a subnet\\n~~~~~\\n'
exit {code}
"""


class Engine:
    """A `pulumi` that ends with a code; `calls` has the arguments of each call."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "bin" / "pulumi"
        self.path.parent.mkdir()
        self.log = folder / "calls"
        self.ends_with(0)

    def ends_with(self, code: int) -> None:
        existing = {"urn": LOST, "type": "aws:efs/fileSystem:FileSystem", "custom": True, "id": "fs-1"}
        state = json.dumps({"version": 3, "deployment": {"resources": [existing]}})
        self.path.write_text(ENGINE.format(state=state, log=self.log, code=code))
        self.path.chmod(0o755)

    @property
    def environment(self) -> Mapping[str, str]:
        return {"SLIPWAY_PULUMI": str(self.path)}

    @property
    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


def test_a_plan_shows_the_difference_with_the_policy_pack(repository: Repository, engine: Engine) -> None:
    done = repository.script("deploy.sh", "plan", "dev", environment=engine.environment)
    assert done.returncode == 0, done.stdout
    (call,) = engine.calls
    assert call.startswith("preview --stack dev --refresh --policy-pack policies --diff --non-interactive")


def test_a_deployment_is_previewed_before_the_update(repository: Repository, engine: Engine) -> None:
    done = repository.script("deploy.sh", "up", "dev", environment=engine.environment)
    assert done.returncode == 0, done.stdout
    assert [call.split()[0] for call in engine.calls] == ["preview", "up"]
    assert "--yes" in engine.calls[1]
    assert all("--policy-pack policies" in call for call in engine.calls)


@pytest.mark.parametrize("operation", ["plan", "up"])
def test_a_value_that_a_preview_does_not_know_is_judged_before_anything_is_made(
    repository: Repository, engine: Engine, operation: str
) -> None:
    """The policy of a queue has the ARN of the queue: the engine sees the policy once the queue exists."""
    change = {
        'principals={"Service": ["events.amazonaws.com"]}': 'principals={"AWS": ["*"]}',
        'conditions={"ArnLike": {"aws:SourceArn": [rules_arn]}},': "",
    }
    repository.pull_request(change, "components/addons/karpenter.py")
    done = repository.script("deploy.sh", operation, "dev", environment=engine.environment)
    assert done.returncode == 1, done.stdout
    assert "mandatory queues-encrypted/principal" in done.stdout
    assert engine.calls == []
    repository.git("checkout", "--quiet", "main")


def test_allowed_replacements_are_passed_on_one_by_one(repository: Repository, engine: Engine) -> None:
    allowed = {"ALLOW_REPLACE": f" {LOST}\n{LOST}-2 "}
    done = repository.script("deploy.sh", "plan", "dev", environment={**engine.environment, **allowed})
    assert done.returncode == 0, done.stdout
    assert f"unused --allow-replace {LOST}:" in done.stdout
    assert f"unused --allow-replace {LOST}-2:" in done.stdout


@pytest.mark.parametrize("arguments", [("plan", "$(id)"), ("plan", "../dev"), ("down", "dev"), ("plan",)])
def test_an_invalid_stack_or_operation_is_refused(
    repository: Repository, engine: Engine, arguments: tuple[str, ...]
) -> None:
    assert repository.script("deploy.sh", *arguments, environment=engine.environment).returncode == EXIT_REFUSED
    assert engine.calls == []


@pytest.mark.parametrize(("code", "verdict"), [(0, "same"), (DRIFT, "drift")])
def test_drift_is_detected_without_a_change(
    repository: Repository, engine: Engine, tmp_path: Path, code: int, verdict: str
) -> None:
    engine.ends_with(code)
    done = repository.script("drift.sh", "dev", str(tmp_path / "out"), environment=engine.environment)
    assert done.returncode == 0, done.stdout
    (call,) = engine.calls
    assert call == "refresh --stack dev --preview-only --expect-no-changes --diff --non-interactive"
    assert (tmp_path / "out" / "verdict").read_text() == f"{verdict}\n"
    text = tmp_path / "out" / "drift.md"
    assert text.exists() == (verdict == "drift")
    if text.exists():
        # Neither colors nor a code fence from the log.
        assert text.read_text().endswith("\n~~~~~text\n~ a subnet\n~ ~ ~\n~~~~~\n")


def test_a_failed_check_is_not_drift(repository: Repository, engine: Engine, tmp_path: Path) -> None:
    engine.ends_with(1)
    done = repository.script("drift.sh", "dev", str(tmp_path / "out"), environment=engine.environment)
    assert done.returncode == 1
    assert not (tmp_path / "out" / "verdict").exists()

"""The README's first summary is one that `slipway up` prints: each line has the shape of one that the code makes."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox.kubernetes.controllers.running import Entry, State
from sandbox.notes import BECAUSE, Note, NoteKind
from sandbox.toolchain import building
from slipway.account.capacity import vcpus_needed
from slipway.cli import coverage, summary
from slipway.cli.offline import Sandbox
from slipway.cli.pods import Pods
from slipway.engine.invocation import Operation
from slipway.engine.state import parse
from slipway.report import terminal
from slipway.report.plan import Plan, ResourceChange, Verb
from slipway.report.views import cost
from spec.catalog import quotas
from spec.pricing import estimate
from spec.settings import load, read_stack
from tests.deploy.policies import FILES, allowed
from tests.docs.pages import ROOT, prose
from tests.slipway.engine.fake import exported, resource
from tests.support.day import TODAY
from tests.support.stacks import platform_of
from tools.site.runs import first_builds

STACK = "dev"
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")


def shape(line: str) -> str:
    """A line without its numbers, names of subcharts, and the folder of the sandbox."""
    text = re.sub(r"missing: [^)]+", "missing: N", line)
    text = re.sub(r"kubeconfig: \S+", "kubeconfig: FILE", text)
    return re.sub(r"\d[\d,.]*(?<![,.])", "N", text)


def first_controllers() -> str:
    """What is said of the controllers after the first run on a machine that builds nothing else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "present", lambda: None)
        return summary.controllers([Entry("api-1", name, "1.0.0", State.BUILDING) for name in first_builds()])


def printed() -> Iterator[str]:
    """Lines of a summary of samples, made by the code that prints it."""
    platform = load(read_stack(STACK, ROOT / "stacks"), stack=STACK, today=TODAY).platform
    change = ResourceChange(
        urn=f"urn:pulumi:{STACK}::slipway::aws:s3/bucket:Bucket::it", type="aws:s3/bucket:Bucket", verb=Verb.CREATE
    )
    context = terminal.TerminalContext(
        stack=STACK, bill=cost.bill(platform, estimate(platform, TODAY), None), operation=Operation.UP, done=True
    )
    yield from terminal.text(Plan(changes=(change,)), context).splitlines()
    yield summary.served("1.35", "1.36.3")
    yield summary.pods(Pods(wanted=1, running=1, waiting=(), unreached=()))
    yield first_controllers()
    addon = resource("aws:eks/addon:Addon", "addon")
    release = resource("kubernetes:helm.sh/v3:Release", "kueue-release")
    other = resource("kubernetes:helm.sh/v3:Release", "monitoring-release")
    state = parse(exported(addon, release, other))
    notes = [
        Note(addon["urn"], NoteKind.RECORDED, "no chart"),
        Note(release["urn"], NoteKind.INSTALLED, "installed by Helm"),
        Note(other["urn"], NoteKind.CHECKED, f"checked{BECAUSE}its subcharts are missing: grafana"),
    ]
    yield from coverage.in_short(state, (), notes).splitlines()
    yield from summary.where(
        Sandbox(Path("/home"), {}, Path("/home/kubeconfig")), "slipway-dev", STACK, verbose=False
    ).splitlines()


def block() -> list[str]:
    """The lines of the README's summary."""
    found = next(each for each in re.findall(r"```text\n(.*?)```", README, re.DOTALL) if each.startswith("Stack dev"))
    return [line for line in found.splitlines() if line and line != "..."]


def test_every_line_of_the_readmes_summary_is_one_that_is_printed() -> None:
    shapes = {shape(line) for line in printed()}
    assert [line for line in block() if shape(line) not in shapes] == [], "run `make up`, and take the lines from there"
    assert "Pods: " in "".join(block())


def test_the_readmes_controllers_are_those_that_the_first_run_begins_to_build() -> None:
    """Each, and the minutes of the table of tools."""
    assert [line for line in block() if line.startswith("Controllers: ")] == [first_controllers()]


def test_the_readme_is_short_and_its_stack_file_is_accepted(tmp_path: Path) -> None:
    """600 words; one GPU pool and one team, in 15 lines."""
    assert len(prose(README).split()) <= 600
    (block,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    (tmp_path / f"Pulumi.{STACK}.yaml").write_text(block, encoding="utf-8")
    loaded = load(read_stack(STACK, tmp_path), stack=STACK, today=TODAY)
    assert (len(loaded.platform.pools), len(loaded.platform.teams), loaded.warnings) == (2, 1, ())
    assert len(block.splitlines()) <= 15


# The page of the first deployment agrees with the stack, the catalog, the policies and the command.


PAGE: Final = (ROOT / "docs/first-deployment.md").read_text(encoding="utf-8")
COMMANDS: Final = (ROOT / "docs/guides/commands.md").read_text(encoding="utf-8")


def test_quotas_are_those_that_dev_needs() -> None:
    needed, unlisted = vcpus_needed(platform_of("dev"))
    wanted = {quotas.VCPUS[key].code: sum(pools.values()) for key, pools in needed.items()}
    found = re.findall(r"--quota-code (\S+) --desired-value (\d+)", PAGE)
    assert unlisted == []
    assert {code: int(value) for code, value in found} == wanted


def test_the_table_lists_every_policy() -> None:
    assert set(re.findall(r"^\| `(\w+\.json)` \|", PAGE, re.MULTILINE)) == {path.name for path in FILES}


def test_the_account_and_the_state_have_the_names_that_the_policies_allow() -> None:
    (bucket,) = set(re.findall(r"--bucket (\S+)", PAGE))
    assert allowed("s3:PutObject", f"arn:aws:s3:::{bucket}/.pulumi/stacks/slipway/dev.json")
    assert f"pulumi login s3://{bucket}" in PAGE
    assert set(re.findall(r"\b\d{12}\b", PAGE)) == {platform_of("dev").account.id}
    aliases = set(re.findall(r"alias/[a-z*-]+", PAGE))
    assert aliases == {"alias/pulumi-dev", "alias/pulumi-*"}


def test_the_deployer_may_ask_what_doctor_asks() -> None:
    text = COMMANDS.partition("A question that your role may not ask")[2].partition("which `ReadOnlyAccess`")[0]
    named = re.findall(r"`([a-z0-9]+:[A-Za-z*]+)`", text)
    assert len(named) > 10
    assert [action for action in named if not allowed(action.replace("*", "Anything"))] == []


# The architecture page shows the layers that import-linter checks.


ARCHITECTURE = (ROOT / "docs/architecture.md").read_text()


def contracts() -> list[dict[str, Any]]:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return list(document["tool"]["importlinter"]["contracts"])


def layers(package: str) -> list[set[str]]:
    """Layers inside a package from the lowest, in the contract."""
    (contract,) = [one for one in contracts() if one.get("containers") == [package]]
    return [{name.strip() for name in layer.split("|")} for layer in reversed(contract["layers"])]


def on_page(package: str) -> list[set[str]]:
    """Layers inside a package from the lowest, on the page."""
    match = re.search(rf"- \*\*{package}\*\*: (.+?)(?=\n- |\n\n)", ARCHITECTURE, re.DOTALL)
    assert match, package
    text = match[1].replace("\\", "").replace("\n", " ")
    return [{name.strip() for name in layer.split("+")} for layer in text.split("<")]


@pytest.mark.parametrize("package", ["spec", "components", "policies", "sandbox", "slipway"])
def test_the_page_lists_the_layers_of_the_contract(package: str) -> None:
    assert on_page(package) == layers(package)


def test_every_file_of_the_walkthrough_exists() -> None:
    walk = ARCHITECTURE.partition("How one setting travels")[2]
    paths = re.findall(r"`((?:spec|components|policies|sandbox|slipway|stacks)/[\w./]*)`", walk)
    assert len(paths) >= 12
    assert [path for path in paths if not (ROOT / path).exists()] == []

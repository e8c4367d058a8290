"""The README's first summary is one that `slipway up` prints: each line has the shape of one that the code makes."""

import re
from collections.abc import Iterator
from pathlib import Path

from sandbox.kubernetes.controllers.running import Entry, State
from sandbox.kubernetes.controllers.table import CONTROLLERS
from sandbox.notes import BECAUSE, Note, NoteKind
from slipway.cli import coverage, summary
from slipway.cli.offline import Sandbox
from slipway.cli.pods import Pods
from slipway.engine.invocation import Operation
from slipway.engine.state import parse
from slipway.report import terminal
from slipway.report.plan import Plan, ResourceChange, Verb
from slipway.report.views import cost
from spec.pricing import estimate
from spec.settings import load, read_stack
from tests.docs.pages import ROOT
from tests.slipway.engine.fake import exported, resource
from tests.support.day import TODAY

STACK = "dev"


def shape(line: str) -> str:
    """A line without its numbers, names of controllers and subcharts, and the folder of the sandbox."""
    text = re.sub(r"(Controllers: ).*( running\.)", r"\1N\2", line)
    text = re.sub(r"missing: [^)]+", "missing: N", text)
    text = re.sub(r"kubeconfig: \S+", "kubeconfig: FILE", text)
    return re.sub(r"\d[\d,.]*(?<![,.])", "N", text)


def printed() -> Iterator[str]:
    """Lines of a summary of samples, made by the code that prints it."""
    platform = load(read_stack(STACK, ROOT / "stacks"), stack=STACK, today=TODAY).platform
    change = ResourceChange(
        urn=f"urn:pulumi:{STACK}::slipway::aws:s3/bucket:Bucket::it",
        type="aws:s3/bucket:Bucket",
        verb=Verb.CREATE,
    )
    context = terminal.Context(
        stack=STACK, bill=cost.bill(platform, estimate(platform, TODAY), None), operation=Operation.UP, done=True
    )
    yield from terminal.text(Plan(changes=(change,)), context).splitlines()
    yield summary.served("1.35", "1.36.3")
    yield summary.pods(Pods(wanted=1, running=1, waiting=(), unreached=()))
    yield summary.controllers([Entry("api-1", "kueue", "0.19.2", State.RUNNING)])
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
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = next(each for each in re.findall(r"```text\n(.*?)```", text, re.DOTALL) if each.startswith("Stack dev"))
    return [line for line in found.splitlines() if line and line != "..."]


def test_every_line_of_the_readmes_summary_is_one_that_is_printed() -> None:
    shapes = {shape(line) for line in printed()}
    assert [line for line in block() if shape(line) not in shapes] == [], "run `make up`, and take the lines from there"
    assert "Pods: " in "".join(block())


def test_the_readmes_controllers_run_in_the_sandbox() -> None:
    (line,) = (line for line in block() if line.startswith("Controllers: "))
    named = set(re.findall(r"([a-z-]+) \d", line))
    assert named
    assert named <= {each.name for each in CONTROLLERS}

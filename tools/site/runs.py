"""Generated parts of pages about runs of stack dev: how long they take, and what a preview prints."""

from pathlib import Path
from typing import Any

from sandbox.kubernetes.controllers.table import CONTROLLERS, served
from sandbox.toolchain import building
from slipway.cli.offline import REQUIRED
from slipway.cost.difference import difference
from slipway.engine.invocation import Operation
from slipway.render.layout import as_data
from slipway.render.program import record_platform
from slipway.report import terminal
from slipway.report.make import needs_of
from slipway.report.plan.compare import compare
from slipway.report.views import cost
from spec.pricing import estimate
from spec.settings import load, read_stack
from tests.support.day import TODAY
from tests.support.stacks import FOLDER, platform_of, recorded
from tools.lock import ROOT
from tools.site.pictures import RUN_MINUTES


def first_builds() -> list[str]:
    """The controllers that a first `make up` of stack dev builds, in their order."""
    charts = [each.inputs.plain for each in recorded("dev").of_type("kubernetes:helm.sh/v3:Release")]
    names = {name for each in charts for name in served(str(each["chart"]).rpartition("/")[2], each["version"])}
    return [each.name for each in CONTROLLERS if each.name in names]


def sample() -> str:
    """What a preview of stack dev shows after a change of one setting."""
    settings: Any = read_stack("dev", FOLDER)
    settings["pools"]["cpu"]["max"] += 2
    platform = load(settings, stack="dev", today=TODAY).platform
    before, after = recorded("dev"), record_platform(platform, stack="dev")
    plan = compare(map(as_data, before), map(as_data, after), needs_of(after), against="dev")
    price = estimate(platform, TODAY)
    context = terminal.TerminalContext(
        stack="dev", teams=platform.teams, pools=platform.pools, operation=Operation.PREVIEW,
        bill=cost.bill(platform, price, difference(estimate(platform_of("dev"), TODAY), price)),
    )  # fmt: skip
    return f"```text\n{terminal.text(plan, context)}\n```"


def runs() -> str:
    """What `make up` takes the first time and later, by the minutes in the table of tools."""
    queue = first_builds()
    once = building.about(building.minutes((*REQUIRED, "helm")) + RUN_MINUTES)
    return (
        f"The first `make up` takes {once}: Go builds what is missing of Pulumi's engine, Kubernetes' servers,\n"
        f"the AWS provider, KWOK and Helm, then controllers behind it, {building.about(building.minutes(queue))}:\n"
        f"{', '.join(queue)}. Jobs in queues wait for the first.\n"
        f"Later runs take {RUN_MINUTES} min on a quiet machine."
    )


def parts() -> list[tuple[Path, str, str]]:
    """Page, name and content of each part."""
    pages = [(ROOT / page, "runs", runs()) for page in ("README.md", "docs/guides/sandbox.md")]
    return [*pages, (ROOT / "docs" / "guides" / "commands.md", "sample", sample())]

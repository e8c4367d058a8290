"""`slipway catalog pull|check`: download the platform's Helm charts, and check its values against them."""

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from sandbox import CHARTS, asked, toolchain
from slipway.charts import check, uses, variants
from slipway.charts.check import ChartFinding, Verified
from slipway.charts.pull import Pulled, locked, pinned, pull
from slipway.charts.uses import Use
from slipway.cli.check import checked
from slipway.cli.output import table
from slipway.engine.project import Project, find
from spec.catalog import software
from spec.errors import fail, refuse

SOFTWARE_FILE: Final = Path(software.__file__).with_name("data") / software.FILE


def pull_charts(options: argparse.Namespace) -> int:
    """Download charts; 1 if a download failed."""
    directory = _directory(options.dir)
    helm = toolchain.find("helm")
    if helm is None:
        fail("helm is not installed: run `python -m sandbox.toolchain ensure helm`, or put helm on PATH")
    known = {chart.name: chart for chart in pinned()}
    unknown = sorted(set(options.charts) - set(known))
    if unknown:
        fail(f"{unknown[0]} is not a chart of the platform. Choose from {', '.join(known)}")
    pulled = pull(helm, [known[name] for name in options.charts or known], directory)
    print(describe_pulled(pulled, directory))
    if options.lock:
        text = SOFTWARE_FILE.read_text(encoding="utf-8")
        changed = locked(text, pulled)
        SOFTWARE_FILE.write_text(changed, encoding="utf-8")
        print(f"wrote {changed.count('digest: sha256:') - text.count('digest: sha256:')} digests to {SOFTWARE_FILE}")
    return 1 if any(each.problem for each in pulled) else 0


def check_charts(options: argparse.Namespace) -> int:
    """Check values; 1 if a chart does not support one of them."""
    directory = _directory(options.dir)
    if not directory.is_dir():
        refuse(f"{directory} is not a folder: `slipway catalog pull --dir {directory}` creates it, and needs a network")
    project = find(Path.cwd())

    releases = _uses(project, options.stacks or project.stack_names, varied=options.record)
    findings = check.check(uses.by_chart(releases), directory)
    print(describe_findings(findings))
    if options.record:
        before = check.load()
        after = recorded(before, findings)
        check.save(after)
        changed = [chart for chart in sorted({*before, *after}) if before.get(chart) != after.get(chart)]
        print(f"wrote {check.FILE}: {', '.join(changed) if changed else 'no chart is recorded anew'}")
    return 1 if any(finding.problems for finding in findings) else 0


def recorded(before: Mapping[str, Verified], findings: Sequence[ChartFinding]) -> dict[str, Verified]:
    """The record after a check; entries of pinned charts that it didn't check stay."""
    pins = {chart.name for chart in pinned()}
    return {**{chart: entry for chart, entry in before.items() if chart in pins}, **check.record(findings)}


def describe_pulled(pulled: Sequence[Pulled], directory: Path) -> str:
    """The charts that were downloaded, and those that failed with the reason."""
    downloaded = [each for each in pulled if not each.problem]
    failed = [each for each in pulled if each.problem]
    lines = [f"downloaded {len(downloaded)} of {len(pulled)} charts to {directory}"]
    lines += [f"  {each.chart.name} {each.chart.version}" for each in downloaded]
    for each in failed:
        place = each.chart.repository or each.chart.chart
        lines.append(f"failed: {each.chart.name} {each.chart.version} from {place}: {each.problem}")
    if failed:
        lines.append(
            "Check that the repositories are reachable; behind a proxy, set HTTPS_PROXY. Charts downloaded earlier are "
            "unchanged."
        )
    else:
        lines.append(f"With {CHARTS}={directory} the next `up` in the sandbox installs them.")
    return "\n".join(lines)


def describe_findings(findings: Sequence[ChartFinding]) -> str:
    """A line for each chart, then every problem."""
    rows = [(finding.chart, finding.version, _verdict(finding)) for finding in findings]
    problems = [f"  {line}" for finding in findings for line in finding.problems]
    return "\n".join([table(rows), *(["", "Unsupported values:", *problems] if problems else [])])


def _verdict(finding: ChartFinding) -> str:
    if finding.available is None:
        return "chart not available: nothing was checked"
    if finding.problems:
        count = len(finding.problems)
        return f"{count} unsupported value{'s' if count != 1 else ''}"
    other = "" if finding.verified else f", checked in version {finding.available}"
    return f"supports every value{other}"


def _uses(project: Project, stacks: Sequence[str], *, varied: bool) -> list[Use]:
    releases: list[Use] = []
    for stack in stacks:
        platform = checked(project, stack).platform
        releases += uses.of_platform(platform, stack)
        if varied and stack == stacks[0]:
            for other in variants.variants(platform):
                releases += uses.of_platform(other, stack)
    return releases


def _directory(option: Path | None) -> Path:
    if option is not None:
        return option.absolute()
    default = os.environ.get(CHARTS)
    if not default or default == asked.NONE or asked.is_repository(default):
        refuse(f"no folder of charts: give --dir DIR, or set {CHARTS}")
    return Path(default).absolute()

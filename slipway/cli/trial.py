"""`slipway try FOLDER`: apply the manifests of a folder in the sandbox, and compare with what is expected of them."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.cli.output import Progress, table
from slipway.engine.project import find
from slipway.sandbox import IN_SANDBOX_SHELL
from spec.errors import EXIT_FAILURE, EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from components.workloads.target import Target
    from slipway.cli.commands import Commands
    from slipway.trial.evaluation import Check
    from spec.settings import Platform


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("try", help="try a folder of manifests in the sandbox, with what is expected of them")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="manifests, and try.yaml with the expectations")
    parser.add_argument("--stack", metavar="STACK", required=True, help="name of a stack that is up in the sandbox")
    parser.add_argument("--sandbox", action="store_true", help="the cluster in the sandbox; required outside its shell")
    parser.add_argument("--namespace", "-n", metavar="NAMESPACE", help="namespace of all objects (default: try.yaml's)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report; 1 if an expectation is not met."""
    from slipway.cli import cluster  # noqa: PLC0415 - `slipway --help` needs none of it
    from slipway.cli.settings import checked  # noqa: PLC0415 - as above
    from slipway.sandbox.kubernetes.errors import ApiError, UnreachableError  # noqa: PLC0415 - as above
    from slipway.trial.evaluation import Status  # noqa: PLC0415 - as above
    from slipway.trial.expectations import read  # noqa: PLC0415 - as above
    from slipway.trial.run import Run  # noqa: PLC0415 - as above
    from slipway.why.dryrun import DryRun  # noqa: PLC0415 - as above

    if not options.sandbox and not os.environ.get(IN_SANDBOX_SHELL):
        msg = "this starts jobs, so it runs in the sandbox alone: add --sandbox"
        raise SlipwayError(msg, EXIT_REFUSED)
    trial = read(options.folder)
    namespace = options.namespace or trial.namespace
    if namespace is None:
        msg = f"name a namespace: `namespace` in {options.folder / 'try.yaml'}, or -n"
        raise SlipwayError(msg, EXIT_REFUSED)
    platform = checked(find(Path.cwd()), options.stack).platform
    client = cluster.of_sandbox(platform)
    try:
        found = Run(
            client=client,
            trial=trial,
            namespace=namespace,
            member=DryRun(client, namespace).member,
            target=_target(platform, namespace),
            say=Progress(),
        ).run()
    except (ApiError, UnreachableError) as error:
        msg = f"the cluster {platform.cluster_name} can't be used: {error}"
        raise SlipwayError(msg) from error
    print(json.dumps([asdict(one) for one in found], indent=2) if options.json else text(found))
    return EXIT_FAILURE if any(one.status is Status.FAILED for one in found) else 0


def text(found: Sequence[Check]) -> str:
    """The report as a table; details of what has failed below it."""
    from slipway.trial.evaluation import Status  # noqa: PLC0415 - as above

    rows = [("object", "expected", "result"), *((one.subject, one.expected, str(one.status)) for one in found)]
    counts = Counter(one.status for one in found)
    failed = [f"{one.subject}: {' '.join(one.detail.split())}" for one in found if one.status is Status.FAILED]
    lines = [table(rows), "", f"{counts[Status.PASSED]} passed, {counts[Status.FAILED]} failed", *failed]
    return "\n".join(lines)


def _target(platform: Platform, namespace: str) -> Target | None:
    from components.workloads.target import Target  # noqa: PLC0415 - as above
    from spec.settings.problems import ConfigurationError  # noqa: PLC0415 - as above

    try:
        return Target.of(platform, namespace=namespace)
    except ConfigurationError:
        return None

"""`slipway rehearse [STACK] FOLDER`: apply the manifests of a folder in the sandbox, and compare."""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from components.workloads.target import Target
from infra import target
from sandbox.kubernetes.client import ApiError, UnreachableError
from slipway.cli import cluster
from slipway.cli.check import checked
from slipway.cli.output import Progress, table
from slipway.cli.sandbox import settled
from slipway.engine.project import find
from slipway.trial.evaluation import Check, Status
from slipway.trial.expectations import FILE, read
from slipway.trial.run import Run
from slipway.why.manifests import DryRun
from spec.errors import EXIT_FAILURE, fail, refuse
from spec.settings import Platform
from spec.settings.problems import ConfigurationError


def run(options: argparse.Namespace, folder: Path, stack: str | None) -> int:
    """Print the report; 1 if an expectation is not met. Without a stack, the cluster is the only one of the sandbox."""
    trial = read(folder)
    namespace = options.namespace or trial.namespace
    if namespace is None:
        refuse(f"name a namespace: `namespace` in {folder / FILE}, or -n")
    platform = checked(find(Path.cwd()), stack).platform if stack else None
    settled()
    client = cluster.of_sandbox(platform) if platform else cluster.only_in_sandbox()
    try:
        found = Run(
            client=client,
            trial=trial,
            namespace=namespace,
            member=lambda place: DryRun(client, place).member,
            target=lambda place: target_of(platform, place),
            say=Progress(),
            platform=platform,
        ).run()
    except (ApiError, UnreachableError) as error:
        fail(f"the cluster{f' {platform.cluster_name}' if platform else ''} can't be used: {error}", error)
    print(json.dumps([asdict(one) for one in found], indent=2) if options.json else text(found))
    return EXIT_FAILURE if any(one.status is Status.FAILED for one in found) else 0


def text(found: Sequence[Check]) -> str:
    """The report as a table; details of what has failed below it."""
    rows = [("object", "expected", "result"), *((one.subject, one.expected, str(one.status)) for one in found)]
    counts = Counter(one.status for one in found)
    failed = [f"{one.subject}: {' '.join(one.detail.split())}" for one in found if one.status is Status.FAILED]
    lines = [table(rows), "", f"{counts[Status.PASSED]} passed, {counts[Status.FAILED]} failed", *failed]
    return "\n".join(lines)


def target_of(platform: Platform | None, namespace: str) -> Target | None:
    """What a stack offers in a namespace; None without a stack, and if it is no team's."""
    try:
        return target.target_of(platform, namespace=namespace) if platform else None
    except ConfigurationError:
        return None

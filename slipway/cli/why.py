"""`slipway why NAME|FILE`: what holds a workload, with the number and the next step."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from slipway.engine.project import find
from slipway.sandbox import IN_SANDBOX_SHELL
from spec.errors import EXIT_FAILURE, EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from components.workloads.target import Target
    from slipway.cli.commands import Commands
    from slipway.sandbox.kubernetes.client import KubeClient
    from slipway.why import Answer
    from spec.settings import Platform

EPILOG = """\
  slipway why job/train -n vision                       # your kubeconfig, as kubectl
  slipway why job/train -n vision --stack dev --sandbox
  slipway why job.yaml --stack prod                     # before submission

The exit code is 0 if nothing holds it, and 1 if something does. docs/guides/why.md explains the layers.
"""
STANDARD_INPUT: Final = "-"
_NO_TEAM: Final = "rules, pools and shares of a team: namespace {namespace} is no team's, name another with -n"


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "why",
        help="show what a workload waits for, or would wait for",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "what", metavar="NAME|FILE", help="kind/name as kubectl writes it, a name, or a file of manifests (- for stdin)"
    )
    parser.add_argument("--stack", metavar="STACK", help="name of a stack, for its pools, shares and rules")
    parser.add_argument("--sandbox", action="store_true", help="the cluster of the stack in the sandbox")
    parser.add_argument("--namespace", "-n", metavar="NAMESPACE", help="namespace (default: that of the kubeconfig)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


@dataclass(frozen=True)
class Place:
    """Where to look.

    Attributes:
        client: The cluster; None if there is none.
        namespace: The namespace.
        platform: Settings of the stack; None without a stack.
        problem: Why there is no cluster.
    """

    client: KubeClient | None
    namespace: str
    platform: Platform | None
    problem: str = ""


def run(options: argparse.Namespace) -> int:
    """Print the answers; 1 if something holds one of the objects."""
    documents = _documents(options.what)
    place = _place(options, required=documents is None)
    answers = [_of_name(options.what, place)] if documents is None else _of_file(documents, place, options.namespace)
    if options.json:
        print(json.dumps([one.document() for one in answers], indent=2))
    else:
        print("\n\n".join(one.text() for one in answers))
    return EXIT_FAILURE if any(one.held for one in answers) else 0


def _documents(what: str) -> list[Any] | None:
    """The documents of a file; None if it is the name of an object."""
    import yaml  # noqa: PLC0415 - `slipway --help` does not need it

    path = Path(what)
    if what != STANDARD_INPUT and not path.is_file():
        if path.suffix in (".yaml", ".yml", ".json"):
            msg = f"there is no file {what}: name one, or an object as kubectl writes it, such as job/train"
            raise SlipwayError(msg, EXIT_REFUSED)
        return None
    text = sys.stdin.read() if what == STANDARD_INPUT else path.read_text(encoding="utf-8")
    try:
        return list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        msg = f"{what} is not YAML: {error}"
        raise SlipwayError(msg, EXIT_REFUSED) from error


def _place(options: argparse.Namespace, *, required: bool) -> Place:
    """The cluster and the settings; without a cluster, a file is still checked against the settings.

    Raises:
        SlipwayError: Neither a cluster nor a stack is known, or the cluster is required and not there.
    """
    from slipway.cli import cluster, kubeconfig  # noqa: PLC0415 - as above
    from slipway.cli.settings import checked  # noqa: PLC0415 - as above

    platform = checked(find(Path.cwd()), options.stack).platform if options.stack else None
    inside = bool(options.sandbox or os.environ.get(IN_SANDBOX_SHELL))
    namespace = str(options.namespace or "")
    try:
        if inside and platform is not None:
            return Place(cluster.of_sandbox(platform), namespace, platform)
        if options.sandbox:
            msg = "--sandbox needs --stack: the sandbox may have several clusters"
            raise SlipwayError(msg, EXIT_REFUSED)
        known = kubeconfig.contexts()
        wanted = [one for one in known if platform is None or one.cluster_name == platform.cluster_name]
        if wanted:
            return Place(wanted[0].client(), namespace or wanted[0].namespace, platform)
        if platform is not None:
            return Place(cluster.of_aws(platform), namespace, platform)
        msg = "there is no kubeconfig: name a stack with --stack, or set KUBECONFIG"
        raise SlipwayError(msg, EXIT_REFUSED)
    except SlipwayError as error:
        if required or platform is None or error.exit_code == EXIT_REFUSED:
            raise
        return Place(None, namespace, platform, str(error))


def _of_name(what: str, place: Place) -> Answer:
    from slipway.sandbox.kubernetes.errors import ApiError  # noqa: PLC0415 - as above
    from slipway.why.collect import collect  # noqa: PLC0415 - as above
    from slipway.why.explain import explain  # noqa: PLC0415 - as above
    from slipway.why.names import find as find_object  # noqa: PLC0415 - as above

    namespace = place.namespace or "default"
    if place.client is None:
        raise SlipwayError(place.problem)
    try:
        subject = find_object(place.client, what, namespace)
        return explain(collect(place.client, subject, _target(place, namespace)))
    except ApiError as error:
        msg = f"the cluster can't be read: {error}"
        raise SlipwayError(msg) from error


def _of_file(documents: Sequence[Any], place: Place, given: str | None) -> list[Answer]:
    from slipway.sandbox.kubernetes.errors import ApiError, UnreachableError  # noqa: PLC0415 - as above
    from slipway.why import manifests  # noqa: PLC0415 - as above
    from slipway.why.dryrun import DryRun  # noqa: PLC0415 - as above
    from spec.settings.admission import Admission  # noqa: PLC0415 - as above

    objects = manifests.flat(documents)
    if not objects or not all(one.get("kind") and one.get("apiVersion") for one in objects):
        msg = "the file has no Kubernetes manifests: each needs apiVersion and kind"
        raise SlipwayError(msg, EXIT_REFUSED)
    rules = place.platform.admission if place.platform else Admission()
    answers, unread = [], [place.problem] if place.problem else []
    client = place.client
    for one in objects:
        namespace = given or _namespace(one) or place.namespace or "default"
        target = _target(place, namespace)
        missing = [] if target or not place.platform else [_NO_TEAM.format(namespace=namespace)]
        try:
            dry_run = DryRun(client, namespace) if client else None
            answers.append(
                manifests.answer(
                    one,
                    target=target,
                    rules=rules,
                    dry_run=dry_run,
                    others=objects,
                    unread=[*unread, *missing],
                )
            )
        except UnreachableError as error:
            if place.platform is None:
                raise
            client, unread = None, [str(error)]
            answers.append(
                manifests.answer(one, target=target, rules=rules, dry_run=None, others=objects, unread=unread)
            )
        except ApiError as error:
            msg = f"the cluster can't be asked: {error}"
            raise SlipwayError(msg) from error
    return answers


def _namespace(manifest: Mapping[str, Any]) -> str:
    return str((manifest.get("metadata") or {}).get("namespace") or "")


def _target(place: Place, namespace: str) -> Target | None:
    """What the stack offers in the namespace; None without a stack, and in a namespace of no team."""
    from components.workloads.target import Target  # noqa: PLC0415 - as above
    from spec.settings.problems import ConfigurationError  # noqa: PLC0415 - as above

    if place.platform is None:
        return None
    try:
        return Target.of(place.platform, namespace=namespace)
    except ConfigurationError as error:
        if place.client is None:
            raise SlipwayError(str(error.problems[0]), EXIT_REFUSED) from error
        return None

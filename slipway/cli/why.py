"""`slipway why [NAME|FILE]`: what holds a workload, or all that wait, with the number and the next step."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any, Final, TextIO

from components.workloads.target import Target
from infra.target import target_of
from sandbox import IN_SANDBOX_SHELL
from sandbox.kubernetes.client import ApiError, KubeClient, UnreachableError
from slipway.cli import cluster
from slipway.cli.check import checked
from slipway.cli.output import obeyed, table
from slipway.engine.project import find
from slipway.why import Answer, fix, manifests, overview, trainjob
from slipway.why.bundle import Object
from slipway.why.collect import collect, survey
from slipway.why.collect import find as find_object
from slipway.why.explain import explain
from slipway.why.fix import Fixed
from slipway.why.manifests import DryRun
from slipway.why.refusals import with_server
from slipway.why.shapes import Located, decoded
from slipway.why.trainjob import Translated
from spec import strict_yaml
from spec.errors import EXIT_FAILURE, EXIT_REFUSED, SlipwayError, fail, refuse
from spec.settings import Platform
from spec.settings.admission import Admission
from spec.settings.problems import ConfigurationError

STANDARD_INPUT: Final = "-"
MOST: Final = 8  # lines of an answer without `--verbose`
_OFFLINE: Final = "schema, webhooks, Pod Security and quotas in use: no kubeconfig here is of the stack's cluster"
_NO_TEAM: Final = "rules, pools and shares of a team: namespace {namespace} is no team's, name another with -n"


@dataclass(frozen=True)
class Place:
    """Where to look."""

    client: KubeClient | None  # the cluster; None if there is none
    namespace: str
    platform: Platform | None  # settings of the stack; None without a stack
    problem: str = ""  # why there is no cluster


def run(options: argparse.Namespace) -> int:
    """Print the answers; 1 if something holds one of the objects."""
    what, *more = options.what or [None]
    if more:
        refuse(
            f"`slipway why` answers for one name or file: {more[0]} is another one; with --audit it reads several logs"
        )
    if what is None and not options.fix:
        return _all(options)
    text = None if what is None else _text(what)
    if options.fix and (text is None or not options.stack):
        refuse(
            "--fix needs a file, and --stack: the rules, pools and shares that it is fixed for; without a stack "
            "`slipway why FILE` says what holds it"
        )
    place = _place(options, required=text is None)
    # The fixed file goes where the answers would go.
    out = sys.stderr if options.fix and what == STANDARD_INPUT else sys.stdout
    if text is None:
        answers = [_of_name(what, place)]
    else:
        objects = _objects(text, what)
        of_jobs = trainjob.translated(text, place.platform.addons) if options.fix and place.platform else None
        objects = _objects(of_jobs.text, what) if of_jobs else objects
        fixed = _fix(of_jobs, objects, place, options, what) if of_jobs else None
        answers = _of_file(fixed.objects if fixed else [one for _, one in objects], place, options.namespace)
        if of_jobs and fixed:
            said = zip(answers, fixed.changes, fixed.left, strict=True)
            answers = [
                replace(
                    one,
                    changes=[*of_jobs.changes.get(one.subject, ()), *map(str, own)],
                    lost=fix.lost(own),
                    left=[*of_jobs.left.get(one.subject, ()), *left],
                )
                for one, own, left in said
            ]
    if (client := place.client) is not None:
        answers = [replace(one, part=with_server(one.part, client)) for one in answers]
    if options.json:
        print(json.dumps([one.document() for one in answers], indent=2), file=out)
    else:
        _print(answers, out, verbose=options.verbose)
    return EXIT_FAILURE if any(one.held for one in answers) else 0


def _all(options: argparse.Namespace) -> int:
    """Print what waits in a namespace, in those of a team, or in those of all teams of a stack."""
    place = _place(options, required=True)
    assert place.client is not None  # noqa: S101 - it is required
    teams = place.platform.teams if place.platform else {}
    wanted = {options.namespace: teams[options.namespace]} if options.namespace in teams else teams
    spaces = [space for name, team in wanted.items() for space in team.namespaces_of(name)]
    if options.namespace and options.namespace not in teams:
        spaces = [options.namespace]
    rows, unread = list[overview.Held](), list[str]()
    for space in spaces or [place.namespace or "default"]:
        found = survey(place.client, space)
        rows += overview.held(found, _target(place, space))
        unread += [one for one in found.unread if one not in unread]
    if options.json:
        print(json.dumps([one.document() for one in rows], indent=2))
        return EXIT_FAILURE if rows else 0
    if rows:
        columns = shutil.get_terminal_size().columns if sys.stdout.isatty() and not options.verbose else None
        print("\n".join(line[:columns] for line in table([overview.HEAD, *(one.row() for one in rows)]).splitlines()))
    else:
        print(f"nothing waits or is held in {', '.join(spaces) or place.namespace or 'default'}")
    for one in unread:
        print(f"  not read: {one}")
    return EXIT_FAILURE if rows else 0


def _print(answers: Sequence[Answer], out: TextIO, *, verbose: bool) -> None:
    """The answers in the width of the terminal; what none of them could read is said once."""
    columns = shutil.get_terminal_size().columns if out.isatty() else 0
    common = [one for one in answers[0].unread if all(one in each.unread for each in answers)]
    own = [replace(each, unread=[one for one in each.unread if one not in common]) for each in answers]
    print("\n\n".join(each.text(columns, 0 if verbose else MOST) for each in own), file=out)
    for one in (f"  not read: {each}" for each in common):
        print(fill(one, columns, subsequent_indent="    ") if columns else one, file=out)


def _text(what: str) -> str | None:
    """The text of a file; None if it is the name of an object."""
    path = Path(what)
    if what != STANDARD_INPUT and not path.is_file():
        if path.suffix in (".yaml", ".yml", ".json"):
            refuse(f"there is no file {what}: name one, or an object as kubectl writes it, such as job/train")
        return None
    return strict_yaml.text_of(path)


def _objects(text: str, what: str) -> list[Located]:
    """The objects of a file, with their places, and the jobs of its Experiments."""
    found = manifests.located([one for one in strict_yaml.documents(Path(what), text) if one is not None])
    if not found or not all(one.get("kind") and one.get("apiVersion") for _, one in found):
        refuse("the file has no Kubernetes manifests: each needs apiVersion and kind")
    return decoded(list(manifests.with_trials(decoded(found, what))), what)


def _fix(
    of_jobs: Translated, objects: Sequence[Located], place: Place, options: argparse.Namespace, what: str
) -> Fixed:
    """Fix the file."""
    assert place.platform is not None  # noqa: S101 - --fix needs --stack
    located = [
        (at, one, _target(place, options.namespace or _namespace(one) or place.namespace or "default"))
        for at, one in objects
    ]
    namespace = options.namespace or place.namespace or "default"
    known = DryRun(place.client, namespace) if place.client is not None else None
    existing = [
        {"kind": kind, "metadata": {"name": name}}
        for kind in fix.KNOWN
        for name in (known.names("v1", kind) if known is not None else ())
    ]
    found = fix.file(of_jobs.text, located, place.platform.admission, existing)
    if what == STANDARD_INPUT:
        (sys.stdout if sys.stdout.isatty() else obeyed(sys.stdout)).write(found.text)
    elif of_jobs.changes or any(found.changes):
        if (path := Path(what)).is_symlink():
            refuse(f"{path} is a link to {path.readlink()}: --fix writes no file but the one it is given, name that")
        path.write_text(found.text, encoding="utf-8")
    return found


def _place(options: argparse.Namespace, *, required: bool) -> Place:
    """The cluster and the settings; without a cluster, a file is still checked against the settings."""
    platform = checked(find(Path.cwd()), options.stack).platform if options.stack else None
    inside = bool(options.sandbox or os.environ.get(IN_SANDBOX_SHELL))
    namespace = str(options.namespace or "")
    try:
        if inside and platform is not None:
            return Place(cluster.of_sandbox(platform), namespace, platform)
        if options.sandbox:
            return Place(cluster.only_in_sandbox(), namespace, None)
        known = cluster.contexts()
        wanted = [one for one in known if platform is None or one.cluster_name == platform.cluster_name]
        if wanted:
            return Place(wanted[0].client(), namespace or wanted[0].namespace, platform)
        if platform is not None:
            return Place(cluster.of_aws(platform), namespace, platform)
        refuse("there is no kubeconfig: name a stack with --stack, set KUBECONFIG, or ask the sandbox with --sandbox")
    except SlipwayError as error:
        if required or platform is None or error.exit_code == EXIT_REFUSED:
            raise
        return Place(None, namespace, platform, str(error) if inside else _OFFLINE)


def _of_name(what: str, place: Place) -> Answer:
    namespace = place.namespace or "default"
    if place.client is None:
        raise SlipwayError(place.problem)
    try:
        subject = find_object(place.client, what, namespace)
        return explain(collect(place.client, subject, _target(place, namespace)))
    except ApiError as error:
        fail(f"the cluster can't be read: {error}", error)


def _of_file(objects: Sequence[Object], place: Place, given: str | None) -> list[Answer]:
    rules = place.platform.admission if place.platform else Admission()
    answers, unread = [], [place.problem] if place.problem else []
    client = place.client
    for one in objects:
        namespace = given or _namespace(one) or place.namespace or "default"
        target = _target(place, namespace)
        missing = [] if target or not place.platform else [_NO_TEAM.format(namespace=namespace)]
        ask = partial(manifests.answer, one, target=target, rules=rules, others=objects, platform=place.platform)
        try:
            answers.append(ask(dry_run=DryRun(client, namespace) if client else None, unread=[*unread, *missing]))
        except UnreachableError as error:
            if place.platform is None:
                raise
            client, unread = None, [str(error)]
            answers.append(ask(dry_run=None, unread=unread))
        except ApiError as error:
            fail(f"the cluster can't be asked: {error}", error)
    return answers


def _namespace(manifest: Mapping[str, Any]) -> str:
    return str((manifest.get("metadata") or {}).get("namespace") or "")


def _target(place: Place, namespace: str) -> Target | None:
    """What the stack offers in the namespace; None without a stack, and in a namespace of no team."""
    if place.platform is None:
        return None
    try:
        return target_of(place.platform, namespace=namespace)
    except ConfigurationError as error:
        if place.client is None:
            raise SlipwayError(str(error.problems[0]), EXIT_REFUSED) from error
        return None

"""`slipway quickstart NAME --stack STACK --team TEAM`: print YAML for `kubectl` with a team's queue, pools, claims."""

import argparse
import os
import sys
from pathlib import Path

from infra.target import target_of
from sandbox import IN_SANDBOX_SHELL
from sandbox.kubernetes.client import ApiError, UnreachableError
from sandbox.kubernetes.objects import Ref
from slipway.cli import offline
from slipway.cli.check import checked
from slipway.cli.cluster import connect
from slipway.cli.output import table
from slipway.engine.project import find
from slipway.quickstarts import CLAIM, QUICKSTARTS, Chosen, Quickstart, QuickstartRequest, choose, namespace_of, text
from spec.errors import SlipwayError, fail, refuse
from spec.settings import Platform
from spec.teams.labels import S3_URI


def run(options: argparse.Namespace) -> int:
    """Print the list, or one quickstart."""
    if options.quickstart is None:
        print(table([(name, one.summary) for name, one in QUICKSTARTS.items()], indent="  "))
        return 0
    if options.quickstart not in QUICKSTARTS:
        refuse(f"NAME: it must be a quickstart (given: {options.quickstart!r}). There are: {', '.join(QUICKSTARTS)}.")
    for name in ("stack", "team"):
        if getattr(options, name) is None:
            refuse(f"--{name}: the quickstart is for a {name} (given: nothing). Add --{name} {name.upper()}.")
    print(_text(options, QUICKSTARTS[options.quickstart]), end="")
    if options.sandbox or os.environ.get(IN_SANDBOX_SHELL):
        offline.say_missing()
    return 0


def _text(options: argparse.Namespace, quickstart: Quickstart) -> str:
    platform = checked(find(Path.cwd()), options.stack).platform
    namespace = namespace_of(platform, options.team, quickstart.purposes, options.namespace)
    kept = quickstart.serves and options.ttl is None
    models = _models(options, platform, namespace) if kept else ""
    request = QuickstartRequest(
        name=options.name or options.quickstart,
        platform=platform,
        target=target_of(platform, namespace=namespace),
        models=models,
        seconds=options.ttl,
    )
    chosen = choose(options.quickstart, request, options.pool)
    if not sys.stdout.isatty():
        # The YAML goes to a file, and its comments with it.
        print(f"{options.quickstart}: on {chosen.place}", *chosen.costs, sep="\n  ", file=sys.stderr)
    return text(chosen.manifests, comments(options.quickstart, options.stack, options.team, chosen))


def comments(quickstart: str, stack: str, team: str, chosen: Chosen) -> list[str]:
    """What has been filled in, and what it costs, above the YAML."""
    return [
        f"slipway quickstart {quickstart} --stack {stack} --team {team}: on {chosen.place}.",
        *chosen.costs,
        f"kubectl apply --server-side -f {quickstart}.yaml",
    ]


def _models(options: argparse.Namespace, platform: Platform, namespace: str) -> str:
    """The address of the team's models, from the option or from the claim in the cluster."""
    if options.models is not None:
        return f"{str(options.models).removesuffix('/')}/"

    hint = (
        f"name it: --models with what `kubectl -n {namespace} get pvc {CLAIM} -o yaml` has as annotation {S3_URI}, or "
        f"below `pulumi stack output buckets`: --models s3://BUCKET/{options.team}/"
    )
    try:
        client = connect(platform, simulated=bool(options.sandbox or os.environ.get(IN_SANDBOX_SHELL)))
        claim = client.get(Ref("v1", "PersistentVolumeClaim", CLAIM, namespace))
    except (ApiError, UnreachableError, SlipwayError) as error:
        fail(f"the address of the team's models can't be read from the cluster: {error}. Else {hint}", error)
    address = ((claim or {}).get("metadata", {}).get("annotations") or {}).get(S3_URI)
    if address is None:
        fail(f"claim {namespace}/{CLAIM} of {platform.cluster_name} has no address: run `slipway up` once, or {hint}")
    return str(address)

"""`slipway policies --pack DIR`: the policy pack as a folder for `pulumi --policy-pack`, for programs of others."""

import argparse
import sys
from pathlib import Path
from typing import Final

import yaml

from policies import pack, suppressions
from sandbox.files import write_atomically
from slipway import __version__
from spec.errors import refuse

PROGRAM: Final = """\
# Written by `slipway policies --pack`.
from pathlib import Path

from policies import server

server.serve(Path(__file__).with_name("suppressions.yaml"))
"""
SUPPRESSIONS: Final = """\
# Accepted violations. `slipway policies --pack` keeps this file. Each entry has all six fields, for a year at most:
# - rule: s3-versioned-lifecycle/versions
#   urn: "urn:pulumi:*::scratch"
#   value: "without it"
#   reason: Objects of the scratch bucket are deleted after a day.
#   owner: data-team
#   until: 2027-06-30
[]
"""


def run(options: argparse.Namespace) -> int:
    """Write the folder, and print how it is used."""
    folder: Path = options.pack
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        # The environment that has Slipway; Pulumi runs the pack in it.
        "runtime": {"name": "python", "options": {"virtualenv": sys.prefix}},
        "version": __version__,
        "description": "Policies for machine-learning platforms on EKS",
    }
    write_atomically(folder / "PulumiPolicy.yaml", yaml.safe_dump(settings, sort_keys=False), 0o644)
    write_atomically(folder / "__main__.py", PROGRAM, 0o644)
    file = folder / suppressions.FILE.name
    if not file.exists():
        write_atomically(file, SUPPRESSIONS, 0o644)
    try:
        count = len(suppressions.load(pack.identities(), file).all)
    except suppressions.SuppressionError as error:
        refuse(f"{folder}: {error}", error)
    print(f"{folder} has the policy pack, with {count} suppression{'' if count == 1 else 's'}")
    print(f"evaluate a program: pulumi preview --policy-pack {folder}")
    return 0

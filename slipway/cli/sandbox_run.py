"""`slipway sandbox run -- COMMAND`: any command in the sandbox's environment, in any directory, without a stack file.

For Pulumi, whatever the project: the CLI gets a copy of the stack's file, because it would write its own key for
secrets into the file, and could not decrypt those of the user's backend. The sandbox gets the stack if it lacks it.
"""

import argparse
import json
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from sandbox import IN_SANDBOX_SHELL
from sandbox.notes import Note, NoteKind, load_notes
from slipway.cli import coverage, offline
from slipway.cli.gate import logged
from slipway.cli.offline import Sandbox
from slipway.cli.output import say
from slipway.cli.pods import read_pods
from slipway.cli.summary import pods
from slipway.cost import declared
from slipway.cost.declared import Resource
from slipway.cost.estimates import money
from slipway.engine import gate, process, shim, state
from slipway.engine.invocation import Invocation, sandbox_environment
from slipway.engine.project import is_ours
from slipway.engine.stacks import stack_file, write_if_changed
from spec import strict_yaml
from spec.catalog import prices
from spec.errors import SlipwayError, refuse
from spec.pricing.model import Amounts

DEFAULT_REGION: Final = "us-east-1"
FOLDER: Final = "projects"  # folder of the sandbox's home with the copies of other projects' stack files
REGION: Final = "aws:region"
SECRET: Final = "slipway-sandbox"  # noqa: S105 - in the place of one
_KEYS: Final = ("encryptionsalt", "encryptedkey", "secretsprovider")
UNPRICED_SHOWN: Final = 4  # items without a price that are named
_PREVIEWS: Final = frozenset({"preview", "pre"})
_CHANGES: Final = frozenset({"up", "update", "refresh", "import"})


def run(options: argparse.Namespace) -> int:
    """Run the command; its own exit code. Raises SlipwayError if it can't be started."""
    words = list(options.extra)
    if not words:
        refuse("name the command after `--`: `slipway sandbox run -- pulumi up`")
    sandbox = offline.for_run(say)
    environment = variables(sandbox, os.environ, options.account, options.region)
    executable = shutil.which(words[0], path=environment["PATH"])
    if executable is None:
        refuse(f"{words[0]} is neither on PATH nor among the sandbox's tools ({sandbox.home / 'bin'})")
    project = nearest(Path.cwd()) if Path(words[0]).name == "pulumi" else None
    if project is None or not shim.concerns(words[1:]):
        return process.run(Invocation((executable, *words[1:]), environment, Path.cwd()))
    return _pulumi(Path(executable), words[1:], environment, project, sandbox)


def variables(sandbox: Sandbox, user: Mapping[str, str], account: str | None, region: str | None) -> dict[str, str]:
    """The environment of a command: the user's without what leads to an account or a backend, and the sandbox's."""
    # Here, because it imports botocore, which few commands need.
    from sandbox.aws.client import credentials  # noqa: PLC0415

    chosen = region or user.get("AWS_REGION") or user.get("AWS_DEFAULT_REGION") or DEFAULT_REGION
    found = sandbox_environment(user, sandbox.variables)
    found |= {"AWS_REGION": chosen, "AWS_DEFAULT_REGION": chosen, IN_SANDBOX_SHELL: "1"}
    if account:
        found |= credentials(found["AWS_ENDPOINT_URL"], account, chosen)
    return found


# Pulumi projects.


@dataclass(frozen=True)
class Foreign:
    """A Pulumi project: its folder, its name, and where its stack files are."""

    root: Path
    name: str
    stacks: Path
    config: Mapping[str, Any]  # settings of all its stacks


def nearest(start: Path) -> Foreign | None:
    """The project that contains a directory, as the CLI finds it; None if there is none, or if it is Slipway's own."""
    for directory in (start.resolve(), *start.resolve().parents):
        file = next((path for name in ("Pulumi.yaml", "Pulumi.yml") if (path := directory / name).is_file()), None)
        if file is not None:
            document = _mapping(file)
            own = is_ours(file) and (directory / "stacks").is_dir()
            stacks = directory / str(document.get("stackConfigDir") or ".")
            return None if own else Foreign(directory, str(document.get("name")), stacks, document.get("config") or {})
    return None


def copied(project: Foreign, stack: str, home: Path, region: str) -> tuple[Path, list[str]]:
    """The sandbox's copy of a stack's file, which may be missing, in a folder that the CLI takes for the project; and
    the settings that are secrets of the user's backend, in whose place it has a text. The copy keeps its own key."""
    folder = home / FOLDER / project.name
    folder.mkdir(parents=True, exist_ok=True)
    write_if_changed(folder / "Pulumi.yaml", yaml.safe_dump({"name": project.name, "runtime": "python"}))
    copy = stack_file(folder, stack)
    document = {key: value for key, value in _mapping(stack_file(project.stacks, stack)).items() if key not in _KEYS}
    secrets: list[str] = []
    # Where nothing names a region, the real provider takes it from the environment of the CLI.
    settings = {REGION: region} if REGION not in project.config else {}
    document["config"] = settings | _without_secrets(document.get("config") or {}, "", secrets)
    document |= {key: value for key, value in _mapping(copy).items() if key in _KEYS}
    write_if_changed(copy, yaml.safe_dump(document, sort_keys=False))
    return copy, secrets


def _without_secrets(value: Any, path: str, found: list[str]) -> Any:
    if isinstance(value, dict):
        if set(value) == {"secure"}:
            found.append(path)
            return SECRET
        return {
            key: _without_secrets(each, f"{path}.{key}" if path else str(key), found) for key, each in value.items()
        }
    if isinstance(value, list):
        return [_without_secrets(each, f"{path}[{index}]", found) for index, each in enumerate(value)]
    return value


def _mapping(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        document = strict_yaml.one(strict_yaml.text_of(path))
    except (OSError, yaml.YAMLError) as error:
        refuse(f"{path} can't be read: {' '.join(str(error).split())}", error)
    if document is None:
        return {}
    if not isinstance(document, dict):
        refuse(f"{path} is no YAML mapping")
    return document


def _pulumi(
    pulumi: Path, words: Sequence[str], environment: Mapping[str, str], project: Foreign, sandbox: Sandbox
) -> int:
    def capture(*arguments: str) -> str:
        return process.capture(Invocation((str(pulumi), *arguments, "--non-interactive"), environment, project.root))

    stack = shim.named_stack(words, environment) or _selected(capture)
    if stack is None:
        refuse("name the stack with `--stack NAME`: it is created in the sandbox, where no stack is selected yet")
    if "/" in stack:
        refuse(f"name the stack without its organization, `--stack {stack.rpartition('/')[2]}`: the sandbox has none")
    copy, secrets = copied(project, stack, sandbox.home, environment["AWS_REGION"])
    if secrets:
        say(f"{', '.join(secrets)}: secrets of your backend, which the sandbox can't decrypt; here they are {SECRET!r}")
    if not any((sandbox.home / "pulumi" / ".pulumi" / "stacks" / project.name).glob(f"{stack}.json*")):
        # Beside the copy, into which the CLI writes its key for secrets.
        capture("stack", "init", "--no-select", "--stack", stack, "--cwd", str(copy.parent))
        capture("stack", "select", "--stack", stack)
    call = Invocation((str(pulumi), *words, "--config-file", str(copy)), environment, Path.cwd())
    command, before = next((word for word in words if not word.startswith("-")), ""), load_notes(sandbox.home)
    if command in _PREVIEWS and not {"--json", "-j", "--event-log"} & set(words):
        with tempfile.TemporaryDirectory(prefix="slipway-plan-") as folder:
            log = Path(folder, "events")
            code = process.run(logged(call, log))
            if code == 0 and (cost := cost_line(planned(log), environment["AWS_REGION"])):
                print(f"\n{cost}")
        return code
    code = process.run(call)
    if code == 0 and command in _CHANGES:
        print(summary(state.parse(capture("stack", "export", "--stack", stack)), sandbox, before))
    return code


def planned(log: Path) -> list[Resource]:
    """What there would be after a preview, from the engine's log of events; what is not known yet is None."""
    found: dict[str, Resource] = {}
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
        event = json.loads(line.replace(f'"{gate.UNKNOWN}"', "null"))
        step = (event.get("resourcePreEvent") or {}).get("metadata") or {}
        if step.get("new") and step["op"] != "read":
            found[step["urn"]] = (str(step["type"]), step["new"].get("inputs") or {})
    return list(found.values())


def _selected(capture: Any) -> str | None:
    try:
        return str(capture("stack", "--show-name")).strip() or None
    except SlipwayError:
        return None


def cost_line(resources: Iterable[Resource], region: str = prices.REGION) -> str | None:
    """What the resources in AWS cost a month; None if there are none."""
    aws = [one for one in resources if one[0].startswith("aws:")]
    if not aws:
        return None
    region = next((str(values["region"]) for _, values in aws if values.get("region")), region)
    known = declared.estimate(aws, region)
    of_month = Amounts(known.floor, known.expected, known.ceiling).month
    from_to = dict.fromkeys(f"${money(amount, '0.01')}" for amount in (of_month.floor, of_month.ceiling))
    rest = [f"{item.what}: {item.why}" for item in known.unpriced]
    more = f", and {len(rest) - UNPRICED_SHOWN} more" if len(rest) > UNPRICED_SHOWN else ""
    without = f"; without {', '.join(rest[:UNPRICED_SHOWN])}{more}" if rest else ""
    return f"Cost a month by list prices: {' to '.join(from_to)}{without}."


def clusters(found: state.StackState, kubeconfig: Path) -> list[str]:
    """The clusters of a stack, and those of others into which it puts objects."""
    own = [str(one.outputs["name"]) for one in found.existing if one.type == "aws:eks/cluster:Cluster"]
    servers = {str(one["cluster"]["server"]): str(one["name"]) for one in _mapping(kubeconfig).get("clusters") or ()}
    given = " ".join(
        str(one.outputs.get("kubeconfig")) for one in found.resources if one.type == "pulumi:providers:kubernetes"
    )
    others = (name for server, name in servers.items() if re.search(rf"{re.escape(server)}(?!\d)", given))
    return list(dict.fromkeys([*own, *others]))


def summary(found: state.StackState, sandbox: Sandbox, before: Collection[Note]) -> str:
    """What was emulated, what was only recorded, and which pods run, of each cluster of the stack.

    `before` are the notes that the sandbox had before the command.
    """
    notes = load_notes(sandbox.home)
    lines = [coverage.in_short(found, sandbox.in_moto, notes, sandbox.charts)]
    if made_up := [one.urn.rpartition(":")[2] for one in notes if one.kind is NoteKind.MADE_UP and one not in before]:
        lines.append(
            f"Data sources of types that are only recorded, answered with made-up texts: {', '.join(made_up)}."
        )
    if (cost := cost_line((one.type, one.outputs) for one in found.existing)) is not None:
        lines.append(cost)
    for cluster in clusters(found, sandbox.kubeconfig):
        running = read_pods(sandbox.kubeconfig, cluster)
        if running is not None:
            lines += [
                f"Cluster {cluster}: `slipway sandbox run -- kubectl --context {cluster} get pods -A`",
                pods(running),
            ]
    return "\n" + "\n".join(lines)

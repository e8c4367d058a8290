"""Reading a stack file without the engine: YAML, without the features that could mislead a reader."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import yaml

from spec import strict_yaml
from spec.naming import PROJECT
from spec.settings.load import KEY
from spec.settings.problems import ConfigurationError, Problem

MAX_BYTES: Final = 256 << 10
"""Maximum size of a stack file: those of the project have 2 to 4 KiB, and 256 KiB take 0.4 s to read."""
MAX_DEPTH: Final = 32
"""Maximum nesting of a stack file: those of the project have 8 levels."""
_KEYS: Final = ("config", "encryptedkey", "encryptionsalt", "secretsprovider")
"""Keys of a stack file, without those that read other settings (pulumi v3.258.0, sdk/go/common/workspace/project.go,
ProjectStack)."""
SETTINGS: Final = ("config", f"{PROJECT}:{KEY}")
"""Keys above the settings."""
_ABOVE: Final = f"{'.'.join(SETTINGS)}."
_PROVIDER: Final = (
    r"default|passphrase|awskms://(alias/[\w/-]+|[\da-f-]{{36}}|mrk-[\da-f]{{32}}|"
    r"/arn:aws[a-z-]*:kms:[a-z\d-]+:{account}:(key|alias)/[\w/-]+)(\?(region=[a-z\d-]+|awssdk=v[12]|[&])*)?"
)
"""A secrets provider: an alias or an ID is of the account of whoever runs Pulumi; further parameters would choose a
profile or an endpoint (gocloud.dev, secrets/awskms, "URLs")."""
_STACK_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")
"""Stack names that Pulumi accepts (pulumi v3.258.0, sdk/go/common/tokens/stack_name.go)."""


def read_stack(stack: str, directory: Path) -> object:
    """The value of `slipway:platform` in `Pulumi.<stack>.yaml` of a directory.

    Raises:
        ConfigurationError: The name leads out of the directory, or the file is missing, unreadable, too large or not
            the YAML of a stack file.
    """
    path = directory / f"Pulumi.{stack}.yaml"
    names = ", ".join(stacks_in(directory)) or "none"
    if not _STACK_NAME.fullmatch(stack) or path.resolve().parent != directory.resolve():
        raise _refused(
            stack, "stack", "a stack must have a file in the stacks folder", stack, f"Available stacks: {names}."
        )
    if not path.is_file():
        raise _refused(stack, str(path), "the stack file must exist", None, f"Available stacks: {names}.")
    document = _parse(stack, path)
    if not isinstance(document, dict) or not isinstance(document.get("config"), dict):
        raise _refused(
            stack, str(path), "a stack file is a map with the key `config`", document, "See stacks/README.md."
        )
    key = f"{PROJECT}:{KEY}"
    if key not in document["config"]:
        raise _refused(stack, f"config.{key}", "the settings are required", None, f"Add `{key}:` below `config:`.")
    settings = document["config"][key]
    problems = list(_of_others(document, key, settings))
    if problems:
        raise ConfigurationError(placed(problems, stack, directory, above=""), f"stack {stack}")
    return settings


def _of_others(document: dict[str, Any], key: str, settings: Any) -> Iterator[Problem]:
    """Keys that choose other settings, credentials, endpoints or whose key encrypts the state."""
    others = [name for name in document if name not in _KEYS]
    others += [f"config.{name}" for name in document["config"] if name != key]
    for path in others:
        rule = f"a stack file has {', '.join(_KEYS)}, and in its configuration `{key}` alone"
        yield Problem(path, rule, "another key", "Remove it; the settings say where a stack is.")
    account = settings.get("account") if isinstance(settings, dict) else None
    owner = re.escape(str(account.get("id"))) if isinstance(account, dict) else ""
    provider = document.get("secretsprovider", "passphrase")
    if not re.fullmatch(_PROVIDER.format(account=owner), str(provider)):
        rule = "secrets are encrypted with a passphrase or a KMS key of the stack's account"
        yield Problem("secretsprovider", rule, provider, "Write it like awskms://alias/pulumi-prod?region=us-east-1.")


def stacks_in(directory: Path) -> list[str]:
    """Names of the stacks that have a file in a directory."""
    return sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in directory.glob("Pulumi.*.yaml"))


def placed(problems: Iterable[Problem], stack: str, directory: Path, above: str = _ABOVE) -> list[Problem]:
    """Problems of a stack's settings with their places in its file: of a key that is missing, that of the key above."""
    path = directory / f"Pulumi.{stack}.yaml"
    try:
        # What is no file, or too large for one, was refused unread: a pipe or a device has no end.
        text = path.read_text(encoding="utf-8-sig") if path.is_file() and path.stat().st_size <= MAX_BYTES else ""
        root = strict_yaml.tree(text)
    except (OSError, ValueError, yaml.YAMLError):
        return list(problems)
    return [one if one.at else replace(one, at=_place(root, f"{above}{one.path}.", path)) for one in problems]


def _place(node: Any, rest: str, path: Path) -> str:
    """Place of the last key that the file has of a path; empty if it has none."""
    mark = None
    while rest:
        rows = getattr(node, "value", ())
        keys = [(f"{number}.", each, each) for number, each in enumerate(rows)]
        if isinstance(node, yaml.MappingNode):
            keys = [(f"{key.value}.", key, value) for key, value in rows]
        elif not isinstance(node, yaml.SequenceNode):
            break
        found = [one for one in keys if rest.startswith(one[0])]
        if not found:
            break
        name, key, node = max(found, key=lambda one: len(one[0]))
        rest, mark = rest[len(name) :], key.start_mark
    return f"{_shown(path)}:{mark.line + 1}:{mark.column + 1}" if mark else ""


def _shown(path: Path) -> Path:
    """The path, below the working directory without it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _parse(stack: str, path: Path) -> object:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise _refused(stack, str(path), f"a stack file has at most {MAX_BYTES} bytes", size, "Split or trim it.")
        text = path.read_text(encoding="utf-8-sig")
        # No anchors: a reader of a stack file has to jump.
        return strict_yaml.read(strict_yaml.bounded(text, depth=MAX_DEPTH, copies=0))
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(
            stack, str(path), "the file must be readable UTF-8 text", str(error), "Check its permissions and encoding."
        ) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{_shown(path)}:{mark.line + 1}:{mark.column + 1}" if mark else str(_shown(path))
        if mark and _has_tab(text, mark.line):
            rule, fix = "YAML indents with spaces, not with tabs", "Replace the tab of that line by spaces."
            raise _refused(stack, where, rule, "a tab", fix) from None
        reason = getattr(error, "problem", None) or str(error)
        raise _refused(stack, where, "the file must be plain YAML", reason, "Fix that line.") from None
    except (ValueError, KeyError, AttributeError) as error:
        # Raised by int, datetime and the tables of YAML's tags: 2026-13-45, !!bool maybe, a number of 5,000 digits.
        reason = f"a value does not match its YAML type ({error})"
        raise _refused(stack, str(path), "the file must be plain YAML", reason, "Put that value in quotes.") from None


def _has_tab(text: str, line: int) -> bool:
    """Whether a line is indented with a tab; libyaml only says that a character can't start a token."""
    lines = text.splitlines()
    whole = lines[line] if line < len(lines) else ""
    return "\t" in whole[: len(whole) - len(whole.lstrip())]


def _refused(stack: str, path: str, rule: str, value: object, fix: str) -> ConfigurationError:
    return ConfigurationError([Problem(path, rule, value, fix)], f"stack {stack}")

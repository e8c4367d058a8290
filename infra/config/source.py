"""Reading a stack file without the engine: YAML, with everything refused that could mislead a reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from infra.config.load import KEY
from infra.config.problems import ConfigurationError, Problem

PROJECT: Final = "slipway"
MAX_BYTES: Final = 1 << 20
"""A stack file of over 1 MiB is not one: ours have 2 to 4 KiB."""


class _Loader(yaml.SafeLoader):
    """Safe YAML without duplicate keys and without aliases (nine nested aliases can expand to a billion nodes)."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, "anchors and aliases are not allowed in a stack file", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_stack(stack: str, directory: Path) -> object:
    """The value of `slipway:platform` in `Pulumi.<stack>.yaml` of a directory.

    Raises:
        ConfigurationError: The name leads out of the directory, or the file is missing, unreadable, too large or not
            the YAML of a stack file.
    """
    path = directory / f"Pulumi.{stack}.yaml"
    if Path(stack).name != stack or path.resolve().parent != directory.resolve():
        names = ", ".join(stacks_in(directory)) or "none"
        raise _refused(stack, "stack", "a stack is a file of the stacks folder", stack, f"There are: {names}.")
    if not path.is_file():
        names = ", ".join(stacks_in(directory)) or "none"
        raise _refused(stack, str(path), "the stack file must exist", None, f"There are: {names}.")
    document = _parse(stack, path)
    if not isinstance(document, dict) or not isinstance(document.get("config"), dict):
        raise _refused(stack, str(path), "a stack file is a map with the key `config`", document, "See stacks/README.md.")
    key = f"{PROJECT}:{KEY}"
    if key not in document["config"]:
        raise _refused(stack, f"config.{key}", "the settings must be given", None, f"Add `{key}:` below `config:`.")
    return document["config"][key]


def stacks_in(directory: Path) -> list[str]:
    """Names of the stacks that have a file in a directory."""
    return sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in directory.glob("Pulumi.*.yaml"))


def _parse(stack: str, path: Path) -> object:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise _refused(stack, str(path), f"a stack file has at most {MAX_BYTES} bytes", size, "Split or trim it.")
        return yaml.load(path.read_text(encoding="utf-8-sig"), Loader=_Loader)  # noqa: S506 - a SafeLoader, stricter
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(stack, str(path), "the file must be readable UTF-8 text", str(error), "Mend the file.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        reason = getattr(error, "problem", None) or str(error)
        raise _refused(stack, where, "the file must be plain YAML", reason, "Mend that line.") from None
    except RecursionError:
        raise _refused(stack, str(path), "settings nest a few levels deep", "deeper", "Mend the file.") from None


def _refused(stack: str, path: str, rule: str, value: object, mend: str) -> ConfigurationError:
    return ConfigurationError([Problem(path, rule, value, mend)], f"stack {stack}")

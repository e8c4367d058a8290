"""YAML as people write it in this project: stack files, catalogs, tables of data.

PyYAML reads YAML 1.1: there `no`, `on` and `yes` are booleans, `20:00` is the number 1200, `1e3` a text, and a key
that is set twice has its last value. Pulumi reads stack files with go-yaml: the first three are texts, the fourth is a
number, and the last is an error (gopkg.in/yaml.v3 v3.0.1, resolve.go). So it is here.

Files of users in YAML that others read as well, such as manifests, are read by `documents`, as PyYAML reads them.
"""

import contextlib
import re
import sys
from pathlib import Path
from typing import Any, ClassVar, Final, NoReturn

import yaml

from spec.errors import refuse

MAX_SIZE: Final = 64_000_000
"""Maximum characters of a file: the largest of Argo's CRDs have 2.7 MB, and nine times that in memory (2026-11)."""
MAX_DEPTH: Final = 100
"""Maximum nesting: CRDs have up to 47 levels (TrainJob of Trainer 2, 2026-11). 50,000 end the process: libyaml's
composer recurses in C (PyYAML 6.0.3)."""
MAX_COPIES: Final = 1 << 20
"""Maximum number of characters and values that aliases stand for: nine lines of them can be a billion values."""
_BORDER: Final = re.compile(r"(?m)^---(?:[ \t].*)?$\n?")
_MERGE: Final = "tag:yaml.org,2002:merge"
_SafeLoader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's if PyYAML was built with it: about ten times faster, and every command reads the catalog."""


def _plain(tag: str, pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The pattern by which PyYAML knows plain scalars of a type, changed to what go-yaml takes for it."""
    match tag.rpartition(":")[2]:
        case "bool":
            return re.compile(r"(?:true|True|TRUE|false|False|FALSE)$")
        case "int":
            # Without the last form, base 60.
            return re.compile(f"(?!.*:)(?:{pattern.pattern})", pattern.flags)
        case "float":
            # With a point or an exponent; what has neither is looked at next, as an integer.
            number = r"[-+]?(?=[^eE]*\.|.*[eE])(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?"
            return re.compile(rf"(?:{number}|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$")
        case _:
            return pattern


class StrictLoader(_SafeLoader):  # type: ignore[misc]
    """Safe YAML whose keys are texts and different, without merge keys; only `true` and `false` are booleans."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {
        first: [(tag, _plain(tag, pattern)) for tag, pattern in resolvers]
        for first, resolvers in _SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """As PyYAML does, after a look at the keys."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                stop("a key must be text, and merge keys are not supported", key.start_mark)
            if key.value in seen:
                stop(f"the key {key.value!r} is set twice", key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def stop(problem: str, mark: Any) -> NoReturn:
    """Raise yaml.MarkedYAMLError for a place of the text."""
    raise yaml.MarkedYAMLError(None, None, problem, mark)


def read(text: str) -> Any:
    """The one document of a text. Raises yaml.YAMLError, mostly with a place, for anything else."""
    return yaml.load(text, Loader=StrictLoader)  # noqa: S506, TID251 - a SafeLoader, stricter


def beside(module: str, name: str = "") -> Any:
    """The document of the YAML file beside a module, given as its `__file__`: of the module's name or of another."""
    path = Path(module)
    return read(path.with_name(f"{name or path.stem}.yaml").read_text(encoding="utf-8"))


def tree(text: str) -> Any:
    """The nodes of the one document of a text, with their places. Raises yaml.YAMLError as `read`."""
    reader = StrictLoader(text)
    try:
        return reader.get_single_node()
    finally:
        reader.dispose()


def bounded(text: str, *, depth: int = MAX_DEPTH, copies: int = MAX_COPIES) -> str:
    """The same text, looked at before anything is built of it. Raises yaml.YAMLError if it is no YAML, has more levels,
    or aliases that stand for more; with no copies, neither they nor anchors are allowed."""
    sizes: dict[str | None, int] = {}
    above: list[tuple[str | None, int]] = []
    total = copied = 0
    for event in yaml.parse(text, Loader=_SafeLoader):
        anchor = getattr(event, "anchor", None)
        if anchor and not copies:
            stop("anchors and aliases are not allowed here", event.start_mark)
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = above.pop()
            sizes[anchor] = total - before
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                stop(f"the alias *{event.anchor} stands for nothing that ends before it", event.start_mark)
            copied += sizes[event.anchor]
            total += sizes[event.anchor]
        else:
            sizes[anchor] = 1 + len(getattr(event, "value", ""))
            total += sizes[anchor]
            if isinstance(event, yaml.CollectionStartEvent):
                above.append((anchor, total))
                del sizes[anchor]
        if copied > copies or len(above) > depth:
            rule = f"aliases stand for at most {copies} characters" if copied > copies else f"at most {depth} levels"
            stop(rule, event.start_mark)
    return text


def every(text: str) -> list[Any]:
    """The documents of a text, as PyYAML reads them. Raises yaml.YAMLError, also if it is not `bounded`."""
    try:
        return list(yaml.load_all(bounded(text), Loader=_SafeLoader))  # noqa: TID251 - the one place
    except (ValueError, KeyError, AttributeError) as error:
        # By int, datetime and the tables of YAML's tags: 2026-13-45, !!bool maybe, a number of 5,000 digits.
        msg = f"a value does not match its YAML type ({error})"
        raise yaml.YAMLError(msg) from error


def one(text: str) -> Any:
    """The document of a text, None without one. Raises yaml.YAMLError as `every`, and if there are more."""
    if len(found := every(text)) > 1:
        stop("there must be one document", None)
    return found[0] if found else None


def chunks(text: str) -> list[tuple[str, str]]:
    """The documents of a file, each with the line that separates it from the one before. No other line begins with
    `---` (yaml.org, 1.2.2, "Document Markers")."""
    borders = ["", *(one.group() for one in _BORDER.finditer(text))]
    return list(zip(borders, _BORDER.split(text), strict=True))


def documents(path: Path, text: str | None = None) -> list[Any]:
    """The documents of a user's file, or of its text. Raises SlipwayError if it is no valid YAML; OSError."""
    try:
        return every(text_of(path) if text is None else text)
    except yaml.YAMLError as error:
        refuse(f"{path}: not valid YAML: {' '.join(str(error).split())}", error)


def text_of(path: Path, most: int | None = None) -> str:
    """The text of a user's file, `-` for standard input. Raises SlipwayError if it is too large or no text; OSError."""
    most = MAX_SIZE if most is None else most
    try:
        with contextlib.nullcontext(sys.stdin) if str(path) == "-" else path.open(encoding="utf-8-sig") as file:
            text = file.read(most + 1)
    except UnicodeDecodeError as error:
        refuse(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}). Save it as UTF-8.", error)
    if len(text) > most:
        refuse(f"{path}: a file has at most {most} characters (given: more). Split it.")
    return text

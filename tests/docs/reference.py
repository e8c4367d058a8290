"""References that are generated: every option of every command, and the add-ons with their charts."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from slipway.cli import parser
from spec.catalog.software import CHARTS
from spec.settings.addons import Addons, AddonSettings
from tests.docs.pages import ROOT
from tools.site.markdown import title

COMMANDS: Final = ROOT / "docs" / "commands.md"
ADDONS: Final = ROOT / "docs" / "addons" / "README.md"
_HEAD: Final = """\
# Command reference

Every command with its options, generated from the command line's own parser. [The `slipway`
command](guides/commands.md) explains what they do, with examples and exit codes.
"""


def commands() -> str:
    """The page of all commands."""
    return "\n".join([_HEAD, *_sections(parser.make(), ())])


def _sections(of: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[str]:
    """Sections of the commands below a parser."""
    for action in of._actions:
        if not isinstance(action, argparse._SubParsersAction):
            continue
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for word, below in action.choices.items():
            if word not in helps:
                continue  # another spelling of a command
            names = (*words, word)
            lines = [f"## `slipway {' '.join(names)}`\n", f"{_sentence(helps[word])}\n"]
            rows = [row for one in below._actions if (row := _row(one)) is not None]
            if rows:
                lines += [*rows, ""]
            yield "\n".join(lines)
            yield from _sections(below, names)


def _row(action: argparse.Action) -> str | None:
    """An item of a list for an option or argument; None for help and for groups of commands."""
    if isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
        return None
    names = sorted(action.option_strings, key=len, reverse=True) or [str(action.metavar or action.dest)]
    takes = action.nargs != 0 and bool(action.option_strings)
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    shown = ", ".join(f"`{name}{f' {value}' if takes else ''}`" for name in names)
    return f"- {shown}: {(action.help or '').replace('%%', '%')}"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def addons() -> str:
    """A table of all add-ons: key, page, purpose, and the add-ons that each needs or excludes."""
    keys = {model: str(alias) for alias, model in _models()}
    rows = ["| Setting | Page | Purpose | Needs | Excludes |", "|---|---|---|---|---|"]
    for alias, model in _models():
        page = page_of(alias)
        text = page.read_text(encoding="utf-8")
        needs, excludes = (
            ", ".join(f"`{keys[one]}`" for one in classes) for classes in (model.requires, model.excludes)
        )
        rows.append(f"| `{alias}` | [{title(text)}]({page.name}) | {_first_sentence(text)} | {needs} | {excludes} |")
    return "\n".join(rows)


def charts() -> str:
    """A table of the pinned charts."""
    rows = [f"| `{name}` | {row.version} | {row.released.isoformat()} |" for name, row in sorted(CHARTS.items())]
    return "\n".join(["| Chart | Version | Released |", "|---|---|---|", *rows])


def _models() -> Iterator[tuple[str, type[AddonSettings]]]:
    for field in Addons.model_fields.values():
        yield str(field.alias), next(one for one in field.annotation.__args__ if one is not type(None))  # type: ignore[union-attr]


def _first_sentence(page: str) -> str:
    """What a page begins with, up to the first full stop, without links."""
    paragraph = page.split("\n\n")[1].replace("\n", " ")
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
    return _cell(re.split(r"\.(?:\s|$)", plain)[0])


def page_of(alias: str) -> Path:
    """`gpuOperator` is in gpu-operator.md."""
    return ADDONS.parent / (re.sub("([A-Z])", r"-\1", alias).lower() + ".md")

"""Commands on the pages exist, and the guide to commands names every one."""

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

from slipway.cli import main, parser
from tests.docs.pages import ROOT, code, lines, pages

COMMANDS = ROOT / "docs" / "guides" / "commands.md"
ENDS = re.compile(r"\s(?:&&|\|\||[|;>#])\s|\s#|`")
"""End of a command: shell syntax or a comment follows."""


def leaves(of: argparse.ArgumentParser, name: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Every command as a tuple of words, with its long options."""
    options = {text for action in of._actions for text in action.option_strings if text.startswith("--")}
    below = [action for action in of._actions if isinstance(action, argparse._SubParsersAction)]
    yield name, options - {"--help"}
    for action in below:
        for word, subparser in action.choices.items():
            yield from leaves(subparser, (*name, word))


KNOWN = dict(leaves(parser.make()))


def test_the_guide_names_every_command() -> None:
    """Their options are in the reference, which is generated."""
    named = set(re.findall(r"`(\w+)[` ]", COMMANDS.read_text(encoding="utf-8")))
    assert {name for name, *_ in filter(None, KNOWN)} <= named


def wrong(line: str) -> str | None:
    """The error in a `slipway` command of a line of code; None if it is correct."""
    try:
        words = shlex.split(ENDS.split(line)[0])
    except ValueError:
        return None  # a quotation that continues in the next line
    if not words or words[0] != "slipway":
        return None
    plain = [word.strip("[]") for word in words[1:]]
    plain = plain[: plain.index("--")] if "--" in plain else plain
    for first in plain[0].split("|") if plain else ():
        if first.startswith("--") or first.isupper():
            continue
        name = (first, plain[1]) if (first, *plain[1:2]) in KNOWN and plain[1:] else (first,)
        if name not in KNOWN:
            return f"no command {first}"
        options = {word.partition("=")[0] for word in plain if word.startswith("--")}
        if unknown := options - KNOWN[name] - KNOWN[()] - {"--help"}:
            return f"{' '.join(name)} has no {', '.join(sorted(unknown))}"
    return None


def test_a_wrong_command_is_reported() -> None:
    assert wrong("slipway launch dev") == "no command launch"
    assert wrong("slipway up|preview dev --everything") == "up has no --everything"
    assert wrong("slipway sandbox start --color") == "sandbox start has no --color"
    for line in (
        "slipway up dev --sandbox && eval x --y",
        "slipway preview prod -- --diff",
        "slipway --debug",
        "$ slipway",
    ):
        assert wrong(line) is None


def test_pages_use_only_existing_commands() -> None:
    problems = [
        f"{page.relative_to(ROOT)}: {line}: {problem}"
        for page in pages()
        if page.name != "CHANGELOG.md"
        for line in code(page.read_text(encoding="utf-8"))
        if (problem := wrong(line.removeprefix("$ ").removeprefix(".venv/bin/")))
    ]
    assert problems == []


def runnable() -> Iterator[str]:
    """Lines of blocks with a command that needs no cluster, no other program and nothing of the reader's."""
    for line in (line for page in pages() for line, is_code in lines(page.read_text(encoding="utf-8")) if is_code):
        words = ENDS.split(f"{line.removeprefix('$ ')} ")[0].split()
        foreign = re.search(
            r"[A-Z]{3}|[<|…[]|perf|--(sandbox|against|deployed|out|fix|ttl|aws|from [a-z])", " ".join(words)
        )
        known = all((ROOT / word).is_file() for word in words if re.search(r"/|\.yaml$", word))
        if (
            words[:1] == ["slipway"]
            and words[1] in ("check", "cost", "fit", "quickstart", "upgrade", "why")
            and known
            and not foreign
        ):
            yield " ".join(words)


def test_commands_that_need_no_cluster_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    codes = {line: main(line.split()[1:]) for line in sorted(set(runnable()))}
    assert len(codes) > 15
    assert {line: code for line, code in codes.items() if code not in (0, 1)} == {}


def test_make_has_the_targets_on_the_pages() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        target
        for page in pages()
        for line in code(page.read_text(encoding="utf-8"))
        for target in re.findall(r"^make ([a-z]+)", line)
    }
    assert named >= {"up", "test"}
    assert named - targets == set()


def test_modules_that_pages_run_exist() -> None:
    named = {
        module
        for page in pages()
        for line in code(page.read_text(encoding="utf-8"))
        for module in re.findall(r"python -m ([a-z_.]+)", line)
    }
    assert "policies.generate" in named
    paths = {ROOT / name.rstrip(".").replace(".", "/") for name in named}
    assert [path for path in paths if not (path.with_suffix(".py").is_file() or (path / "__main__.py").is_file())] == []

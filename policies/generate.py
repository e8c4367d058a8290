"""Writes the files generated from the rules: `python -m policies.generate`; `--check` only reports stale ones."""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from policies.coverage import coverage
from policies.documentation import page
from policies.rule import ENVIRONMENTS
from policies.rules import RULES
from spec.catalog.document import laid_out

ROOT: Final = Path(__file__).resolve().parents[1]


def levels(environment: str) -> dict[str, Any]:
    """Configuration of the pack for one environment, in the format of `--policy-pack-config`."""
    return {
        rule.name: {"enforcementLevel": rule.levels.of(environment).value, **rule.defaults(environment)}
        for rule in RULES
    }


def generators() -> dict[Path, Callable[[], str]]:
    """What makes the content of every generated file."""
    return {
        **{ROOT / f"policies/levels/{name}.json": partial(_levels, name) for name in ENVIRONMENTS},
        ROOT / "policies/coverage.json": lambda: f"{laid_out(coverage())}\n",
        ROOT / "docs/policies.md": page,
    }


def generated() -> dict[Path, str]:
    """Content of every generated file."""
    return {path: make() for path, make in generators().items()}


def _levels(environment: str) -> str:
    return f"{laid_out(levels(environment))}\n"


def stale() -> list[Path]:
    """Generated files that differ from the rules."""
    return [path for path, content in generated().items() if not path.is_file() or path.read_text("utf-8") != content]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files; with `--check`, report those that are out of date and fail."""
    parser = argparse.ArgumentParser(prog="python -m policies.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    if parser.parse_args(arguments).check:
        names = [str(path.relative_to(ROOT)) for path in stale()]
        if names:
            sys.stderr.write(f"out of date: {', '.join(names)}; run `python -m policies.generate`\n")
        return 1 if names else 0
    for path, content in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

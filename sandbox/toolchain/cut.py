"""A copied module cut to what is used: packages leave a list, and what only they need isn't compiled.

`cut.yaml` beside a go.mod says what: `list` is a Go file with a line for each of the `packages` (the beginning of their
imports), of which some `keep`; of the functions of the file `callable` stay those that the rest of the copy names.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sandbox.errors import AttemptError

_IMPORT: Final = re.compile(r'^\t(?:(\w+) )?"([^"]+)"\n', re.MULTILINE)
_FUNCTION: Final = re.compile(r"^func (?:\([^)]*\) )?(\w+)\(.*?^\}\n\n?", re.MULTILINE | re.DOTALL)


def apply(cut: Mapping[str, Any], module: str, folder: Path) -> None:
    """Cut the copy of a module in a folder.

    Raises:
        AttemptError: It has none of these files, or no package to be kept: the cut is of another version.
    """
    try:
        _shorten(folder / cut["list"], f"{module}/{cut['packages']}", set(cut["keep"]))
        functions = folder / cut["callable"]
        named = set(re.findall(r"\.(\w+)\b", _reached(module, folder, without=functions)))
        text = _FUNCTION.sub(lambda one: one[0] if one[1] in named else "", functions.read_text())
        functions.write_text(_IMPORT.sub(lambda one: one[0] if _is_used(one, text) else "", text))
    except OSError as error:
        msg = f"the cut does not fit the version: {error.filename}: {error.strerror}"
        raise AttemptError(msg) from error


def _shorten(file: Path, begin: str, keep: set[str]) -> None:
    text = file.read_text()
    listed = {
        path.removeprefix(begin): alias or path.rpartition("/")[2]
        for alias, path in _IMPORT.findall(text)
        if path.startswith(begin)
    }
    if missing := keep - set(listed):
        msg = f"the cut does not fit the version: {file} lists no {', '.join(sorted(missing))}"
        raise AttemptError(msg)
    cut = "|".join(re.escape(alias) for name, alias in listed.items() if name not in keep)
    text = re.sub(rf"^\t+(?:{cut})\.\w+\(.*\),\n", "", text, flags=re.MULTILINE)
    file.write_text(_IMPORT.sub(lambda one: one[0] if _is_used(one, text) else "", text))


def _is_used(imported: re.Match[str], text: str) -> bool:
    alias = imported[1] or imported[2].rpartition("/")[2]
    return re.search(rf"\b{re.escape(alias)}\.", text) is not None


def _reached(module: str, folder: Path, without: Path) -> str:
    """The source of all packages of the module that its root imports, directly or through others."""
    own = re.compile(rf'"{re.escape(module)}/([^"]+)"')
    found: dict[str, str] = {}
    left = [""]
    while left:
        package = left.pop()
        files = (each for each in (folder / package).glob("*.go") if not each.name.endswith("_test.go"))
        found[package] = "".join(each.read_text() for each in files if each != without)
        left += [each for each in own.findall(found[package]) if each not in found]
    return "".join(found.values())

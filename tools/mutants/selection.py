"""Which tests should notice a change of a module.

1. Its own tests. `tests/` mirrors the tree: of a/b/c.py those are tests/a/b/test_c.py,
   tests/a/b/test_c_*.py and the folder tests/a/b/c/, as far as they exist; else the nearest folder that does:
   tests/a/b/, then tests/a/.
2. Where those let the mutant survive, near ones: the folder they are in, tests that import the module themselves or by
   a helper below `tests/`, and the own tests of modules that import it.
3. With `--all`, where those do too: every test.

Tests of whole stacks (`SLOW_FOLDERS`, the marker `slow`) are never run: they take minutes. The third step takes 4
minutes a survivor, and noticed none of the 8 that the second had let survive (2026-11).
"""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

TESTS: Final = PurePosixPath("tests")
SLOW_FOLDERS: Final = ("tests/bench", "tests/e2e", "tests/rehearsal")


class Selection:
    """Tests of the modules of a tree."""

    def __init__(self, root: Path, sources: Iterable[PurePosixPath], *, everything: bool = False) -> None:
        """Read the tree, once.

        Args:
            root: The top of the tree.
            sources: All modules whose imports count.
            everything: Whether all tests come last.
        """
        self._root = root
        self._everything = everything
        self._imports = {path: self._imported(path) for path in sources}
        self._tests = self._imports_of_tests()

    def own(self, path: PurePosixPath) -> tuple[str, ...]:
        """Test files and folders that mirror a module; none where not even a folder does."""
        folder = TESTS.joinpath(*path.parts[:-1])
        found = [] if path.stem == "__init__" else self._named(folder, path.stem)
        while not found and folder != TESTS:
            found = [folder] if self._holds_tests(folder) else []
            folder = folder.parent
        return tuple(sorted(str(one) for one in found if not _is_slow(one)))

    def stages(self, path: PurePosixPath) -> dict[str, tuple[str, ...]]:
        """Arguments of pytest for a module by stage, in the order to run them; a stage without a test is left out."""
        everything = (str(TESTS), *(f"--ignore={folder}" for folder in SLOW_FOLDERS))
        stages = {"own": self.own(path), "near": self.near(path), "all": everything if self._everything else ()}
        return {name: tests for name, tests in stages.items() if tests}

    def near(self, path: PurePosixPath) -> tuple[str, ...]:
        """The folder of `own`, tests that import the module, and own tests of the modules that do; `own` left out."""
        module, own = name_of(path), self.own(path)
        folders = {str(PurePosixPath(one).parent) for one in own if one.endswith(".py")} - {str(TESTS)}
        tests = {str(test) for test, names in self._tests.items() if module in names}
        importers = [source for source, names in self._imports.items() if module in names and source != path]
        chosen = folders.union(tests, *(self.own(source) for source in importers)).difference(own)
        return tuple(sorted(one for one in chosen if not _is_below(one, [*own, *chosen])))

    def _named(self, folder: PurePosixPath, stem: str) -> list[PurePosixPath]:
        files = [*(self._root / folder).glob(f"test_{stem}.py"), *(self._root / folder).glob(f"test_{stem}_*.py")]
        found = [PurePosixPath(file.relative_to(self._root)) for file in files]
        return [*found, folder / stem] if self._holds_tests(folder / stem) else found

    def _holds_tests(self, folder: PurePosixPath) -> bool:
        return any((self._root / folder).rglob("test_*.py"))

    def _imports_of_tests(self) -> Mapping[PurePosixPath, frozenset[str]]:
        """What each test imports, itself or by a helper below `tests/`."""
        files = [PurePosixPath(file.relative_to(self._root)) for file in sorted((self._root / TESTS).rglob("*.py"))]
        imports = {path: self._imported(path) for path in files}
        helpers = {name_of(path): names for path, names in imports.items() if not path.name.startswith("test_")}
        tests = [path for path in files if path.name.startswith("test_") and not _is_slow(path)]
        return {path: _reached(imports[path], helpers) for path in tests}

    def _imported(self, path: PurePosixPath) -> frozenset[str]:
        """Modules that a file imports, and names of modules: `from a import b` may be of either."""
        names: set[str] = set()
        for node in ast.walk(ast.parse((self._root / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
        return frozenset(names)


def name_of(path: PurePosixPath) -> str:
    """Dotted name of a module."""
    return ".".join(path.parent.parts if path.stem == "__init__" else path.with_suffix("").parts)


def _reached(names: frozenset[str], helpers: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Names that are imported, and those that the helpers among them import."""
    found: set[str] = set()
    front = set(names)
    while front:
        found |= front
        front = set().union(*(helpers.get(name, frozenset()) for name in front)) - found
    return frozenset(found)


def _is_slow(path: PurePosixPath) -> bool:
    return str(path).startswith(SLOW_FOLDERS)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)

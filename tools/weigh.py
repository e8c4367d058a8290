"""`python -m tools.weigh`: lines and files of the tree, and what one more add-on, rule or type costs.

Lines are those of files that git knows or would add, blank ones and comments included. Code is what is left of Python
without blank lines, comments, docstrings and imports; it stays below the caps in pyproject.toml (`tool.weigh.caps`), or
`make test` fails: a feature that needs more takes something out, or raises a cap in a commit that says why.

What one thing costs is measured on examples that are in the tree, by their names: what is defined under a name (class,
function, value, entry of a mapping, block of YAML), and the other lines that have it. Pages, tests, stacks, recordings
and generated files are not counted. CONTRIBUTING says what is normal.
"""

import ast
import re
import statistics
import subprocess
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SHIPPED: Final = ("spec", "components", "infra", "policies", "slipway", "sandbox")
SMALL, LARGE = 40, 600  # lines of a file that has to be more than a package's face, and of the longest one
NOT_BY_HAND: Final = (
    "docs", "tests", "stacks", "examples",
    "templates", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "requirements.lock",
    "tools/weigh.py",
    "policies/levels", "policies/coverage.json", "slipway/charts/verified.yaml", "spec/catalog/data/ec2-types.json",
    "spec/catalog/data/architectures.yaml",
)  # fmt: skip
"""Files and folders that are generated or recorded, or that say the same for readers."""


@dataclass(frozen=True)
class Example:
    """Something in the tree that stands for all of its kind; `names` is a regular expression."""

    kind: str
    name: str
    names: str


EXAMPLES: Final = (
    Example("add-on, one chart", "certManager", r"CertManager|cert_manager|cert-manager|certManager"),
    Example(
        "add-on, with kinds for teams", "leaderWorkerSet", r"LeaderWorkerSet|leader_worker_set|leaderWorkerSet|lws"
    ),
    Example("add-on, with network policy", "keda", r"Keda|keda"),
    Example("policy rule", "efs-access-points", r"efs-access-points|ACCESS_POINTS"),
    Example("AWS type of the sandbox", "efs/accessPoint", r"aws:efs/accessPoint:AccessPoint|EFS_ACCESS_POINT"),
    Example("instance type", "p5en.48xlarge", r"p5en\.48xlarge"),
)


@dataclass(frozen=True)
class Cost:
    """What one thing takes by hand: lines by file."""

    defined: Mapping[str, int]  # in files that define it
    named: Mapping[str, int]  # in other files

    @property
    def lines(self) -> int:
        """All lines."""
        return sum(self.defined.values()) + sum(self.named.values())


def tracked() -> dict[str, list[str]]:
    """Lines of every text file that git knows or would add, by its path."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    texts = {}
    for name in names:
        try:
            texts[name] = (ROOT / name).read_text(encoding="utf-8").splitlines()
        except (UnicodeDecodeError, OSError):
            continue  # a picture, or removed
    return texts


def part(name: str) -> tuple[str, str]:
    """Package and tier of a file: `("spec", "shipped Python")`; an empty tier for what isn't weighed."""
    package, end = PurePath(name).parts[0], PurePath(name).suffix
    if package == "tests":
        return package, "tests Python" if end == ".py" else "tests data"
    if end == ".go":
        return package, "Go"
    if package == "tools":
        return package, "tools" if end in (".py", ".sh") else ""
    return package, (
        {".py": "shipped Python", ".yaml": "data", ".json": "data"}.get(end, "") if package in SHIPPED else ""
    )


def lines_of(texts: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], Counter[str]]:
    """Lines and files, and small and large ones, by tier and package."""
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for name, lines in texts.items():
        package, tier = part(name)
        if tier:
            small = len(lines) < SMALL and PurePath(name).name not in ("__init__.py", "__main__.py", "conftest.py")
            found[tier, package] += Counter(
                lines=len(lines), files=1, small=int(small and name.endswith(".py")), large=int(len(lines) > LARGE)
            )
    return found


def code(lines: Sequence[str]) -> int:
    """Lines of Python that are no blank line, comment, import, or text that stands by itself."""
    rows = {number for number, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")}
    for node in ast.walk(ast.parse("\n".join(lines))):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if isinstance(node, ast.stmt) and (text or isinstance(node, ast.Import | ast.ImportFrom)):
            rows.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(rows)


def code_of(texts: Mapping[str, Sequence[str]]) -> Counter[str]:
    """Lines of code by package."""
    found: Counter[str] = Counter()
    for name, lines in texts.items():
        if name.endswith(".py") and part(name)[1]:
            found[part(name)[0]] += code(lines)
    return found


def caps() -> dict[str, int]:
    """The most lines of code that a package may have."""
    stated: dict[str, int] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["weigh"][
        "caps"
    ]
    return stated


def cost(texts: Mapping[str, Sequence[str]], names: str) -> Cost:
    """What the things of these names take in the files that people write."""
    defined: dict[str, int] = {}
    named: dict[str, int] = {}
    for name, lines in sorted(texts.items()):
        if any(PurePath(name).is_relative_to(other) for other in NOT_BY_HAND):
            continue
        if PurePath(name).suffix in (".py", ".yaml", ".json"):
            own, mentions = (_python if name.endswith(".py") else _block)(lines, names)
            if own or mentions:
                (defined if own else named)[name] = len(own | mentions)
    return Cost(defined, named)


def _word(names: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{names})(?![\w-])")


def _python(lines: Sequence[str], names: str) -> tuple[set[int], set[int]]:
    """Lines of definitions, and lines with a name."""
    mentions = {number for number, line in enumerate(lines, 1) if _word(names).search(line)}
    own: set[int] = set()
    for node in ast.walk(ast.parse("\n".join(lines))) if mentions else ():
        for name, whole in _defined(node):
            if re.fullmatch(names, name):
                own.update(range(whole.lineno, (whole.end_lineno or whole.lineno) + 1))
    return own, mentions


def _defined(node: ast.AST) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    """Names that a node defines, each with the part of the tree that it stands for."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        yield node.name, node
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from ((target.id, node) for target in targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    elif isinstance(node, ast.Call):
        given = [*node.args, *(each.value for each in node.keywords if each.arg in ("name", "type", "token"))]
        yield from (
            (each.value, node) for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)
        )


def _block(lines: Sequence[str], names: str) -> tuple[set[int], set[int]]:
    """Of YAML or JSON: lines below a key of that name, with the key's, and lines with a name."""
    key = re.compile(rf"\s*(?:- )?\"?(?:{names})\"?:")
    own: set[int] = set()
    depth: int | None = None
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        if depth is not None and line.strip() and indent <= depth:
            depth = None
        if depth is None and key.match(line):
            depth = indent
        if depth is not None:
            own.add(number)
    return own, {number for number, line in enumerate(lines, 1) if _word(names).search(line)}


def report() -> Iterator[str]:
    """The lines of the report."""
    texts = tracked()
    weighed = lines_of(texts)
    yield f"{'Tier':16}{'Package':12}{'Lines':>8}{'Files':>7}{'Median':>8}{f'<{SMALL}':>6}{f'>{LARGE}':>6}"
    for tier in ("shipped Python", "Go", "data", "tests Python", "tests data", "tools"):
        rows = {package: counts for (other, package), counts in weighed.items() if other == tier}
        for package, counts in [
            *sorted(rows.items()),
            *([("all", sum(rows.values(), Counter()))] if len(rows) > 1 else []),
        ]:
            sizes = [
                len(lines)
                for name, lines in texts.items()
                if part(name)[1] == tier and package in ("all", part(name)[0])
            ]
            yield (
                f"{tier:16}{package:12}{counts['lines']:8,}{counts['files']:7,}{statistics.median(sizes):8.0f}"
                f"{counts['small']:6}{counts['large']:6}"
            )
    yield f"\n{'Code':28}{'Lines':>8}{'Cap':>8}"
    written = code_of(texts)
    yield from (f"{package:28}{written[package]:8,}{most:8,}" for package, most in caps().items())
    yield "\nWhat one costs by hand"
    for example in EXAMPLES:
        price = cost(texts, example.names)
        files = f"{len(price.defined)} files, named in {len(price.named)} others"
        yield f"  {example.kind}, {example.name}: {price.lines} lines, {files}"
        yield from (f"    {count:4}  {name}" for name, count in price.defined.items())
        if price.named:
            yield f"    {sum(price.named.values()):4}  {', '.join(price.named)}"


if __name__ == "__main__":
    print("\n".join(report()))

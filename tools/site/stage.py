"""Collects the pages of the repository for the website, and its table of contents.

The pages stay as they are, with links that work on GitHub. For the site they are copied to `build/site/pages`: those of
`docs` to its top, others below `project` and `examples`, with their links changed. A link to a file that is no page
keeps its text alone: the site doesn't know where the repository is.
"""

import os
import posixpath
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final

import yaml

from tools.lock import ROOT
from tools.site import releases
from tools.site.markdown import rewrite, title

BUILD: Final = ROOT / "build" / "site"
CONFIG: Final = Path(__file__).with_name("mkdocs.yml")
ASSETS: Final = Path(__file__).with_name("assets")
_OTHERS: Final = {
    "README.md": "project/about.md",
    "CONTRIBUTING.md": "project/contributing.md",
    releases.SOURCE: releases.INDEX,
    "SECURITY.md": "project/security.md",
    "stacks/README.md": "stacks.md",
}


class _Tagged(dict[str, Any]):
    """A mapping with a tag that only MkDocs understands."""

    tag: str


class _Loader(yaml.SafeLoader):
    """Keeps such tags."""

    def tagged(self, suffix: str, node: yaml.Node) -> _Tagged:
        """A mapping with the tag of its node."""
        found = _Tagged(self.construct_mapping(node, deep=True))  # type: ignore[arg-type]
        found.tag = f"tag:yaml.org,2002:python/{suffix}"
        return found


class _Dumper(yaml.SafeDumper):
    """Writes such tags."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _Loader.tagged)
_Dumper.add_representer(_Tagged, lambda dumper, data: dumper.represent_mapping(data.tag, dict(data)))


def placed(path: str) -> str | None:
    """Where a page of the repository is on the site; None if it is not there."""
    parts = PurePosixPath(path).parts
    if path in _OTHERS:
        return _OTHERS[path]
    if parts[0] == "docs":
        return posixpath.join(*parts[1:])
    if parts[0] == "examples" and len(parts) == 3 and parts[2] == "README.md":
        return f"examples/{parts[1]}.md"
    return None


def pages(root: Path = ROOT) -> dict[str, str]:
    """Pages and pictures by their paths in the repository, with their paths on the site."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md", "docs/images"]
    names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    found = {name: placed(name) for name in sorted(names) if (root / name).is_file()}
    return {name: place for name, place in found.items() if place is not None}


def stage(root: Path = ROOT, build: Path = BUILD) -> Path:
    """Write pages and configuration; returns the path of the configuration."""
    shutil.rmtree(build, ignore_errors=True)
    target = build / "pages"
    known = pages(root)
    texts: dict[str, str] = {}
    for name, place in known.items():
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        if not place.endswith(".md"):
            shutil.copy2(root / name, target / place)
            continue
        text = (root / name).read_text(encoding="utf-8")
        made = releases.pages(text) if name == releases.SOURCE else {}
        here = partial(_link, name, known={**known, **{one: one for one in made}})
        texts |= {one: rewrite(page, here) for one, page in (made or {place: text}).items()}
    for place, text in texts.items():
        (target / place).write_text(text, encoding="utf-8")
    shutil.copytree(ASSETS, target / "assets")
    config = build / "mkdocs.yml"
    config.write_text(yaml.dump(configuration(texts), Dumper=_Dumper, sort_keys=False), encoding="utf-8")
    return config


def _link(page: str, link: str, known: Mapping[str, str]) -> str | None:
    """A link of a page for the site."""
    if "://" in link or link.startswith(("mailto:", "#")):
        return link
    path, mark, heading = link.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    place = known.get(target) or known.get(posixpath.join(target, "README.md"))
    if place is None:
        return None
    here = placed(page) or ""
    return os.path.relpath(place, posixpath.dirname(here) or ".") + mark + heading


def configuration(texts: Mapping[str, str]) -> dict[str, Any]:
    """The configuration of MkDocs, with patterns in its table of contents replaced by the pages they match.

    The last pattern matches what no other entry does.
    """
    # MkDocs resolves the tags of Python objects; here they are kept as they are.
    config: dict[str, Any] = yaml.load(CONFIG.read_text(encoding="utf-8"), _Loader)  # noqa: S506, TID251 - a safe loader
    left = dict.fromkeys(sorted(texts))
    # Pages that are named are of no pattern.
    for name in _names(config["nav"]):
        if "*" not in name:
            left.pop(name)
    config["nav"] = [_entry(entry, left, texts) for entry in config["nav"]]
    return config


def _names(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, Mapping):
        for value in nav.values():
            yield from _names(value)
    else:
        for value in nav:
            yield from _names(value)


def _entry(entry: Any, left: dict[str, None], texts: Mapping[str, str]) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    ((name, value),) = entry.items()
    if isinstance(value, str):
        return entry
    inside: list[Any] = []
    for one in value:
        if isinstance(one, str) and "*" in one:
            matching = [page for page in left if PurePosixPath(page).match(one)]
            inside += [{title(texts[page]): page} for page in matching]
            for page in matching:
                left.pop(page)
        elif isinstance(one, str):
            inside.append({title(texts[one]): one})
        else:
            inside.append(_entry(one, left, texts))
    return {name: inside}

"""YAML on pages is YAML, and no key is in a mapping twice: what a reader copies means what it seems to."""

import re
import textwrap
from collections.abc import Iterator
from typing import Any, Final

import yaml

from tests.docs.pages import ROOT, pages

FENCED: Final = re.compile(r"^( *)```yaml\n(.*?)^ *```", re.M | re.S)


class Strict(yaml.SafeLoader):
    """Refuses a key that a mapping has already."""


def mapping(loader: Strict, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    twice = sorted({str(key) for key in keys if keys.count(key) > 1})
    if twice:
        raise yaml.constructor.ConstructorError(None, None, f"twice: {', '.join(twice)}", node.start_mark)
    return yaml.SafeLoader.construct_mapping(loader, node, deep)


Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)


def blocks(text: str) -> Iterator[str]:
    """Blocks of YAML, without the indentation of a list that they are in."""
    for _, block in FENCED.findall(text):
        yield textwrap.dedent(block)


def problem(block: str) -> str:
    """What is wrong with a block; empty if nothing is."""
    try:
        for _ in yaml.load_all(block, Strict):
            pass
    except yaml.YAMLError as error:
        return str(error)
    return ""


def test_yaml_on_the_pages_can_be_read() -> None:
    texts = {page.relative_to(ROOT): page.read_text(encoding="utf-8") for page in pages()}
    wrong = [
        (page, block, found) for page, text in texts.items() for block in blocks(text) if (found := problem(block))
    ]
    assert "\n".join(f"{page}:\n{block}\n{found}" for page, block, found in wrong) == ""


def test_lost_indentation_is_noticed() -> None:
    text = "1. A job:\n\n   ```yaml\n   metadata: {labels: {a: b}}\n   spec:\n   template:\n   spec:\n   ```\n\nNext.\n"
    (block,) = blocks(text)
    assert "twice: spec" in problem(block)
    assert list(blocks("Run:\n\n```bash\nslipway check dev\n```\n")) == []

"""The pages of the quickstarts have the YAML that the command prints, and the command that prints it."""

import re
from pathlib import Path

import pytest
import yaml

from tests.components.workloads.test_crds import FILES, wrong
from tests.slipway.quickstarts.pages import FOLDER, PAGES, STACK, Page
from tests.support.generated import QUICKSTARTS, check_part


@pytest.fixture(params=list(PAGES))
def page(request: pytest.FixtureRequest) -> Page:
    return PAGES[request.param]


def test_the_yaml_of_a_page_is_current(page: Page) -> None:
    check_part(page.path, "yaml", page.part(), QUICKSTARTS)


def test_a_page_names_the_command_and_the_file_of_its_yaml(page: Page) -> None:
    content = page.path.read_text(encoding="utf-8")
    file = f"{page.name}.yaml"
    commands = [
        f"slipway quickstart {page.name} --stack {STACK} --team {page.team} > {file}",
        f"kubectl apply --server-side -f {file}",
    ]
    run = content.partition("## Run it\n")[2].partition("\n## ")[0]
    assert run.partition("```bash\n")[2].splitlines()[:2] == commands


def test_the_yaml_of_a_page_satisfies_the_crds(page: Page, shared: Path) -> None:
    documents = list(yaml.safe_load_all(page.yaml()))
    assert documents
    for manifest in documents:
        if manifest["kind"] in FILES:
            assert wrong(shared / "charts", manifest) == []


def test_the_folder_has_a_page_for_each_quickstart_and_an_index() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == {*PAGES, "README"}
    listed = re.findall(r"^\| [^|]+ \| \[([a-z-]+)\]", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)
    assert listed == list(PAGES)

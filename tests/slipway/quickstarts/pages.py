"""The pages of docs/quickstarts: for whom each is written, and the YAML on it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infra.target import target_of
from slipway.cli.quickstart import comments
from slipway.quickstarts import PLACEHOLDER, QUICKSTARTS, QuickstartRequest, choose, namespace_of, text
from spec.settings import load, read_stack
from tests.support.generated import ROOT

FOLDER: Final = ROOT / "docs" / "quickstarts"
STACK: Final = "dev"
TEAMS: Final = dict.fromkeys(QUICKSTARTS, "vision") | {"two-nodes": "language"}
"""Team of each page; `vision` has no whole GPU in stack dev."""


@dataclass(frozen=True)
class Page:
    """A page of a quickstart."""

    name: str

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.md"

    @property
    def team(self) -> str:
        return TEAMS[self.name]

    def yaml(self, models: str | None = None) -> str:
        """What the command of the page prints, with an address of the team's models."""
        platform = load(read_stack(STACK, ROOT / "stacks"), stack=STACK).platform
        namespace = namespace_of(platform, self.team, QUICKSTARTS[self.name].purposes)
        address = PLACEHOLDER.format(team=self.team) if models is None else models
        target = target_of(platform, namespace=namespace)
        request = QuickstartRequest(name=self.name, platform=platform, target=target, models=address)
        chosen = choose(self.name, request)
        return text(chosen.manifests, comments(self.name, STACK, self.team, chosen))

    def part(self) -> str:
        """The YAML as a block of code."""
        return f"```yaml\n{self.yaml()}```"


PAGES: Final = {name: Page(name) for name in QUICKSTARTS}

"""Boxes, arrows and text as SVG, in the colours of the report, light and dark."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Final

FONT: Final = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
MONO: Final = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
STYLE: Final = f"""\
  text {{ font: 14px {FONT}; fill: #1f2933 }}
  .head {{ font-weight: 600; font-size: 15px }} .title {{ font-weight: 600; font-size: 18px }}
  .small {{ font-size: 12px; fill: #52606d }} .code {{ font-family: {MONO}; font-size: 13px; font-weight: 600 }}
  .ground {{ fill: #ffffff }} .box {{ fill: #f5f7fa; stroke: #9aa5b1 }}
  .aws {{ fill: #fff4e0; stroke: #d98e04 }} .sandbox {{ fill: #e3f6f5; stroke: #0e7c7b }}
  .line {{ stroke: #52606d; stroke-width: 1.5; fill: none }}
  .always {{ fill: #ffffff; stroke: #3e4c59; stroke-width: 1.5 }}
  .elastic {{ fill: none; stroke: #9aa5b1; stroke-dasharray: 4 3 }}
  .gpu {{ fill: #0e7c7b }} .idle {{ fill: #9fd3d1 }}
  @media (prefers-color-scheme: dark) {{
    text {{ fill: #e4e7eb }} .small {{ fill: #b0bac5 }}
    .ground {{ fill: #1b2129 }} .box {{ fill: #252d38; stroke: #616e7c }}
    .aws {{ fill: #3a2d12; stroke: #f0b429 }} .sandbox {{ fill: #10312f; stroke: #2cb1ad }}
    .line {{ stroke: #b0bac5 }} .always {{ fill: #1b2129; stroke: #cbd2d9 }} .elastic {{ stroke: #7b8794 }}
    .gpu {{ fill: #2cb1ad }} .idle {{ fill: #1b5a58 }}
  }}
"""


@dataclass
class Drawing:
    """An SVG picture; coordinates are in pixels from the upper left corner."""

    width: int
    height: int
    description: str
    parts: list[str] = field(default_factory=list)

    def rect(self, x: float, y: float, width: float, height: float, kind: str, radius: int = 8) -> None:
        """A rectangle of a class of the style."""
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        self.parts.append(f'<rect {place} rx="{radius}" class="{kind}"/>')

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        """A line of text; `y` is its base line."""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>')

    def lines(self, x: float, y: float, lines: Iterable[str], kind: str = "small", step: int = 18) -> None:
        """Lines of text below each other."""
        for number, line in enumerate(lines):
            self.text(x, y + number * step, line, kind)

    def box(self, x: float, y: float, width: float, head: str, lines: Iterable[str], kind: str = "box") -> None:
        """A box with a headline and smaller lines, as high as they are."""
        below = list(lines)
        self.rect(x, y, width, 44 + 18 * len(below), kind)
        self.text(x + 14, y + 28, head, "head")
        self.lines(x + 14, y + 48, below)

    def arrow(self, *points: tuple[float, float]) -> None:
        """A line through points, with its head at the last."""
        path = " ".join(f"{'L' if number else 'M'}{x:g} {y:g}" for number, (x, y) in enumerate(points))
        self.parts.append(f'<path d="{path}" class="line" marker-end="url(#head)"/>')

    def svg(self, style: str = "") -> str:
        """The whole picture."""
        marker = (
            '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M1 1 L7 4 L1 7" class="line"/></marker>'
        )
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(self.description)}">',
                f"<style>\n{STYLE}{style}</style>",
                f"<defs>{marker}</defs>",
                f'<rect width="{self.width}" height="{self.height}" rx="10" class="ground"/>',
                *self.parts,
                "</svg>\n",
            ]
        )

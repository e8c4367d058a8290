"""A recorded session as an SVG that plays by itself: CSS shows line after line and scrolls."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from tools.site.drawing import MONO

COLUMNS: Final = 112
ROWS: Final = 26
ROW: Final = 18
WIDTH: Final = 920
TOP: Final = 44
LEFT: Final = 18
KEY: Final = 0.03  # seconds for each character that is typed
READ: Final = 2.5  # seconds for reading what a command printed
END: Final = 5.0  # seconds that the last screen stays


def terminal(session: Sequence[Mapping[str, Any]]) -> str:
    """The picture of a session: for each command its text, and its lines with the seconds before each."""
    rows, now = [], 0.0
    for number, step in enumerate(session):
        if number:
            rows.append((now, "", ""))
        rows.append((now, "prompt", f"$ {step['command']}"))
        now += len(step["command"]) * KEY
        for wait, line in step["lines"]:
            now += wait
            rows.append((now, _kind(line), line))
        now += READ if step["lines"] else READ / 4
    return _svg(rows, now + END)


def _kind(line: str) -> str:
    """Colours of a line: additions, removals and headlines."""
    words = line.split()
    for word, kind in (("create", "add"), ("delete", "remove"), ("update", "change")):
        if word in words[:4] or (words and words[0] == word):
            return kind
    return "head" if line.startswith("Stack ") else ""


def _svg(rows: Sequence[tuple[float, str, str]], seconds: float) -> str:
    height = TOP + ROWS * ROW + 16
    frames, body = [], []
    for number, (at, kind, text) in enumerate(rows):
        start = 100 * at / seconds
        frames.append(
            f"  @keyframes r{number} {{ 0%, {start:.2f}% {{ opacity: 0 }} {start + 0.01:.2f}%, 100% {{ opacity: 1 }} }}"
        )
        shown = text if len(text) <= COLUMNS else f"{text[: COLUMNS - 1]}…"
        style = f'style="animation-name: r{number}"'
        body.append(
            f'<text x="{LEFT}" y="{TOP + (number + 1) * ROW}" class="row {kind}" {style}>{escape(shown)}</text>'
        )
    css = f"""\
  .row {{ font: 13px {MONO}; fill: #d8dee9; white-space: pre; animation-duration: {seconds:.1f}s;
    animation-iteration-count: infinite }}
  .prompt {{ fill: #ffffff; font-weight: 600 }} .add {{ fill: #8fd694 }} .remove {{ fill: #f2888a }}
  .change {{ fill: #f2d08b }} .head {{ fill: #7fd1cf; font-weight: 600 }}
  .all {{ animation: scroll {seconds:.1f}s infinite }}
{_scroll(rows, seconds)}
  @media (prefers-reduced-motion: reduce) {{ .row {{ animation: none }} .all {{ animation: none;
    transform: translateY({-max(0, len(rows) - ROWS) * ROW}px) }} }}
"""
    label = "A recorded session: check, up and preview of stack dev in the sandbox, and the list of quickstarts"
    dots = "".join(
        f'<circle cx="{22 + n * 20}" cy="22" r="6" fill="{c}"/>'
        for n, c in enumerate(("#f2888a", "#f2d08b", "#8fd694"))
    )
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    screen = f'y="{TOP - 6}" width="{WIDTH}" height="{ROWS * ROW + 12}"'
    inside = f'viewBox="0 {TOP - 6} {WIDTH} {ROWS * ROW + 12}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">',
            f"<style>\n{css}{chr(10).join(frames)}\n</style>",
            f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#1b2129"/>{dots}',
            f'<svg x="0" {screen} {inside}>',
            '<g class="all">',
            *body,
            "</g>",
            "</svg>",
            "</svg>\n",
        ]
    )


def _scroll(rows: Sequence[tuple[float, str, str]], seconds: float) -> str:
    """Positions of the text: it moves up when the screen is full, once for all rows that come at one time."""
    filled = {f"{100 * at / seconds:.2f}": number + 1 for number, (at, _, _) in enumerate(rows)}
    steps, moved = [], 0
    for percent, count in filled.items():
        if count > ROWS:
            steps.append(f"{percent}% {{ transform: translateY({-moved}px) }}")
            moved = (count - ROWS) * ROW
            steps.append(f"{float(percent) + 0.01:.2f}% {{ transform: translateY({-moved}px) }}")
    frames = ["0% { transform: translateY(0px) }", *steps, f"100% {{ transform: translateY({-moved}px) }}"]
    return "  @keyframes scroll { " + " ".join(frames) + " }"

"""The page in Chromium: rendering, keyboard navigation, printing."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from slipway.report.page import SECTIONS, page
from tests.slipway.report import browser
from tests.slipway.report.conftest import SampleReport

CHROMIUM: Final = browser.find()
WIDTHS: Final = (360, 768, 1280)

pytestmark = [
    pytest.mark.xdist_group("report"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH: `make browser` installs it on Debian and Ubuntu"),
]

# Contrast of text with the nearest opaque background; WCAG 2.2 level AA requires 4.5 (success criterion 1.4.3).
# Colours are drawn on a canvas, which converts every notation to sRGB.
CONTRAST: Final = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")

OPEN: Final = "for (const one of document.querySelectorAll('details')) one.open = true"
WIDE: Final = """[...document.querySelectorAll("main *, footer *")]
  .filter(one => one.getBoundingClientRect().right > innerWidth + 0.5)
  .map(one => `${one.tagName} ${one.className} in ${(one.closest("section") || {}).id}`).slice(0, 5)"""


@pytest.fixture(scope="module")
def path(sample: SampleReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("report") / "index.html"
    found.write_text(page(sample.report), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def window(path: Path) -> Iterator[browser.Tab]:
    assert CHROMIUM is not None
    with browser.browser(CHROMIUM) as tab:
        yield tab


@pytest.fixture
def tab(window: browser.Tab, path: Path) -> browser.Tab:
    window.complaints.clear()
    window.size(1280)
    window.open(path)
    window.ask("localStorage.clear()")
    window.open(path)
    return window


def test_every_pool_is_drawn_with_all_its_gpus(tab: browser.Tab, sample: SampleReport) -> None:
    drawn = tab.ask("""Object.fromEntries([...document.querySelectorAll("[data-pool]")].map(pool => [pool.dataset.pool,
      [...pool.querySelectorAll("[data-nodes]")].reduce((sum, node) => {
        const chips = [...node.querySelectorAll("[data-gpu]")].filter(one => one.getBoundingClientRect().width > 8);
        return sum + Number(node.dataset.nodes) * chips.length;
      }, 0)]))""")
    assert drawn == {pool.name: pool.gpus_max for pool in sample.report.pools}


def test_every_mig_instance_is_drawn_in_proportion(tab: browser.Tab, sample: SampleReport) -> None:
    partitioned = next(pool for pool in sample.report.pools if pool.slices)
    gpu = f'[data-pool="{partitioned.name}"] [data-gpu]'
    widths = tab.ask(f"""[...document.querySelector('{gpu}').querySelectorAll("i, u")]
      .map(one => one.getBoundingClientRect().width)""")
    parts = [one.compute for one in partitioned.slices]
    parts += [partitioned.unused_slices] if partitioned.unused_slices else []
    assert len(widths) == len(parts)
    assert widths[0] / widths[-1] == pytest.approx(parts[0] / parts[-1], rel=0.05)


def test_nodes_are_inside_their_pool_and_do_not_overlap(tab: browser.Tab) -> None:
    overlaps = tab.ask("""[...document.querySelectorAll("[data-pool]")].flatMap(pool => {
      const outer = pool.getBoundingClientRect();
      const all = [...pool.querySelectorAll(".node")].map(node => node.getBoundingClientRect());
      return all.filter((a, i) => a.right > outer.right || a.left < outer.left
        || all.some((b, j) => j > i && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
    }).length""")
    assert overlaps == 0


def test_no_section_is_empty(tab: browser.Tab) -> None:
    heights = tab.ask("""Object.fromEntries([...document.querySelectorAll("main section")]
      .map(one => [one.id, one.getBoundingClientRect().height]))""")
    assert list(heights) == list(SECTIONS)
    assert min(heights.values()) > 80


def test_bars_are_proportional_to_their_amounts(tab: browser.Tab, sample: SampleReport) -> None:
    bars = sample.report.bill.by["pool"]
    largest = max(bar.amounts.ceiling for bar in bars)
    widths = tab.ask("""[...document.querySelectorAll('[data-by="pool"] .track')].map(track =>
      track.querySelector(".ceiling").getBoundingClientRect().width / track.getBoundingClientRect().width)""")
    assert widths == pytest.approx([float(bar.amounts.ceiling / largest) for bar in bars], abs=0.01)


def test_every_quota_is_drawn(tab: browser.Tab, sample: SampleReport) -> None:
    shown = tab.ask("""Object.fromEntries([...document.querySelectorAll("[data-quota]")].map(quota =>
      [quota.dataset.quota, quota.querySelectorAll(".part").length]))""")
    assert shown == {quota.pool: len(quota.parts) for quota in sample.report.quotas}


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(tab: browser.Tab, width: int) -> None:
    tab.size(width)
    tab.ask(OPEN)
    assert tab.ask(WIDE) == []
    assert tab.ask("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", WIDTHS)
def test_cells_stay_in_their_card_and_names_in_words(tab: browser.Tab, width: int) -> None:
    tab.size(width)
    outside, narrow = (
        tab.ask("""[...document.querySelectorAll("section .ranked")].reduce(([outside, narrow], table) => {
      const right = table.closest("section").getBoundingClientRect().right;
      const cells = [...table.querySelectorAll("th, td")].filter(cell => cell.getBoundingClientRect().width);
      return [
        outside + cells.filter(cell => cell.getBoundingClientRect().right > right).length,
        narrow + cells.filter(cell => cell.scope === "row" && cell.getBoundingClientRect().width < 80).length,
      ];
    }, [0, 0])""")
    )
    assert (outside, narrow) == (0, 0)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_has_enough_contrast(tab: browser.Tab, dark: bool) -> None:
    tab.size(1280, dark=dark)
    tab.ask(OPEN)
    found = tab.ask(CONTRAST)
    assert found["poor"] == []
    assert found["seen"] > 300


def test_the_button_switches_the_theme_and_the_page_remembers_it(tab: browser.Tab, path: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light = tab.ask(background)
    assert tab.ask("document.getElementById('theme').checkVisibility()")
    tab.ask("document.getElementById('theme').click()")
    dark = tab.ask(background)
    assert dark != light
    assert tab.ask("document.getElementById('theme').getAttribute('aria-pressed')") == "true"
    tab.open(path)
    assert tab.ask(background) == dark
    tab.ask("document.getElementById('theme').click()")
    assert tab.ask(background) == light


def test_the_theme_follows_the_system_by_default(tab: browser.Tab) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light = tab.ask(background)
    tab.size(1280, dark=True)
    assert tab.ask(background) != light


def test_the_tab_key_reaches_every_section_with_a_visible_focus(tab: browser.Tab) -> None:
    tab.tab()
    assert tab.ask("document.activeElement.className") == "skip"
    assert tab.ask("document.activeElement.getBoundingClientRect().left >= 0")
    reached = []
    for _ in SECTIONS:
        tab.tab()
        reached.append(tab.ask("document.activeElement.getAttribute('href')"))
        assert tab.ask("parseFloat(getComputedStyle(document.activeElement).outlineWidth)") >= 2
    assert reached == [f"#{name}" for name in SECTIONS]
    tab.tab()
    assert tab.ask("document.activeElement.id") == "theme"


def test_landmarks_headings_and_names_exist_for_screen_readers(tab: browser.Tab) -> None:
    once = ["body > header", "nav", "main", "body > footer", "h1"]
    assert tab.ask(f"{once}.filter(name => document.querySelectorAll(name).length === 1)") == once
    unnamed = tab.ask("""[...document.querySelectorAll("[role=img], nav, button, section")]
      .filter(one => !one.getAttribute("aria-label") && !one.getAttribute("aria-labelledby")).length""")
    assert unnamed == 0
    levels = tab.ask("[...document.querySelectorAll('h1, h2, h3')].map(one => Number(one.tagName[1]))")
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_console_has_no_errors_or_warnings(tab: browser.Tab) -> None:
    tab.ask(OPEN)
    assert tab.complaints == []


def test_printing_splits_no_row_or_card_across_pages(tab: browser.Tab) -> None:
    pages = re.findall(rb"/Type\s*/Page\b", tab.pdf())
    assert 3 < len(pages) < 40
    tab.call("Emulation.setEmulatedMedia", media="print")
    tab.size(700)
    tab.call("Emulation.setEmulatedMedia", media="print")
    split = tab.ask("""[...document.querySelectorAll("tr, .pool, .card, .zone, .quota, .alarm, .finding")]
      .filter(one => getComputedStyle(one).breakInside !== "avoid").length""")
    assert split == 0
    assert tab.ask("getComputedStyle(document.querySelector('thead')).display") == "table-header-group"
    assert tab.ask("document.documentElement.scrollWidth") <= 700
    tab.call("Emulation.setEmulatedMedia", media="")


def test_folded_sections_are_opened_for_printing(tab: browser.Tab) -> None:
    tab.ask("dispatchEvent(new Event('beforeprint'))")
    assert tab.ask("document.querySelectorAll('details:not([open]):not(.pool details)').length") == 0
    tab.ask("dispatchEvent(new Event('afterprint'))")
    assert tab.ask("document.querySelectorAll('details:not([open])').length") > 0


def test_printing_uses_light_colors_in_dark_mode(tab: browser.Tab) -> None:
    tab.size(1280, dark=True)
    background = "getComputedStyle(document.querySelector('.pool')).backgroundColor"
    dark = tab.ask(background)
    tab.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert tab.ask(background) != dark
    tab.call("Emulation.setEmulatedMedia", media="")

"""A whole production stack on a real API server with every chart at hand: no key unchecked, no kind made up.

Needs the directory of shared samples, which holds the charts; a minute alone on two cores.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from slipway.sandbox.notes import NoteKind, load_notes
from tests.e2e.world import World

pytestmark = pytest.mark.sandbox


def test_prod_has_no_stand_in_and_no_unchecked_value(shared: Path, tmp_path: Path) -> None:
    world = World.make(tmp_path)
    try:
        said = world.succeed("up", "prod", "--sandbox", more={"SLIPWAY_CHARTS": str(shared / "charts")})
        notes = load_notes(world.home)
    finally:
        world.run("sandbox", "stop")
    assert notes
    left = [note for note in notes if note.kind not in (NoteKind.RENDERED, NoteKind.CHECKED)]
    assert not left, "\n".join(f"{note.urn.rpartition('::')[2]}: {note.kind}: {note.text}" for note in left)
    assert not [note for note in notes if "the release asks for" in note.text], "a chart of another version"
    assert "  recorded 0" in said.splitlines()

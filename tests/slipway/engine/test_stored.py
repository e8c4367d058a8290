"""The state in a folder: a cut one is refused, and leads to what the engine kept of the run before."""

import gzip
from pathlib import Path

import pytest

from slipway.engine.stored import StoredState
from spec.errors import SlipwayError
from tests.slipway.engine.states import checkpoint, file, things

CUT = checkpoint(things(5), 9)[:5000]


@pytest.fixture
def stored(tmp_path: Path) -> StoredState:
    return StoredState(tmp_path, "dev")


def kept(stored: StoredState, number: int, content: str) -> Path:
    """What the engine keeps of the state when a run ends."""
    path = stored.backend / f".pulumi/history/slipway/dev/dev-179598120{number}.checkpoint.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_a_whole_state_is_counted_and_none_is_empty(stored: StoredState) -> None:
    assert stored.resources == 0
    stored.require_readable()
    file(stored.backend).write_text(checkpoint(things(3)))
    assert stored.resources == 4
    stored.require_readable()
    file(stored.backend).write_text(checkpoint(None))
    assert stored.resources == 0


@pytest.mark.parametrize(
    ("damaged", "says"),
    [
        ("", "it is empty"),
        (CUT, "it is cut or damaged after"),
        *((text, "it is JSON, but not") for text in ("null", "{}", '{"version":3}', '{"checkpoint":{}}')),
        ('{"version":3,"checkpoint":{"latest":[1]}}', "it is JSON, but not"),
        ('{"version":3,"checkpoint":{"latest":{"resources":[{}]}}}', "it is JSON, but not"),
    ],
)
def test_a_damaged_state_leads_to_the_newest_whole_one(stored: StoredState, damaged: str, says: str) -> None:
    path = file(stored.backend)
    path.write_text(damaged)
    with pytest.raises(SlipwayError, match="the backend has no whole copy of it"):
        stored.require_readable()
    kept(stored, 1, checkpoint(things(1)))
    whole = kept(stored, 2, checkpoint(things(3)))
    kept(stored, 3, CUT)
    with pytest.raises(SlipwayError) as caught:
        stored.require_readable()
    for part in (str(path), says, str(whole), "4 resources", "`slipway state repair dev`"):
        assert part in str(caught.value)
    assert len(stored.before()["resources"]) == 4


def test_a_compressed_state_is_read_and_the_one_written_last_counts(stored: StoredState) -> None:
    path = file(stored.backend).with_name("dev.json.gz")
    path.write_bytes(gzip.compress(checkpoint(things(2)).encode()))
    assert stored.resources == 3
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(SlipwayError, match=r"dev\.json\.gz: it is cut or damaged"):
        stored.require_readable()
    path.with_name("dev.json.zst").write_bytes(b"?")
    stored.require_readable()


def test_empty_attributes_are_found(stored: StoredState) -> None:
    file(stored.backend).write_text(checkpoint(things(2)))
    attributes = file(stored.backend).with_name("dev.json.attrs")
    attributes.touch()
    with pytest.raises(SlipwayError, match=r"dev\.json\.attrs: it is empty.*\n.*remove that file"):
        stored.require_readable()
    attributes.write_text("{}")
    stored.require_readable()

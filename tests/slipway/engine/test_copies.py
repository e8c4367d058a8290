"""Copies of a state: only whole ones count, in their order, and a cut state leads to the newest of them."""

import errno
import gzip
import json
import os
from pathlib import Path

import pytest

from sandbox.state import WIPED
from slipway.engine import copies as subject
from slipway.engine.checkpoints import Checkpoint
from slipway.engine.copies import KEPT, STATES, Copies, folder_of
from slipway.engine.pending import operations
from spec.errors import SlipwayError
from tests.slipway.engine.states import checkpoint, file, things

CUT = checkpoint(things(5), 9)[:5000]


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    return Copies(tmp_path / "backend", "dev", tmp_path / "states/dev", "slipway state repair dev")


def write(copies: Copies, content: str | bytes) -> Path:
    path = file(copies.backend)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def best_of(copies: Copies) -> Checkpoint:
    """The copy that would be restored, which there is."""
    best = copies.best()
    assert best is not None
    return best


def names(copies: Copies) -> list[str]:
    return sorted(path.name.partition("-")[0] for path in copies.folder.iterdir())


def test_a_state_is_copied_whole_and_an_unchanged_one_once(copies: Copies) -> None:
    assert copies.save() is None
    state = write(copies, checkpoint(things(3)))
    first = copies.save()
    assert first is not None
    assert first.read_bytes() == state.read_bytes()
    assert first.stat().st_mode & 0o777 == 0o600
    assert copies.save() is None
    write(copies, checkpoint(things(4), 1))
    second = copies.save()
    assert names(copies) == ["000001", "000002"]
    best = best_of(copies)
    assert best.path == second
    assert best.holds == "5 resources"


@pytest.mark.parametrize(
    "damaged", ["", CUT, "null", "{}", '{"version":3}', '{"version":3,"checkpoint":{"latest":[]}}']
)
def test_a_damaged_state_is_neither_copied_nor_read(copies: Copies, damaged: str) -> None:
    write(copies, checkpoint(things(3)))
    good = copies.save()
    path = write(copies, damaged)
    assert copies.save() is None
    assert copies.save(running=True) is None
    assert names(copies) == ["000001"]
    with pytest.raises(SlipwayError) as caught:
        copies.require_readable()
    for part in (str(path), str(good), "2026-11-23T10:00:00", "4 resources", "`slipway state repair dev`"):
        assert part in str(caught.value)


def test_without_a_copy_the_message_says_so(copies: Copies) -> None:
    write(copies, CUT)
    with pytest.raises(SlipwayError, match="there is no copy of it"):
        copies.require_readable()


def test_the_newest_copies_are_kept(copies: Copies) -> None:
    for number in range(KEPT + 3):
        write(copies, checkpoint(things(number), number))
        copies.save()
    assert names(copies) == [f"{number:06d}" for number in range(4, KEPT + 4)]


def test_the_order_of_copies_is_not_that_of_the_clock(copies: Copies) -> None:
    write(copies, checkpoint(things(1), 50))
    copies.save()
    write(copies, checkpoint(things(2), 10))  # the clock was set back in between
    second = copies.save()
    write(copies, CUT)
    assert best_of(copies).path == second


def test_a_copy_that_does_not_fit_replaces_nothing(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    write(copies, checkpoint(things(3)))
    good = copies.save()
    write(copies, checkpoint(things(4), 1))

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        copies.save()
    assert list(copies.folder.iterdir()) == [good]


@pytest.mark.parametrize("place", ["stacks/slipway/dev.json.bak", "backups/slipway/dev/dev.17.json", "running"])
def test_a_newer_whole_state_elsewhere_is_preferred(copies: Copies, place: str) -> None:
    write(copies, checkpoint(things(1), 1))
    copies.save()
    write(copies, checkpoint(things(2), 2))
    if place == "running":
        other = copies.save(running=True)
    else:
        other = copies.backend / ".pulumi" / place
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_text(checkpoint(things(2), 2))
        other.with_name(f"{other.name}.attrs").write_text("{}")
    write(copies, CUT)
    assert best_of(copies).path == other


def test_what_only_the_cut_state_has_becomes_an_open_operation_of_the_restored_one(copies: Copies) -> None:
    busy = {"type": "creating", "resource": {"urn": things(1)[1]["urn"], "type": "my:index:Thing", "custom": True}}
    write(copies, checkpoint(things(0), 1, pending_operations=[busy]))
    copies.save()
    cut = checkpoint(things(3), 2)
    path = write(copies, cut[: cut.index("id-2")])
    best = best_of(copies)
    kept, reopened = copies.restore(best)
    assert kept is not None
    assert kept.read_text() == cut[: cut.index("id-2")]
    assert reopened == 2
    copies.require_readable()
    latest = json.loads(path.read_text())["checkpoint"]["latest"]
    exported = json.dumps({"deployment": latest})
    # The operation that the copy has open is known to have ended: it has its id now.
    assert [(one.name, one.id) for one in operations(exported)] == [("t0", "id-0"), ("t1", "id-1")]


def test_a_stack_whose_first_update_was_cut_is_restored_from_what_is_left(copies: Copies) -> None:
    write(copies, checkpoint(None))
    copies.save()
    cut = checkpoint(things(3), 2)
    path = write(copies, cut[: cut.index("id-2")])
    best = best_of(copies)
    assert best.holds == "0 resources"
    assert copies.restore(best)[1] == 3
    latest = json.loads(path.read_text())["checkpoint"]["latest"]
    assert latest["secrets_providers"] == {"type": "passphrase"}


def test_a_restore_without_space_leaves_the_state_as_it_was(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    write(copies, checkpoint(things(3)))
    copies.save()
    path = write(copies, CUT)
    best = best_of(copies)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(subject, "write_atomically", full)
    with pytest.raises(SlipwayError, match=r"No space left on device; it has \d+ KiB, and \d+ KiB are free: free some"):
        copies.restore(best)
    assert path.read_text() == CUT


def test_a_compressed_state_is_copied_and_restored_compressed(copies: Copies) -> None:
    path = file(copies.backend).with_name("dev.json.gz")
    path.write_bytes(gzip.compress(checkpoint(things(2)).encode()))
    assert copies.save() is not None
    path.write_bytes(gzip.compress(checkpoint(things(3), 1).encode())[:-30])
    with pytest.raises(SlipwayError, match=r"dev\.json\.gz: it is cut or damaged"):
        copies.require_readable()
    copies.restore(best_of(copies))
    copies.require_readable()
    assert b"t1" in gzip.decompress(path.read_bytes())


def test_empty_attributes_are_found_and_removed(copies: Copies) -> None:
    path = write(copies, checkpoint(things(2)))
    copies.save()
    attributes = path.with_name("dev.json.attrs")
    attributes.touch()
    with pytest.raises(SlipwayError, match=r"dev\.json\.attrs: it is empty"):
        copies.require_readable()
    copies.restore(best_of(copies))
    assert not attributes.exists()
    copies.require_readable()


def test_two_backends_of_one_name_have_two_folders(tmp_path: Path) -> None:
    assert folder_of(tmp_path, Path("/a/state")) != folder_of(tmp_path, Path("/b/state"))
    assert folder_of(tmp_path, Path("/a/state")).name.startswith("state-")


def test_the_copies_of_a_sandbox_go_with_it() -> None:
    """Otherwise a state that describes a deleted sandbox could be restored into the next one."""
    assert STATES in WIPED

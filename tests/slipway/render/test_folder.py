"""A rendering replaces a previous one, and never other files."""

from pathlib import Path

import pytest

from slipway.render import writer
from slipway.render.recording import RenderError


def tree(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def test_files_and_folders_are_written_with_a_marker(tmp_path: Path) -> None:
    writer.replace(tmp_path / "deep" / "out", {"a.json": "1", "b/c.yaml": "2"})
    assert tree(tmp_path / "deep" / "out").keys() == {"a.json", "b/c.yaml", writer.MARKER}
    assert (tmp_path / "deep" / "out").stat().st_mode & 0o777 == 0o755


def test_a_previous_rendering_is_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    writer.replace(out, {"old/gone.yaml": "x", "same.json": "before"})
    writer.replace(out, {"same.json": "after"})
    assert tree(out).keys() == {"same.json", writer.MARKER}
    assert (out / "same.json").read_text() == "after"
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "nothing is left beside it"


def test_an_empty_folder_is_accepted(tmp_path: Path) -> None:
    writer.replace(tmp_path, {"a": "1"})
    assert (tmp_path / "a").read_text() == "1"


def test_a_folder_with_other_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "resources.json").write_text("mine")
    with pytest.raises(RenderError, match=r"has other files \(resources\.json\)"):
        writer.replace(tmp_path, {"resources.json": "theirs"})
    assert tree(tmp_path) == {"resources.json": "mine"}


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(RenderError, match="this is a file"):
        writer.replace(tmp_path / "out", {})


def test_a_symbolic_link_is_followed_and_kept(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    writer.replace(tmp_path / "link", {"a": "1"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a").read_text() == "1"


def test_a_failed_write_keeps_the_previous_rendering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    writer.replace(out, {"a": "1"})
    real = Path.write_text

    def full_disk(self: Path, text: str, **options: str) -> int:
        if self.name == "b":
            raise OSError(28, "No space left on device", str(self))
        return real(self, text, **options)

    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(RenderError, match="No space left on device"):
        writer.replace(out, {"a": "2", "b": "3"})
    assert tree(out).keys() == {"a", writer.MARKER}
    assert (out / "a").read_text() == "1"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failed_swap_restores_the_previous_rendering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    writer.replace(out, {"a": "1"})
    real = Path.rename

    def refuse_new(self: Path, target: Path) -> Path:
        if Path(target) == out and self.name != "previous":
            raise OSError(16, "Device or resource busy", str(target))
        return real(self, target)

    monkeypatch.setattr(Path, "rename", refuse_new)
    with pytest.raises(RenderError, match="busy"):
        writer.replace(out, {"a": "2"})
    assert (out / "a").read_text() == "1"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(RenderError, match=r"out: the folder must be writable \(File exists"):
        writer.replace(tmp_path / "file" / "out", {})

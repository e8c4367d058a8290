"""The password file: libpq's format, readable only by its owner, kept on errors."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from components.addons.mlflow.password_file import line, look


class _Secrets:
    """A Secrets Manager client that answers or fails."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.requested = answer, list[str]()

    def get_secret_value(self, SecretId: str) -> dict[str, Any]:  # noqa: N803 - AWS's spelling
        self.requested.append(SecretId)
        if isinstance(self.answer, Exception):
            raise self.answer
        return {"SecretString": json.dumps(self.answer)}


@pytest.mark.parametrize(
    ("password", "written"),
    [("plain", "plain"), ("a:b", r"a\:b"), ("a\\b", r"a\\b"), (r"\:", r"\\\:"), ("ü#%", "ü#%")],
)
def test_colons_and_backslashes_are_escaped(password: str, written: str) -> None:
    secret = json.dumps({"username": "slipway", "password": password})
    assert line(secret) == f"*:*:*:slipway:{written}\n"


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    secrets, path = _Secrets({"username": "u", "password": "p"}), tmp_path / "password"
    assert look(secrets, "arn:secret", path) == ""
    assert secrets.requested == ["arn:secret"]
    assert path.read_text() == "*:*:*:u:p\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["password"]


def test_a_new_password_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "password"
    for password in ("a-long-one", "b"):
        look(_Secrets({"username": "u", "password": password}), "arn", path)
    assert path.read_text() == "*:*:*:u:b\n"


@pytest.mark.parametrize("answer", [RuntimeError("secret-in-the-message"), {"username": "u"}, "no object"])
def test_a_failed_poll_keeps_the_file_and_logs_no_secret(tmp_path: Path, answer: Any) -> None:
    path = tmp_path / "password"
    path.write_text("before")
    wrong = look(_Secrets(answer), "arn", path)
    assert wrong.endswith("the password was not read")
    assert "secret-in-the-message" not in wrong
    assert path.read_text() == "before"

"""The sandbox's copies of the stack files.

For a stack without a secrets provider, the CLI generates a salt and writes it into the stack file as `encryptionsalt`,
and does so again on every preview (v3.258.0, pkg/cmd/pulumi/stack/secrets.go; the salt in the state is not read). The
committed files are for a real backend and must not change, so the sandbox keeps copies in a directory of its own, and
every run gets `--config-file COPY`:

    <home>/project/Pulumi.yaml                    the same project name, so that the CLI finds its stacks
    <home>/project/stacks/Pulumi.<stack>.yaml     text of the committed file, with the sandbox's salt
    <home>/project/bin/pulumi                     for plain `pulumi` in a shell (see `shim`)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from slipway.files import write_atomically
from spec.errors import EXIT_REFUSED, SlipwayError

PROJECT: Final = "slipway"
STACKS: Final = "stacks"
_SECRETS: Final = re.compile(r"^(encryptionsalt|encryptedkey|secretsprovider)\s*:.*\n?", re.MULTILINE)
"""Keys for secrets on the real backend, which the sandbox can't use."""
_SALT: Final = re.compile(r"^encryptionsalt\s*:.*$", re.MULTILINE)


def stack_file(directory: Path, stack: str) -> Path:
    """The path of a stack file in a stacks folder."""
    return directory / f"Pulumi.{stack}.yaml"


@dataclass(frozen=True)
class Overlay:
    """The sandbox's copies for a checkout; `root` is `<home>/project`."""

    root: Path

    @property
    def stacks(self) -> Path:
        """The folder of the copies."""
        return self.root / STACKS

    def make(self) -> None:
        """Create the directory and its project file, if they don't exist."""
        self.stacks.mkdir(parents=True, exist_ok=True)
        text = f"name: {PROJECT}\nruntime: python\nstackConfigDir: {STACKS}\n"
        write_if_changed(self.root / "Pulumi.yaml", text)

    def copy(self, committed: Path) -> Path:
        """Update the copy of a stack file, keeping the copy's salt; returns its path.

        Raises:
            SlipwayError: The file can't be read, or is not a YAML block mapping.
        """
        copy = self.stacks / committed.name
        try:
            text = committed.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            msg = f"{committed}: the stack file can't be read ({error})"
            raise SlipwayError(msg, EXIT_REFUSED) from error
        settings = _SECRETS.sub("", text)
        _require_block_map(settings, committed)
        salt = _SALT.search(copy.read_text(encoding="utf-8")) if copy.is_file() else None
        write_if_changed(copy, settings.rstrip("\n") + "\n" + (f"{salt[0]}\n" if salt else ""))
        return copy


def write_if_changed(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace a file in one step; leave it untouched if the text is the same."""
    if not (path.is_file() and path.read_text(encoding="utf-8") == text):
        write_atomically(path, text, mode)


def _require_block_map(text: str, path: Path) -> None:
    try:
        with_salt = yaml.compose(text.rstrip("\n") + "\nencryptionsalt: x\n", Loader=yaml.SafeLoader)
        keys = [key.value for key, _ in with_salt.value] if isinstance(with_salt, yaml.MappingNode) else []
    except (yaml.YAMLError, AttributeError):
        keys = []
    if not keys or keys[-1] != "encryptionsalt":
        msg = (
            f"{path}: write the stack file as a block mapping (`config:` on its own line), so that Pulumi can add keys"
        )
        raise SlipwayError(msg, EXIT_REFUSED)

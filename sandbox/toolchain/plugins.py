"""The engine's plugins of the pinned SDKs, installed before a run with credentials instead of by the engine during it.

The engine fetches a missing plugin itself, without a checksum (pulumi v3.258.0, sdk/go/common/workspace/plugins.go),
unless PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION is set.
"""

import os
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path

from sandbox.errors import AttemptError, ToolError
from sandbox.toolchain import cache, install
from sandbox.toolchain.process import Progress

PROVIDERS = ("aws", "kubernetes")
"""What the program uses: the packages `pulumi-<name>`, and plugins of the same name and version."""
_URL = (
    "https://github.com/pulumi/pulumi-{name}/releases/download/v{version}/"
    "pulumi-resource-{name}-v{version}-{os}-{arch}.tar.gz"
)
"""As the engine composes it (same file, `standardAssetName` and the direct address for official plugins)."""


def address(name: str, system: str, architecture: str) -> str:
    """The address of a plugin in the version that the lock file pins."""
    return _URL.format(name=name, version=metadata.version(f"pulumi-{name}"), os=system, arch=architecture)


def folder(name: str) -> Path:
    """Where the engine looks for a plugin."""
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    return home / "plugins" / f"resource-{name}-v{metadata.version(f'pulumi-{name}')}"


def ensure_pinned(pulumi: Path) -> list[Path]:
    """Installs the plugins that are missing, each from a file with a committed checksum; returns all folders. A plugin
    that came otherwise, by the engine or from another user of the machine, is replaced.

    Raises:
        ToolError: A file has no committed checksum or another one, can't be fetched, or the CLI refuses it.
    """
    for name in PROVIDERS:
        if not cache.verified(folder(name)):
            _install(name, pulumi)
    return [folder(name) for name in PROVIDERS]


def _install(name: str, pulumi: Path) -> None:
    url, progress = address(name, cache.system(), cache.architecture()), Progress(f"plugin {name}")
    with tempfile.TemporaryDirectory() as temporary:
        archive = Path(temporary) / "plugin.tar.gz"
        try:
            install.download(url, "", archive, progress, pinned=True)
        except AttemptError as error:
            raise ToolError(str(error)) from error
        version = metadata.version(f"pulumi-{name}")
        command = [str(pulumi), "plugin", "install", "resource", name, version, "--file", str(archive), "--reinstall"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"`{' '.join(command[1:])}` ended with code {done.returncode}: {done.stderr.strip()}"
        raise ToolError(msg)
    cache.mark_verified(folder(name))
    progress.finish("installed")

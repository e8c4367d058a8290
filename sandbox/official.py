"""The official pulumi-kubernetes provider in place of the sandbox's own.

The engine starts and ends it with each run, like any plugin: it is linked into the plugins of the sandbox's
PULUMI_HOME.
It reaches a cluster as on EKS, by the kubeconfig of the program, whose credential comes from `aws eks get-token`; a
stand-in for that command gives the sandbox's credential.
"""

import os
import shlex
import shutil
from importlib import metadata
from pathlib import Path
from typing import Final

from sandbox.errors import SandboxError

VARIABLE: Final = "SLIPWAY_KUBERNETES_PROVIDER"
"""Its value is `official`, or a path."""
OFFICIAL: Final = "official"
EXECUTABLE: Final = "pulumi-resource-kubernetes"
AWS: Final = "aws"
_EXEC_API: Final = "client.authentication.k8s.io"


def version() -> str:
    """The version that the SDK asks the engine for."""
    return metadata.version("pulumi-kubernetes")


def plugin_folder(home: Path) -> Path:
    """Where the engine looks for the provider in a PULUMI_HOME (v3.258.0, sdk/go/common/workspace/plugins.go)."""
    return home / "plugins" / f"resource-kubernetes-v{version()}"


def find(choice: str) -> Path:
    """The provider's executable.

    Args:
        choice: `official` for the one among the user's Pulumi plugins or on PATH; else its path, or its folder's.

    Raises:
        SandboxError: It is not there.
    """
    if choice != OFFICIAL:
        path = Path(choice).expanduser().absolute()
        executable = path / EXECUTABLE if path.is_dir() else path
        if not os.access(executable, os.X_OK) or executable.is_dir():
            msg = f"{executable} is not an executable: name the folder of {EXECUTABLE}, or `{OFFICIAL}`"
            raise SandboxError(msg)
        return executable
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    installed = plugin_folder(home) / EXECUTABLE
    if os.access(installed, os.X_OK):
        return installed
    if on_path := shutil.which(EXECUTABLE):
        return Path(on_path)
    msg = (
        f"the official Kubernetes provider is neither {installed} nor on PATH: run "
        f"`pulumi plugin install resource kubernetes v{version()}`, or name the folder of {EXECUTABLE}"
    )
    raise SandboxError(msg)


def install(provider: Path, engine_home: Path, shims: Path, token: str) -> None:
    """Link the provider into a PULUMI_HOME, and write the stand-in for `aws` into the folder of shims."""
    folder = plugin_folder(engine_home)
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / EXECUTABLE
    link.unlink(missing_ok=True)
    link.symlink_to(provider)
    shims.mkdir(parents=True, exist_ok=True)
    stand_in = shims / AWS
    stand_in.unlink(missing_ok=True)
    stand_in.touch(mode=0o700)
    stand_in.write_text(_script(token, _real_aws(shims)), encoding="utf-8")


def _real_aws(shims: Path) -> str | None:
    others = [entry for entry in os.get_exec_path() if entry and Path(entry).absolute() != shims.absolute()]
    return shutil.which(AWS, path=os.pathsep.join(others))


def _script(token: str, real: str | None) -> str:
    """A shell script that answers `eks get-token` as the AWS CLI does, and passes everything else on to that."""
    rest = (
        f'exec {shlex.quote(real)} "$@"\n'
        if real
        else 'echo "aws: the AWS CLI is not installed; the sandbox has \\`eks get-token\\` alone" >&2\nexit 127\n'
    )
    credential = f'{{"kind":"ExecCredential","apiVersion":"{_EXEC_API}/%s","spec":{{}},"status":{{"token":"{token}"}}}}'
    return (
        "#!/bin/sh\n"
        'if [ "$1 $2" = "eks get-token" ]; then\n'
        "    # The AWS CLI answers in the version that the client asks for (awscli v2, eks/get_token.py).\n"
        f'    case "$KUBERNETES_EXEC_INFO" in *{_EXEC_API}/v1\\"*) version=v1 ;; *) version=v1beta1 ;; esac\n'
        f"    printf '{credential}\\n' \"$version\"\n"
        "    exit\n"
        "fi\n"
        f"{rest}"
    )

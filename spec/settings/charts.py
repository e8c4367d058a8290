"""Settings of Helm charts: where they come from, if not from their publishers' repositories."""

from pathlib import PurePosixPath
from typing import Annotated

from spec.settings.base import Model, pattern


class Charts(Model):
    """Where Helm charts come from; by default from the repositories of their publishers."""

    directory: (
        Annotated[
            str,
            pattern(
                r"^[A-Za-z0-9_./+@ -]*[A-Za-z0-9_+@-]$",
                rule="a directory is a path without a slash at its end",
                fix="Write it like charts, or /opt/charts.",
                max_length=1024,
            ),
        ]
        | None
    ) = None
    """Directory of unpacked charts, `<directory>/<chart>/Chart.yaml`, as `slipway catalog pull` writes it. A relative
    path begins at the folder of `Pulumi.yaml`, and gives every checkout the same state."""
    registry: (
        Annotated[
            str,
            pattern(
                r"^oci://[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*$",
                rule="a registry of charts is an oci:// reference without a slash at its end",
                fix="Write it like oci://registry.example.com/charts.",
                max_length=1024,
            ),
        ]
        | None
    ) = None
    """OCI registry with a copy of every chart, `<registry>/<chart>:<version>`, as `helm push` writes it."""

    @property
    def path(self) -> PurePosixPath | None:
        """The directory as a path; relative to the folder of `Pulumi.yaml` unless it is absolute."""
        return None if self.directory is None else PurePosixPath(self.directory)

"""Settings of what the program's code adds to the cluster beside what the other settings give.

The pack accepts an added object by kind, namespace, name and the digests of its images (ADR 0134); other rules evaluate
what is in it.
"""

from typing import Annotated, Final

from pydantic import Field

from spec.settings.base import Model, pattern

_SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"
_AS_IN: Final = "Write it as in the manifest."
ObjectName = Annotated[
    str, pattern(rf"^{_SUBDOMAIN}$", "a name has lower-case letters, digits, dots and dashes", _AS_IN)
]
"""Name of most objects (kubernetes.io, "Object Names and IDs", DNS subdomain names)."""
Image = Annotated[
    str,
    pattern(
        rf"^{_SUBDOMAIN}(:[0-9]+)?(/[a-z0-9._-]+)+(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?@sha256:[0-9a-f]{{64}}$",
        rule="an image is named by its registry, repository and digest",
        fix="Write it like registry.example.com/scanner@sha256:..., as `docker buildx imagetools inspect` prints it.",
    ),
]
"""A reference to one image and no other (distribution/reference, grammar)."""


class Extension(Model):
    """An object of Kubernetes that the program's code declares beside what the settings give."""

    api_version: Annotated[str, pattern(r"^([a-z0-9.-]+/)?v[0-9][a-z0-9]*$", "a group, a slash, and a version", _AS_IN)]
    """API version, as in the manifest: `apps/v1`."""
    kind: Annotated[str, pattern(r"^[A-Z][A-Za-z0-9]{0,62}$", "a kind is one word with a capital letter", _AS_IN)]
    """Kind, as in the manifest: `DaemonSet`."""
    name: ObjectName
    """Name, as in the manifest."""
    namespace: ObjectName | None = None
    """Namespace, as in the manifest; none for an object of the cluster."""
    images: list[Image] = Field(default_factory=list)
    """Images that it runs, by digest."""

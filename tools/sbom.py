"""`python -m tools.sbom FILE`: what Slipway is made of and what it installs, as a CycloneDX document.

From files of the checkout alone, so that the same commit gives the same document: packages of requirements.lock, charts
and images that the catalog pins, Go modules of the tools that are built, release files with their checksums. An
image that a chart names has no version here: its tag is the chart's.

Source of the form: CycloneDX 1.6, JSON reference; package URLs: github.com/package-url/purl-spec (read 2026-11).
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import slipway
from sandbox.toolchain import install
from spec.catalog.software import CHARTS, SOFTWARE, ChartRef

ROOT: Final = Path(__file__).resolve().parent.parent
LOCK: Final = ROOT / "requirements.lock"
MODULES: Final = ROOT / "sandbox" / "toolchain" / "go"
_PACKAGE: Final = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", re.MULTILINE)
_REQUIRE: Final = re.compile(r"^(?:require )?\s*([\w.-]+\.[\w-]+/\S+) (v\S+)(?: // indirect)?$", re.MULTILINE)
_REPLACE: Final = re.compile(r"^(?:replace )?\s*(\S+)(?: v\S+)? => ([\w.-]+\.[\w-]+/\S+) (v\S+)$", re.MULTILINE)
_IMAGE: Final = re.compile(r"(?P<path>[^:@]+)(?::(?P<tag>[^@]+))?(?:@(?P<digest>.+))?")
Component = Mapping[str, Any]


def document() -> dict[str, Any]:
    """The whole document; every component once, in the order of its package URL."""
    found = {one["bom-ref"]: one for one in (*packages(), *charts(), *images(), *modules(), *files())}
    own = {"type": "application", "name": "slipway", "version": slipway.__version__, "bom-ref": "slipway"}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [found[key] for key in sorted(found)],
        "dependencies": [{"ref": "slipway", "dependsOn": sorted(found)}],
    }


def packages() -> Iterator[Component]:
    """Python packages. The lock file has a hash of each file of a release; an installer takes one of them."""
    for name, version in _PACKAGE.findall(LOCK.read_text(encoding="utf-8")):
        # Names in package URLs of this type are lower case, with `-` (purl-spec, types/pypi).
        plain = name.lower().replace("_", "-")
        yield _component("library", name, version, f"pkg:pypi/{plain}@{quote(version)}")


def charts() -> Iterator[Component]:
    """Helm charts."""
    for chart in CHARTS.values():
        url = f"pkg:generic/{chart.name}@{quote(chart.version)}?download_url={quote(chart.repository, safe='')}"
        yield _component("application", chart.name, chart.version, url, chart.digest.removeprefix("sha256:"))


def images() -> Iterator[Component]:
    """Images whose place or version the catalog names."""
    for row in SOFTWARE.values():
        for image in row.images.values() if isinstance(row, ChartRef) else (row.image,):
            found = _IMAGE.fullmatch(image)
            # Charts also name registries, below which they know the images.
            if found is None or "/" not in found["path"]:
                continue
            tag = f"&tag={quote(found['tag'])}" if found["tag"] else ""
            version = f"@{quote(found['digest'], safe='')}" if found["digest"] else ""
            path = found["path"] if "." in found["path"].partition("/")[0] else f"docker.io/{found['path']}"
            place = f"repository_url={quote(path, safe='')}{tag}"
            name = path.rpartition("/")[2].lower()
            yield _component("container", path, found["tag"] or "", f"pkg:oci/{name}{version}?{place}")


def modules() -> Iterator[Component]:
    """Go modules of the binaries that are built, with those they need themselves; go.sum has their sums."""
    for file in sorted(MODULES.rglob("go.mod")):
        text = file.read_text(encoding="utf-8")
        instead = {old: (new, version) for old, new, version in _REPLACE.findall(text)}
        for required, stated in _REQUIRE.findall(text):
            name, version = instead.get(required, (required, stated))
            yield _component("library", name, version, f"pkg:golang/{quote(name.lower())}@{quote(version)}")


def files() -> Iterator[Component]:
    """Release files of other projects, with their committed SHA-256."""
    for address, digest in sorted(install.committed().items()):
        name = address.rpartition("/")[2]
        yield _component("file", name, "", f"pkg:generic/{name}?download_url={quote(address, safe='')}", digest)


def _component(kind: str, name: str, version: str, url: str, sha256: str = "") -> Component:
    hashes = {"hashes": [{"alg": "SHA-256", "content": sha256}]} if sha256 else {}
    return {
        "type": kind, "bom-ref": url, "name": name, **({"version": version} if version else {}), "purl": url, **hashes
    }  # fmt: skip


def main() -> int:
    """Write the document to the file that the command names."""
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    written = document()
    path.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(written['components'])} components")
    return 0


if __name__ == "__main__":
    sys.exit(main())

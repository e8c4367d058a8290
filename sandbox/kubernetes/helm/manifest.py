"""The text that a chart renders to, changed for the sandbox before it is installed.

Webhooks and APIs that nothing answers are left out, those of controllers that are not built yet are closed, and CRDs
lose their descriptions. Everything else passes through as it was written.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.kubernetes.controllers import webhooks
from sandbox.kubernetes.controllers.table import of_service
from sandbox.kubernetes.controllers.webhooks import NOBODY, as_applied, left_out
from sandbox.kubernetes.helm.text import documents, remembered
from sandbox.kubernetes.objects import (
    Object,
    is_custom_resource_definition,
    without_conversion_webhook,
    without_descriptions,
)

KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "APIService", "CustomResourceDefinition")

_SEPARATOR = re.compile(r"^---(?:[ \t].*)?(?:\n|\Z)", re.MULTILINE)
_KIND = re.compile(rf"^kind\s*:\s*[\"']?({'|'.join(KINDS)}|\w*List)\b", re.MULTILINE)
"""A line with one of the kinds to look at."""
_CRD = "CustomResourceDefinition"


@dataclass
class Prepared:
    """Documents that are installed, each text or object, and what was left out."""

    documents: list[str | Object] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All documents as YAML, of which JSON is a part."""
        texts = (each if isinstance(each, str) else json.dumps(each) for each in self.documents)
        return "".join(f"---\n{text.rstrip()}\n" for text in texts)

    def objects(self, where: str) -> Iterator[Object]:
        """All objects; those of a `List` one by one, as Helm installs them. Raises SandboxError for invalid YAML."""
        for each in self.documents:
            if isinstance(each, str):
                yield from documents(each, where)
            else:
                yield each


def prepare(text: str, where: str, served: Mapping[str, bool] = NOBODY) -> Prepared:
    """The rendering with what the sandbox changes. Raises SandboxError, with `where`, for invalid YAML.

    Args:
        text: What the chart renders to.
        where: What the text is, for errors.
        served: The controllers that run for the chart (`controllers.served`).
    """
    prepared = Prepared()
    for document in _SEPARATOR.split(text):
        if not document.strip():
            continue
        kind = _kind(document)
        if kind is None:
            prepared.documents.append(document)
            continue
        parse = partial(_parse, document, where, served)
        # A CRD alone is large enough to keep; a webhook has another certificate each time.
        key = f"{json.dumps(dict(served), sort_keys=True)} {document}"
        kept, missing = remembered(key, parse) if kind == _CRD else parse()
        prepared.documents.extend(kept)
        prepared.left_out.extend(missing)
    return prepared


def flat(obj: Object) -> Iterator[Object]:
    """The object, or the items of a `List`, as Helm's client flattens them (k8s.io/cli-runtime, Builder.Flatten)."""
    if str(obj.get("kind", "")).endswith("List") and isinstance(obj.get("items"), list):
        for item in obj["items"]:
            yield from flat(item)
    else:
        yield obj


def _kind(document: str) -> str | None:
    """The kind of a document to look at, None for all others. One that is written as JSON is looked at."""
    match = _KIND.search(document)
    if match is not None:
        return match.group(1)
    return "" if document.lstrip().startswith("{") else None


def _parse(document: str, where: str, served: Mapping[str, bool]) -> tuple[list[Object], list[str]]:
    kept: list[Object] = []
    missing: list[str] = []
    for obj in documents(document, where):
        for each in flat(obj):
            reason = left_out(each, served)
            if reason:
                missing.append(reason)
            elif is_custom_resource_definition(each):
                crd, unconverted = _crd(each, served)
                missing.extend(unconverted)
                kept.append(without_descriptions(crd))
            else:
                kept.append(as_applied(each, served))
    return kept, missing


def _crd(crd: Object, served: Mapping[str, bool]) -> tuple[Object, list[str]]:
    """The CRD with the conversion that it can have here, and what is left out of it."""
    service = webhooks.conversion_service(crd)
    controller = of_service(service[1]) if service else None
    if controller is None or controller.name not in served:
        converted = (crd["spec"].get("conversion") or {}).get("strategy") == "Webhook"
        missing = [f"conversion webhook of {crd['metadata']['name']}"] if converted else []
        return without_conversion_webhook(crd), missing
    return (crd if served[controller.name] else webhooks.without_conversion(crd, controller.name)), []


# Helm's post-renderer: reads what a chart rendered, and writes what the sandbox installs.
#
#     python -m sandbox.kubernetes.helm.manifest REPORT SERVED
#
# REPORT gets a JSON list of what was left out. SERVED is JSON, the controllers that run for the chart.
# Helm passes no hooks through a post-renderer (v3).

MODULE = __name__ if __name__ != "__main__" else "sandbox.kubernetes.helm.manifest"


def main(report: Path, served: Mapping[str, bool]) -> int:
    """Standard input to standard output."""
    try:
        prepared = prepare(sys.stdin.read(), "the rendering of the chart", served)
    except SandboxError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    report.write_text(json.dumps(prepared.left_out), encoding="utf-8")
    sys.stdout.write(prepared.text)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), json.loads(sys.argv[2])))

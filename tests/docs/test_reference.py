"""The generated references are current and complete."""

import re

from spec.settings.addons import Addons
from tests.docs.reference import ADDONS, COMMANDS, addons, charts, commands
from tests.docs.test_commands import KNOWN
from tests.support.generated import REFERENCE, check, check_part


def test_the_references_are_current() -> None:
    check(COMMANDS, commands(), REFERENCE)
    check_part(ADDONS, "addons", addons(), REFERENCE)
    check_part(ADDONS, "charts", charts(), REFERENCE)


def test_the_reference_has_every_command_and_every_option() -> None:
    parts = dict(re.findall(r"^## `slipway ([^`]+)`\n(.*?)(?=^## |\Z)", commands(), re.M | re.S))
    assert set(parts) == {" ".join(words) for words in KNOWN if words}
    missing = [
        f"{' '.join(words)} {option}"
        for words, options in KNOWN.items()
        for option in options
        if words and f"`{option}" not in parts[" ".join(words)]
    ]
    assert missing == []


def test_every_addon_has_a_row_with_its_purpose() -> None:
    rows = [[cell.strip() for cell in row.split(" | ")] for row in addons().splitlines()[2:]]
    assert [row[0] for row in rows] == [f"| `{field.alias}`" for field in Addons.model_fields.values()]
    assert all(len(row[2]) > 15 for row in rows)

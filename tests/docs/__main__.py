"""`python -m tests.docs` writes the references of commands and add-ons."""

from tests.docs.reference import COMMANDS, commands, parts
from tests.support.generated import REFERENCE, write_part

COMMANDS.write_text(commands(), encoding="utf-8")
for page, name, text in parts():
    write_part(page, name, text, REFERENCE)

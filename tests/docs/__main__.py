"""`python -m tests.docs` writes the references of commands and add-ons."""

from tests.docs.reference import ADDONS, COMMANDS, addons, charts, commands
from tests.support.generated import REFERENCE, write_part

COMMANDS.write_text(commands(), encoding="utf-8")
write_part(ADDONS, "addons", addons(), REFERENCE)
write_part(ADDONS, "charts", charts(), REFERENCE)

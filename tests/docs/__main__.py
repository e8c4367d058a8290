"""`python -m tests.docs` writes the references of commands, messages and add-ons, and what pages say of runs."""

from tests.docs.reference import ADDONS, COMMANDS, addons, charts, commands
from tests.support.generated import REFERENCE, write_part
from tools.site.messages import PAGE, messages
from tools.site.runs import parts

COMMANDS.write_text(commands(), encoding="utf-8")
PAGE.write_text(messages(), encoding="utf-8")
for page, name, text in ((ADDONS, "addons", addons()), (ADDONS, "charts", charts()), *parts()):
    write_part(page, name, text, REFERENCE)

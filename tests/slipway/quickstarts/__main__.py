"""`python -m tests.slipway.quickstarts` writes the YAML on the pages of docs/quickstarts."""

from tests.slipway.quickstarts.pages import PAGES
from tests.support.generated import QUICKSTARTS, write_part

for page in PAGES.values():
    write_part(page.path, "yaml", page.part(), QUICKSTARTS)

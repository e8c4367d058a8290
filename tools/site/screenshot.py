"""Takes the picture of the report, `docs/images/report.png`, with Chromium: `python -m tools.site.screenshot`."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.slipway.report import browser
from tools.site.pictures import FOLDER

SIZE: Final = (1280, 1000)


def main() -> int:
    """Render the report of prod and photograph the top of its page; 1 without a Chromium."""
    chromium = browser.find()
    if chromium is None:
        print("no Chromium on PATH: `make browser` installs it on Debian and Ubuntu", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="slipway-") as name:
        subprocess.run([sys.executable, "-m", "slipway", "report", "prod", "--out", name], check=True)
        window = f"--window-size={SIZE[0]},{SIZE[1]}"
        picture = f"--screenshot={FOLDER / 'report.png'}"
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--force-color-profile=srgb", window, picture]
        page = (Path(name) / "index.html").as_uri()
        subprocess.run([chromium, *options, page], check=True, capture_output=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tools.site` builds the website into build/site/html, without a network once MkDocs is installed.

With `--install` it installs MkDocs and builds nothing.
"""

import os
import subprocess
import sys
from pathlib import Path

from tools import scanners
from tools.lock import SITE
from tools.site.stage import BUILD, stage


def main() -> int:
    """Exit code 1 if a page has a problem: a dead link, a heading that isn't there."""
    try:
        scanners.install(SITE)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"site: MkDocs can't be installed ({error})", file=sys.stderr)
        return 1
    if sys.argv[1:] == ["--install"]:
        return 0
    return build(BUILD)


def build(directory: Path) -> int:
    """Build the site below a directory; MkDocs's exit code."""
    config = stage(build=directory)
    mkdocs = scanners.find("mkdocs", SITE)
    # Material announces the end of its own life on every run; docs/adr/0087 has it.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [str(mkdocs), "build", "--strict", "-f", str(config)]
    done = subprocess.run(command, cwd=directory, env=environment, check=False)
    if done.returncode == 0:
        print(f"site: {directory / 'html' / 'index.html'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

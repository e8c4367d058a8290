"""The background process, `python -m sandbox.daemon`: started by `lifecycle.start`, ended by SIGTERM.

It also ends when its home is deleted.
"""

import argparse
import logging
import os
import signal
import sys
import threading
from pathlib import Path

from sandbox.assembly import Sandbox, Settings
from sandbox.errors import SandboxError
from sandbox.lifecycle import ERROR
from sandbox.rpc.errors import ProviderError
from sandbox.state import CHILDREN_FILE, STATE_FILE, default_home

LOG = logging.getLogger("sandbox")
EXIT_NOT_STARTED = 1
LOOK_SECONDS = 1.0
"""Between two looks at whether the home is still there."""


def main(arguments: list[str] | None = None) -> int:
    """Run until SIGTERM, SIGINT or the end of its home.

    The exit code is 1 if it can't start; the reason is the last line of the log.
    """
    settings = _settings(arguments)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(name)s %(message)s")
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stopping.set())
    try:
        sandbox = Sandbox.start(settings)
    except (SandboxError, ProviderError) as error:
        sys.stderr.write(f"{ERROR}{' '.join(str(error).split())}\n")
        return EXIT_NOT_STARTED
    LOG.info("ready, pid %d", os.getpid())
    sandbox.warm()
    _wait(stopping, settings.home / STATE_FILE)
    LOG.info("stopping")
    # First, so that no command attaches to a daemon that is stopping.
    (settings.home / STATE_FILE).unlink(missing_ok=True)
    sandbox.stop()
    (settings.home / CHILDREN_FILE).unlink(missing_ok=True)
    LOG.info("stopped")
    return 0


def _wait(stopping: threading.Event, state: Path) -> None:
    """Until a signal, or until the state file is gone: without it no command would find this process again."""
    while not stopping.wait(LOOK_SECONDS):
        try:
            state.stat()
        except (FileNotFoundError, NotADirectoryError):
            LOG.info("%s was deleted", state)
            return
        except OSError as error:
            # A file system that does not answer now has deleted nothing: AWS, which is in memory, is kept.
            LOG.warning("%s can't be looked at: %s", state, error)


def _settings(arguments: list[str] | None) -> Settings:
    parser = argparse.ArgumentParser(prog="python -m sandbox.daemon", description=__doc__)
    parser.add_argument("--home", type=Path, default=default_home())
    parser.add_argument("--official", type=Path)
    parser.add_argument("--aws-port", type=int, default=0)
    options = parser.parse_args(arguments)
    return Settings(options.home, options.official, options.aws_port)


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    # Everything that must stop has stopped. A normal exit would spend 2 s on freeing moto's objects (2026-11).
    os._exit(code)

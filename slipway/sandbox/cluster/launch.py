"""Run as a script: become another program that dies with the sandbox.

    python -I -S launch.py PARENT_PID PROGRAM [ARGUMENT ...]

PR_SET_PDEATHSIG (Linux, prctl(2)) makes the kernel kill this process when the thread that started it ends, so a daemon
that was killed with -9 leaves no API server behind. It survives exec, and setting it here instead of in a `preexec_fn`
keeps the daemon, which has many threads, from running Python between fork and exec. Elsewhere than on Linux nothing of
the kind exists; `start` and `stop` end what a dead daemon left, by the identities in its state file.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Arm the signal, then become the program."""
    parent = int(arguments[0])
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # The parent died before the signal was armed.
        sys.exit(1)
    try:
        os.execv(arguments[1], arguments[1:])  # noqa: S606
    except OSError as error:
        sys.exit(f"{arguments[1]} cannot be run: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Run as a script: exec another program so that it is killed with the daemon.

    python -I -S launch.py PARENT_PID PROGRAM [ARGUMENT ...]

PR_SET_PDEATHSIG (Linux, prctl(2)) makes the kernel kill this process when the thread that started it ends, so a daemon
killed with -9 leaves no API server behind. The setting survives exec, and making it here instead of in a `preexec_fn`
keeps the daemon, which has many threads, from running Python between fork and exec. Other systems have no equivalent;
there, `start` and `stop` end the processes that a dead daemon left, by the identities in its children file.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Set the signal, then exec the program."""
    parent = int(arguments[0])
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # The parent ended before the signal was set.
        sys.exit(1)
    try:
        os.execv(arguments[1], arguments[1:])  # noqa: S606
    except OSError as error:
        sys.exit(f"{arguments[1]} can't be run: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])

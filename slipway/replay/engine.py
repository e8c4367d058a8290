"""The engine of a replay: starts its process, streams its events, and ends it with the summary of what is known."""

import json
import signal
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Queue
from typing import IO, Any, Final

from sandbox.toolchain import ensure
from spec.errors import EXIT_REFUSED, SlipwayError

TOOL: Final = "replay"
_REFUSED: Final = 2  # exit code of the engine for an input that it refuses (sandbox/toolchain/go/replay/main.go)
_END: Final = "summary"
_LINES: Final = 12  # lines of its stderr that an error shows
_AHEAD: Final = 10_000  # events that the engine may be ahead of their reader


def run(
    document: Mapping[str, Any], *, say: Callable[[str], None], binary: Path | None = None
) -> Generator[dict[str, Any]]:
    """The events of a replay, as they happen in virtual time; the summary is the last one.

    A Ctrl-C while an event is awaited, or one that is thrown into the generator, ends the replay: what is known until
    then follows, and the summary says that it was cut. Closing the generator ends the engine at once.

    Args:
        document: The input (`slipway.replay.plan`).
        say: Gets one line of progress about every second.
        binary: The engine; None for that of the toolchain, which is built if it isn't there.

    Raises:
        SlipwayError: The engine refuses the input, or ends without a summary.
        ToolError: There is no engine, and none can be built.
    """
    path = binary or ensure(TOOL)
    with tempfile.TemporaryFile() as source:
        source.write(json.dumps(document).encode())
        source.seek(0)
        # A group of its own: the terminal's Ctrl-C is for this process, which passes it on once.
        with subprocess.Popen(
            [path], stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
        ) as process:
            yield from _stream(process, say)


def _stream(process: subprocess.Popen[str], say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    errors: deque[str] = deque(maxlen=_LINES)
    lines: Queue[str] = Queue(maxsize=_AHEAD)
    readers = (
        threading.Thread(target=_read, args=(process.stderr, errors, say), daemon=True),
        # In a thread: an interrupt of a read in this one would lose what was read until then.
        threading.Thread(target=_queue, args=(process.stdout, lines), daemon=True),
    )
    for reader in readers:
        reader.start()
    ended = False
    try:
        while True:
            try:
                line = lines.get()
                if not line.endswith("\n"):  # the end; or it was killed in the middle of an event
                    break
                event: dict[str, Any] = json.loads(line)
                ended = event["kind"] == _END
                yield event
            except KeyboardInterrupt:
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGINT)
        process.wait()
    finally:
        if process.poll() is None:
            process.kill()
            while lines.get():  # lets its reader come to the end
                pass
        process.wait()
        for reader in readers:
            reader.join()
    if process.returncode or not ended:
        raise _failure(process.returncode, list(errors))


def _queue(stream: IO[str] | None, lines: Queue[str]) -> None:
    for line in stream or ():
        lines.put(line)
    lines.put("")


def _read(stream: IO[str] | None, errors: deque[str], say: Callable[[str], None]) -> None:
    for line in stream or ():
        text = progress(line)
        if text is None:
            errors.append(line.rstrip())
        else:
            say(text)


def progress(line: str) -> str | None:
    """A line of progress in words; None if the line is something else."""
    try:
        said = json.loads(line)
        jobs = said["jobs"]
        return (
            f"day {said['t'] / 86400:.1f}: {jobs['finished']:,} of {said['of']:,} jobs finished, "
            f"{jobs['running']:,} running, {jobs['pending']:,} pending"
        )
    except (ValueError, KeyError, TypeError):
        return None


def _failure(code: int, said: Sequence[str]) -> SlipwayError:
    for line in said:
        with suppress(ValueError, KeyError, TypeError):
            return SlipwayError(
                f"the engine of the replay refuses its input: {json.loads(line)['error']}", EXIT_REFUSED
            )
    cause = f"ended by signal {-code}" if code < 0 else f"ended with code {code}"
    tail = "".join(f"\n    | {line}" for line in said)
    return SlipwayError(f"the engine of the replay {cause} without a summary{tail}")

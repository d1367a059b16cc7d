"""Commands forked from a process that has imported everything: a service then starts in a tenth of a second.

    python -m support.service_nursery

reads a line of JSON for each command: its arguments, the file for what it says and the largest file it may write.
Prints the id of each process, and ``PID STATUS`` when one ends. All of them end with their nursery.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]


class Nursery:
    """The nursery of this process, as its children see it: started when first asked, ended with this process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.service_nursery"], cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._rest, self._born, self._ended = b"", list[int](), dict[int, int]()
        atexit.register(self._end)

    def fork_command(self, arguments: list[str], log: Path, largest_file: int | None = None) -> ForkedProcess:
        """Run a command in a child of the nursery."""
        told = json.dumps({"arguments": arguments, "log": str(log), "largest_file": largest_file})
        assert self._process.stdin is not None
        self._process.stdin.write(told.encode() + b"\n")
        self._process.stdin.flush()
        until = time.monotonic() + 120
        while not self._born:
            assert time.monotonic() < until
            self._listen(1.0)
        return ForkedProcess(self, self._born.pop())

    def status_of(self, pid: int, patience: float = 0.0) -> int | None:
        """Return how a child ended; None if it did not within ``patience`` seconds."""
        until = time.monotonic() + patience
        self._listen(0.0)
        while pid not in self._ended and time.monotonic() < until:
            self._listen(until - time.monotonic())
        return self._ended.get(pid)

    def _end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _listen(self, patience: float) -> None:
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        if not select.select([pipe], [], [], max(patience, 0.0))[0]:
            return
        more = os.read(pipe, 65_536)
        assert more, "the nursery has ended"
        *lines, self._rest = (self._rest + more).split(b"\n")
        for line in lines:
            pid, *status = map(int, line.split())
            if status:
                self._ended[pid] = status[0]
            else:
                self._born.append(pid)


class ForkedProcess:
    """A child of the nursery, with those methods of ``subprocess.Popen`` that tests use."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self._nursery, self.pid = nursery, pid

    def poll(self) -> int | None:
        return self._nursery.status_of(self.pid)

    def wait(self, timeout: float) -> int:
        status = self._nursery.status_of(self.pid, timeout)
        if status is None:
            raise subprocess.TimeoutExpired("seriatim", timeout)
        return status

    def send_signal(self, how: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, how)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


_own: dict[int, Nursery] = {}


def nursery() -> Nursery:
    """Return the nursery of this process."""
    return _own.get(os.getpid()) or _own.setdefault(os.getpid(), Nursery())


def main() -> None:
    import_everything()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    children: set[int] = set()
    commands = b""
    try:
        while True:
            ready = select.select([0, woken], [], [])[0]
            if woken in ready:
                os.read(woken, 1_024)
                _reap(children)
            if 0 in ready:
                more = os.read(0, 65_536)
                if not more:
                    return
                *lines, commands = (commands + more).split(b"\n")
                for line in lines:
                    children.add(_fork(json.loads(line)))
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _fork(told: dict[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        _run(told)
    os.write(1, f"{child}\n".encode())
    return child


def _run(told: dict[str, Any]) -> None:
    """Be the command, from its first line to its exit code."""
    import resource

    from seriatim.cli import main as command_line

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(told["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream, number in ((os.open(os.devnull, os.O_RDONLY), 0), (log, 1), (log, 2)):
        os.dup2(stream, number)
    if told["largest_file"] is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (told["largest_file"], resource.RLIM_INFINITY))
    os.environ["COLUMNS"] = "200"
    sys.argv = ["seriatim", *told["arguments"]]
    code: Any = 0
    try:
        command_line()
    except SystemExit as left:
        code = left.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1 if code else 0)


def _reap(children: set[int]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        children.discard(pid)
        os.write(1, f"{pid} {os.waitstatus_to_exitcode(status)}\n".encode())


def import_everything() -> None:
    """Load what a service loads, compiled kernels included; open nothing."""
    import psycopg  # noqa: F401
    import uvicorn.lifespan.on
    import uvicorn.loops.auto
    import uvicorn.protocols.http.auto  # noqa: F401
    from support.gates import rules

    import seriatim.cli.app
    import seriatim.cli.gate
    import seriatim.report.html
    import seriatim.usecases.gate.officer_view
    import seriatim.web.server
    import seriatim.web.service  # noqa: F401
    from seriatim.usecases.gate.desk import Desk
    from seriatim.web.opened_clerk import rehearse_clerk

    rehearse_clerk(Desk(rules))


if __name__ == "__main__":
    main()

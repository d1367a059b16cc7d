"""Commands forked from a process that has imported everything: a command then starts in a tenth of a second.

    python -m support.command_nursery SOCKET

SOCKET is the number of an open one. It receives a packet of JSON for each command, with the files for its output, and
sends the id of each process, and ``PID STATUS`` when one ends. All of them end with their nursery.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]


class Nursery:
    """The nursery of this process, as its children see it: started when first asked, ended with this process."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SERIATIM_")}
        command = [sys.executable, "-m", "support.command_nursery", str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                command,
                cwd=TESTS,
                env=clean,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self._born, self._ended = list[int](), dict[int, int]()
        atexit.register(self._end)

    def fork_command(
        self, arguments: list[str], folder: Path, out: int, err: int, largest_file: int | None = None, width: int = 80
    ) -> ForkedProcess:
        """Run a command in a child of the nursery, with ``out`` and ``err`` for what it says."""
        told = {"arguments": arguments, "folder": str(folder), "largest_file": largest_file, "width": width}
        socket.send_fds(self._socket, [json.dumps(told).encode()], [out, err])
        while not self._born:  # a busy machine takes as long as it takes; the test's own limit ends it
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
        self._socket.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _listen(self, patience: float) -> None:
        while select.select([self._socket], [], [], max(patience, 0.0))[0]:
            packet = self._socket.recv(1_024)
            assert packet, "the nursery has ended"
            pid, *status = map(int, packet.split())
            if status:
                self._ended[pid] = status[0]
            else:
                self._born.append(pid)
            patience = 0.0


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


def main(asked: socket.socket) -> None:
    import_everything()
    if _wait_for_command(asked):
        from seriatim.cli import program

        program()


def _wait_for_command(asked: socket.socket) -> bool:
    """Fork a child for each command. True in a child, which now has all it was given; False when no more will come."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    children: set[int] = set()
    while True:
        ready = select.select([asked, woken], [], [])[0]
        if woken in ready:
            os.read(woken, 1_024)
            _reap(children, asked)
        if asked in ready:
            packet, streams, _, _ = socket.recv_fds(asked, 65_536, 2)
            if not packet:
                _end_all(children)
                return False
            child = os.fork()
            if child == 0:
                asked.close()
                _take(json.loads(packet), streams)
                return True
            children.add(child)
            asked.send(f"{child}".encode())
            for stream in streams:
                os.close(stream)


def _take(told: dict[str, Any], streams: list[int]) -> None:
    """Take the arguments, the folder, the output and the limits of a command."""
    import resource

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate([os.open(os.devnull, os.O_RDONLY), *streams]):
        os.dup2(stream, number)
        os.close(stream)  # who reads what a command says hears its end
    if told["largest_file"] is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (told["largest_file"], resource.RLIM_INFINITY))
    os.chdir(told["folder"])
    os.environ["COLUMNS"] = str(told["width"])
    sys.argv = ["seriatim", *told["arguments"]]


def _end_all(children: set[int]) -> None:
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _reap(children: set[int], asked: socket.socket) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        children.discard(pid)
        asked.send(f"{pid} {os.waitstatus_to_exitcode(status)}".encode())


def import_everything() -> None:
    """Load what a service or a publish loads, a service's compiled kernels included; open nothing."""
    import psycopg  # noqa: F401
    import uvicorn.lifespan.on
    import uvicorn.loops.auto
    import uvicorn.protocols.http.auto  # noqa: F401
    from support.gates import rules

    import seriatim.cli.app
    import seriatim.ledger.sql_ledger
    import seriatim.report.html
    import seriatim.usecases.publish.publish  # noqa: F401
    import seriatim_gate.cli.gate
    import seriatim_gate.usecases.officer_view
    import seriatim_gate.web.server
    import seriatim_gate.web.service  # noqa: F401
    from seriatim_gate.usecases.request_book import RequestBook
    from seriatim_gate.web.decision_loop import rehearse

    rehearse(RequestBook(rules))


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))

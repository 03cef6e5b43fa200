"""Drives a launcher process by the runner protocol (Documentation/RunnerProtocol.md), without a host."""

import array
import os
import pathlib
import select
import socket
import struct
import subprocess
import tempfile
import time

TEMPLATE, SPAWN, LAUNCH, START, COMMAND, READY = 0x40, 0x41, 0x02, 0x06, 0x07, 0x01
SPAWNED, EXITED, TEMPLATE_READY, TEMPLATE_FAILED, SPAWN_FAILED = 0x51, 0x52, 0x53, 0x54, 0x55
LAYERS = ["namespaces", "networkNamespace", "user", "capabilities", "landlock", "landlockScopes", "seccomp"]
USER = 2100000777


def field(tag, value):
    """One field: text, a number (u64), a flag or bytes."""
    if isinstance(value, bool):
        value = bytes([value])
    elif isinstance(value, int):
        value = struct.pack("<Q", value & (2**64 - 1))
    elif isinstance(value, str):
        value = value.encode()
    return struct.pack("<BH", tag, len(value)) + value


def frame(kind, sequence, *fields):
    body = b"".join(fields)
    return struct.pack("<IBBH", len(body) + 4, kind, 0, sequence) + body


def fields(body):
    """The fields of a body, by their tags; of repeated ones the last."""
    found, at = {}, 0
    while at < len(body):
        tag, length = struct.unpack_from("<BH", body, at)
        found[tag] = body[at + 3 : at + 3 + length]
        at += 3 + length
    return found


def own_group():
    """The directory of this process's cgroup of version 2."""
    for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        if line.startswith("0::"):
            for root in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
                path = pathlib.Path(root + line[3:])
                if (path / "cgroup.procs").exists():
                    return path
    raise RuntimeError("no cgroup of version 2")


def libraries(library):
    """The directories of the libraries that a library needs, outside the system's."""
    listed = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
    paths = {os.path.dirname(os.path.realpath(word)) for word in listed.split() if word.startswith("/")}
    return sorted(path for path in paths if not path.startswith(("/lib", "/usr/lib")))


class Launcher:
    """A launcher process with one cgroup for each launch. Needs root."""

    def __init__(self, program):
        ours, theirs = socket.socketpair()
        self.socket, self.buffer, self.passed = ours, b"", []
        self.sequence, self.number = 0, 0
        self.groups = own_group() / f"bgtask-bench-{os.getpid()}-{id(self):x}"
        self.groups.mkdir()
        self.made = [self.groups]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bgtask-bench-"))
        self.folder.chmod(0o755)
        self.program = program
        # Descriptor 3 is the launcher's socket.
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$0" launcher 3<&{theirs.fileno()}', str(program)], pass_fds=[theirs.fileno()]
        )
        theirs.close()
        self.receive()

    def send(self, kind, *parts):
        self.socket.sendall(frame(kind, self.sequence, *parts))
        self.sequence = (self.sequence + 1) % 65536

    def receive(self, timeout=30):
        """The next message: its kind and its fields."""
        while True:
            if len(self.buffer) >= 4:
                length = struct.unpack_from("<I", self.buffer)[0] + 4
                if len(self.buffer) >= length:
                    message, self.buffer = self.buffer[:length], self.buffer[length:]
                    return message[4], fields(message[8:])
            if not select.select([self.socket], [], [], timeout)[0]:
                raise RuntimeError("the launcher does not answer")
            data, ancillary, _, _ = self.socket.recvmsg(65536, socket.CMSG_SPACE(4 * 32))
            if not data:
                raise RuntimeError("the launcher has ended")
            for _, _, content in ancillary:
                passed = array.array("i")
                passed.frombytes(content[: len(content) // 4 * 4])
                self.passed += passed
            self.buffer += data

    def expect(self, wanted, failed):
        while True:
            kind, found = self.receive()
            if kind == wanted:
                return found
            if kind == failed:
                raise RuntimeError(found[2].decode())

    def group(self, name, user=None):
        path = self.groups / name
        path.mkdir()
        self.made.append(path)
        if user:
            os.chown(path / "cgroup.procs", user, user)
            os.chown(self.groups / "cgroup.procs", user, user)
        return str(path)

    def template(self, library=None, confined=True, subprocesses=False, network=False):
        """Starts a template; returns its number."""
        self.number += 1
        number = self.number
        data = self.folder / f"data-{number}"
        data.mkdir()
        if confined:
            os.chown(data, USER, USER)
        parts = [field(1, number)]
        if library:
            parts.append(field(2, str(library)))
        parts += [field(3, str(data)), field(4, "PATH=/usr/bin:/bin"), field(6, "cgroup")]
        parts.append(field(7, self.group(f"template-{number}")))
        if confined:
            parts += [field(12, layer) for layer in LAYERS]
            parts.append(field(14, str(data)))
            parts += [field(13, path) for path in ([str(library)] + libraries(library) if library else [])]
            if subprocesses:
                parts.append(field(18, True))
            parts += [field(19, "refused"), field(20, USER), field(21, True)]
        self.send(TEMPLATE, *parts)
        found = self.expect(TEMPLATE_READY, TEMPLATE_FAILED)
        if found[2] != b"\1":
            raise RuntimeError("the template can't be cloned: " + found.get(3, b"").decode())
        return number, data, confined

    def launch(self, template, subprocesses=False, command=None):
        """Starts a launch and waits for its end; returns the nanoseconds from the order to *ready* and to the end."""
        self.number += 1
        number, (of, data, confined) = self.number, template
        parts = [field(1, number), field(2, 1), field(3, "org.example.bench.run.1"), field(4, "org.example.bench")]
        parts += [field(5, 1), field(6, 1), field(7, number), field(10, str(data)), field(11, str(data))]
        start = frame(LAUNCH, 0, *parts)
        sequence = 1
        if command:
            words = [field(1, word) for word in command]
            rest = [field(3, str(data)), field(4, False), field(5, b"\0"), field(6, 15), field(7, True)]
            start += frame(COMMAND, sequence, *words, *rest)
            sequence += 1
        start += frame(START, sequence)
        group = self.group(f"launch-{number}", USER if confined else None)
        parts = [field(1, number), field(2, of), field(3, group)]
        if subprocesses:
            parts.append(field(4, True))
        begin = time.monotonic_ns()
        self.send(SPAWN, *parts, field(7, start))
        self.expect(SPAWNED, SPAWN_FAILED)
        _, control, report, out, errors = self.passed
        self.passed = []
        select.select([report], [], [], 30)
        ready = time.monotonic_ns() - begin
        answer = os.read(report, 65536)
        if answer[4:5] != bytes([READY]):
            raise RuntimeError("the task was not ready: " + str(fields(answer[8:])))
        self.expect(EXITED, SPAWN_FAILED)
        end = time.monotonic_ns() - begin
        for descriptor in (_, control, report, out, errors):
            os.close(descriptor)
        return ready, end

    def close(self):
        self.socket.close()
        self.process.wait(30)
        for path in reversed(self.made):
            try:
                path.rmdir()
            except OSError:
                pass
        subprocess.run(["rm", "-rf", str(self.folder)], check=False)

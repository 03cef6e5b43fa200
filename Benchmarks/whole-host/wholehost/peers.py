"""The peers: job runners from Debian and PyPI. Their jobs run `bench-task`, or append a stamp themselves."""

import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time

from .bench import ROOT, Skipped, available

STAMP = struct.Struct("=qqq")
PYTHON_PEERS = ["redis", "rq", "celery", "huey", "packaging"]


class Stamps:
    """The file to which tasks append their stamps (tools/stamps.h)."""

    def __init__(self, folder):
        self.path = folder / "stamps"
        self.path.write_bytes(b"")

    def records(self):
        """Returns all stamps, each as (task number, event, time in ns)."""
        data = self.path.read_bytes()
        return list(STAMP.iter_unpack(data[: len(data) // STAMP.size * STAMP.size]))

    def wait(self, numbers, limit=300):
        """Waits until each of these tasks has appended a stamp, and returns the time of the last one."""
        missing = set(numbers)
        deadline = time.monotonic() + limit
        while True:
            last = [moment for number, _, moment in self.records() if number in missing]
            if len(last) >= len(missing):
                return max(last)
            if time.monotonic() > deadline:
                raise RuntimeError(
                    f"{len(missing) - len(last)} of {len(missing)} tasks did not run in {limit} s"
                )
            time.sleep(0.002)


class Peer:
    """One peer. `__init__` starts it, and `close` ends it."""

    name = ""
    # The greatest number of tasks in a burst; slow peers have a lower number.
    most = 1000

    def __init__(self, bench):
        self.bench = bench
        self.folder = bench.fresh("peer")
        self.stamps = Stamps(self.folder)
        self.task = bench.tools / "bench-task"
        self.processes = []
        self.start()

    def start(self):
        """Starts the peer's processes; raises `Skipped` if the peer can't run on this machine."""

    def close(self):
        """Ends the peer's processes."""
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def spawn(self, *command, **options):
        """Starts a process that `close` will end."""
        log = open(self.folder / "log", "ab")
        self.processes.append(
            subprocess.Popen(
                list(map(str, command)),
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd=self.folder,
                **options,
            )
        )
        log.close()
        return self.processes[-1]

    def submit(self, number):
        """Submits one task, in the cheapest way that the peer offers."""
        raise NotImplementedError

    def submit_all(self, numbers):
        """Submits several tasks."""
        for number in numbers:
            self.submit(number)

    def latency(self, count, gap=0.02):
        """Returns times in nanoseconds from the submission of a task to its stamp; `gap` seconds pass
        between tasks."""
        samples = []
        for _ in range(count):
            number = self.bench.numbers(1)
            start = time.monotonic_ns()
            self.submit(number)
            samples.append(self.stamps.wait([number], 60) - start)
            time.sleep(gap)
        return samples

    def burst(self, count):
        """Returns the number of tasks per second, from the first submission to the last stamp."""
        count = min(count, self.most)
        first = self.bench.numbers(count)
        numbers = range(first, first + count)
        start = time.monotonic_ns()
        self.submit_all(numbers)
        return count / ((self.stamps.wait(numbers) - start) / 1e9)


class Command(Peer):
    """Not a peer: the host's own command line, used as the peers' commands are."""

    name = "bgtask submit"

    def __init__(self, bench, host, bundle):
        self.prefix = f"{bundle}.run"
        self.command = [bench.programs / "bgtask", "submit", "--socket", host.socket]
        host.warm(bundle)
        super().__init__(bench)
        # The handlers of this bundle append their stamps there.
        self.stamps.path = host.stamps(bundle)

    def submit(self, number):
        subprocess.run([*self.command, f"{self.prefix}.{number}"], check=True, stdout=subprocess.DEVNULL)

    def submit_all(self, numbers):
        subprocess.run(
            ["xargs", "-P2", "-n1", *self.command],
            input="\n".join(f"{self.prefix}.{number}" for number in numbers).encode(),
            check=True,
            stdout=subprocess.DEVNULL,
        )


class Xargs(Peer):
    """xargs, which has no queue and stores nothing."""

    name = "xargs -P2 -n1"

    def start(self):
        available("xargs")

    def submit(self, number):
        self.submit_all([number])

    def submit_all(self, numbers):
        subprocess.run(
            ["xargs", "-P2", "-n1", str(self.task), str(self.stamps.path)],
            input="\n".join(map(str, numbers)).encode(),
            check=True,
        )


class Parallel(Xargs):
    """GNU parallel."""

    name = "GNU parallel -j2"
    most = 300

    def start(self):
        available("parallel")

    def submit_all(self, numbers):
        subprocess.run(
            ["parallel", "-j2", "--will-cite", str(self.task), str(self.stamps.path)],
            input="\n".join(map(str, numbers)).encode(),
            check=True,
            stderr=subprocess.DEVNULL,
        )


class TaskSpooler(Peer):
    """Debian's task-spooler, whose queue is in memory."""

    name = "task-spooler, 2 slots"

    def start(self):
        available("tsp")
        self.environment = os.environ | {
            "TS_SOCKET": str(self.folder / "socket"),
            "TS_SLOTS": "2",
            "TS_MAXFINISHED": "1000000",
            "TMPDIR": str(self.folder),
        }
        subprocess.run(["tsp", "-S", "2"], env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def submit(self, number):
        subprocess.run(
            ["tsp", "-n", str(self.task), str(self.stamps.path), str(number)],
            env=self.environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def submit_all(self, numbers):
        subprocess.run(
            ["xargs", "-n1", "tsp", "-n", str(self.task), str(self.stamps.path)],
            env=self.environment,
            check=True,
            input="\n".join(map(str, numbers)).encode(),
            stdout=subprocess.DEVNULL,
        )

    def close(self):
        subprocess.run(["tsp", "-K"], env=self.environment, check=False)


class At(Peer):
    """at, which stores each job as a file."""

    name = "at now"
    most = 200

    def start(self):
        available("at")
        if os.geteuid() != 0:
            raise Skipped("atd needs root")
        running = subprocess.run(["pgrep", "-x", "atd"], capture_output=True, check=False).returncode == 0
        if not running:
            # Jobs run as root here; atd's own user must be able to open /dev/null.
            self.spawn(available("atd"), "-f", "-l", "100000", "-b", "0")
            time.sleep(0.5)

    def submit(self, number):
        subprocess.run(
            ["at", "-M", "now"],
            input=f"{self.task} {self.stamps.path} {number}\n".encode(),
            check=True,
            stderr=subprocess.DEVNULL,
        )


class SystemdRun(Peer):
    """systemd-run, which creates a transient unit for each task."""

    name = "systemd-run"
    most = 200

    def start(self):
        available("systemd-run")
        if not pathlib.Path("/run/systemd/system").exists():
            raise Skipped("systemd does not run this machine")

    def submit(self, number):
        subprocess.run(
            ["systemd-run", "--quiet", "--collect", str(self.task), str(self.stamps.path), str(number)],
            check=True,
        )


def python_peers(bench):
    """Returns the Python of a virtual environment that contains the peers from PyPI; the first call
    installs them."""
    if getattr(bench, "venv_problem", None):
        raise Skipped(bench.venv_problem)
    folder = pathlib.Path(bench.venv_folder or ROOT / "Benchmarks/.build/peers")
    python = folder / "bin/python"
    if not python.exists():
        bench.say(f"  installing {', '.join(PYTHON_PEERS)} from PyPI")
        try:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
            subprocess.run(
                [folder / "bin/pip", "install", "--quiet", *PYTHON_PEERS], check=True, capture_output=True
            )
        except subprocess.CalledProcessError as error:
            bench.venv_problem = f"PyPI's packages could not be installed: {error.stderr.decode()[-200:]}"
            raise Skipped(bench.venv_problem) from None
    return python


TASKS = """
import os, struct, sys, time
def stamp(path, number):
    record = struct.pack("=qqq", number, 1, time.monotonic_ns())
    file = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(file, record)
    os.close(file)
"""


class PythonPeer(Peer):
    """A job queue from PyPI. One client process submits all tasks, as a web server would."""

    setup, call, files = "", "", {}

    def start(self):
        self.python = python_peers(self.bench)
        (self.folder / "tasks.py").write_text(TASKS + self.files.get("tasks.py", ""), encoding="utf-8")
        self.redis = self.folder / "redis.sock"
        self.prepare()
        client = (
            f"import sys\nREDIS={str(self.redis)!r}\n{self.setup}\n"
            "print('ready', flush=True)\n"
            "for line in sys.stdin:\n"
            "    for number in map(int, line.split()):\n"
            f"        {self.call}\n"
            "    print('done', flush=True)\n"
        )
        (self.folder / "client.py").write_text(client, encoding="utf-8")
        self.client = subprocess.Popen(
            [self.python, "client.py"],
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            stderr=open(self.folder / "log", "ab"),
            env=self.environment(),
        )
        self.client.stdout.readline()
        self.work()
        number = self.bench.numbers(1)
        self.submit(number)
        self.stamps.wait([number], 60)

    def environment(self):
        """Returns the environment of the peer's processes."""
        return os.environ | {"PYTHONPATH": str(self.folder), "BENCH_REDIS": str(self.redis)}

    def prepare(self):
        """Starts the message broker: a Redis server without persistence."""
        self.spawn(
            available("redis-server"),
            "--port",
            "0",
            "--unixsocket",
            self.redis,
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            self.folder,
        )
        deadline = time.monotonic() + 10
        while not self.redis.exists() and time.monotonic() < deadline:
            time.sleep(0.01)

    def work(self):
        """Starts the peer's workers."""

    def submit(self, number):
        self.submit_all([number])

    def submit_all(self, numbers):
        self.client.stdin.write(" ".join(map(str, numbers)) + "\n")
        self.client.stdin.flush()
        if self.client.stdout.readline() != "done\n":
            raise RuntimeError(
                "the client ended: " + (self.folder / "log").read_text(encoding="utf-8")[-300:]
            )

    def close(self):
        if hasattr(self, "client"):
            self.client.stdin.close()
            self.client.wait()
        super().close()


class RQ(PythonPeer):
    """RQ, which forks for each job."""

    name = "RQ, 2 workers, Redis"
    most = 150
    setup = "import redis, rq, tasks\n" "queue = rq.Queue(connection=redis.Redis(unix_socket_path=REDIS))"

    @property
    def call(self):
        """The Python statement with which the client submits the task `number`."""
        return f"queue.enqueue(tasks.stamp, {str(self.stamps.path)!r}, number)"

    def work(self):
        for _ in range(2):
            self.spawn(
                self.python.parent / "rq",
                "worker",
                "--url",
                f"unix://{self.redis}",
                "--quiet",
                env=self.environment(),
            )


class Celery(PythonPeer):
    """Celery, with a new child process for each task."""

    name = "Celery, 2 children, one task each, Redis"
    most = 20
    files = {"tasks.py": """
import celery
app = celery.Celery("tasks", broker="redis+socket://" + os.environ["BENCH_REDIS"])
app.conf.broker_connection_retry_on_startup = True
run = app.task(stamp, name="tasks.run")
"""}
    setup = "import tasks"

    @property
    def call(self):
        """The Python statement with which the client submits the task `number`."""
        return f"tasks.run.delay({str(self.stamps.path)!r}, number)"

    def work(self):
        self.spawn(
            self.python.parent / "celery",
            "-A",
            "tasks",
            "worker",
            "--concurrency",
            "2",
            "--max-tasks-per-child",
            "1",
            "--loglevel",
            "ERROR",
            "--without-gossip",
            "--without-mingle",
            env=self.environment() | {"C_FORCE_ROOT": "1"},
        )


class Huey(PythonPeer):
    """Huey, whose worker processes run many tasks, so tasks are not isolated from each other."""

    name = "Huey, 2 processes that stay, Redis"
    files = {"tasks.py": """
import huey as huey_module
huey = huey_module.RedisHuey("bench", url="unix://" + os.environ["BENCH_REDIS"])
run = huey.task()(stamp)
"""}
    setup = "import tasks"

    @property
    def call(self):
        """The Python statement with which the client submits the task `number`."""
        return f"tasks.run({str(self.stamps.path)!r}, number)"

    def work(self):
        self.spawn(
            self.python.parent / "huey_consumer",
            "tasks.huey",
            "-k",
            "process",
            "-w",
            "2",
            "-d",
            "0.01",
            env=self.environment(),
        )


ALL = [Xargs, Parallel, TaskSpooler, At, SystemdRun, RQ, Celery, Huey]
WITH_LATENCY = [TaskSpooler, At, SystemdRun, RQ, Celery, Huey]


class LazyPeer:
    """A peer that is started when it is first measured. If it can't be started, only its own subject
    fails."""

    def __init__(self, kind, bench, closing):
        self.kind, self.bench, self.closing, self.peer = kind, bench, closing, None

    def started(self):
        """Returns the peer; the first call starts it."""
        if self.peer is None:
            self.peer = self.kind.__new__(self.kind)
            self.closing.append(self._close)
            self.peer.processes = []
            self.peer.__init__(self.bench)
        return self.peer

    def _close(self):
        try:
            self.peer.close()
        except Exception:  # The peer may have failed at its start.
            pass
        shutil.rmtree(self.peer.folder, ignore_errors=True)

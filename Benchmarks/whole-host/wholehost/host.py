"""Starts real hosts for the benchmarks, each in its own folder."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import time

C_BUNDLE, APP_BUNDLE = "org.example.bench", "org.example.benchapp"

C_MANIFEST = """apiVersion: bgtask/v1
bundle: org.example.bench
library: libBenchHandler.so
modes: [processing]
tasks:
  - {identifier: org.example.bench.run.*, kind: continuedProcessing}
  - {identifier: org.example.bench.hold.*, kind: continuedProcessing}
  - {identifier: org.example.bench.progress.*, kind: continuedProcessing}
  - {identifier: org.example.bench.forks.*, kind: continuedProcessing}
sandbox: {subprocesses: SUBPROCESSES}
"""

APP_MANIFEST = """apiVersion: bgtask/v1
bundle: org.example.benchapp
library: libBenchApp.so
modes: [processing]
tasks:
  - {identifier: org.example.benchapp.run.*, kind: continuedProcessing}
  - {identifier: org.example.benchapp.hold.*, kind: continuedProcessing}
"""


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path, timeout=600):
        super().__init__("bgtask", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Host:
    """A running bgtaskd. `settings` contains keys of the section `scheduling` of its configuration, with
    their values."""

    def __init__(
        self,
        bench,
        settings=None,
        app=False,
        c=True,
        subprocesses=False,
        state=None,
        manifests=None,
        extra=None,
        library=None,
        wait=60,
    ):
        self.bench = bench
        self.folder = bench.fresh("host")
        self.state = state or self.folder / "state"
        self.socket = self.folder / "s"
        self.plugins, self.manifests = self.folder / "plugins", manifests or self.folder / "manifests"
        for folder in (self.plugins, self.manifests, self.state):
            folder.mkdir(exist_ok=True)
        if c:
            shutil.copy(bench.tools / "libBenchHandler.so", self.plugins)
            (self.manifests / "bench.yaml").write_text(
                C_MANIFEST.replace("SUBPROCESSES", "true" if subprocesses else "false"), encoding="utf-8"
            )
        if app:
            shutil.copy(library or bench.app, self.plugins / "libBenchApp.so")
            (self.manifests / "benchapp.yaml").write_text(APP_MANIFEST, encoding="utf-8")
        # Two slots, because the peers have two workers. Without spacing, launches of a burst need not wait.
        values = {"continuedSlots": 2, "launchSpacing": "0s", "launchesPerHour": 100000} | (settings or {})
        lines = ["scheduling:"] + [f"  {key}: {value}" for key, value in values.items()] + (extra or [])
        (self.folder / "bench.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.log = open(self.folder / "log", "wb")
        self.process = None
        self.start(wait)
        for present, bundle in ((c, C_BUNDLE), (app, APP_BUNDLE)):
            if present:
                # Tasks of a bundle in the foreground run at nice 0, like those of the peers.
                self.ask("PATCH", f"/v1/bundles/{bundle}", {"foreground": True})

    def start(self, wait=60):
        """Starts bgtaskd, waits until it answers, and returns the seconds that this took."""
        start = time.monotonic()
        self.process = subprocess.Popen(
            [
                self.bench.programs / "bgtaskd",
                "--plugins",
                self.plugins,
                "--manifests",
                self.manifests,
                "--state",
                self.state,
                "--socket",
                self.socket,
                "--conditions",
                "simulated",
                "--config",
                self.folder / "bench.yaml",
                "--config-root",
                self.folder,
            ],
            stdout=self.log,
            stderr=self.log,
        )
        deadline = start + wait
        while True:
            try:
                self.ask("GET", "/v1/version")
                return time.monotonic() - start
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError("bgtaskd ended: " + self.log_text()) from None
                if time.monotonic() > deadline:
                    raise RuntimeError(f"bgtaskd did not answer within {wait} s") from None
                time.sleep(0.002)

    def log_text(self):
        """Returns the last 1,500 characters of the host's output."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")[-1500:]

    def ask(self, method, path, body=None, expected=None):
        """Sends one request to the control API, and returns the decoded body of the answer."""
        connection = UnixConnection(self.socket)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if (answer.status != expected) if expected else answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:500]}")
        return json.loads(text) if text else None

    def stamps(self, bundle=C_BUNDLE):
        """Returns the path of the file to which the handlers of a bundle append their stamps
        (tools/stamps.h)."""
        return self.state / "data" / bundle / "stamps"

    def warm(self, bundle=C_BUNDLE, count=20):
        """Runs some tasks, so that the template and the host's code are loaded before the measurement."""
        first = self.bench.numbers(count)
        self.bench.tool(
            "bench-load", "burst", self.socket, self.stamps(bundle), f"{bundle}.run", first, count, 2
        )
        time.sleep(0.3)

    def expire_all(self):
        """Asks all running launches to stop."""
        for launch in self.ask("GET", "/v1/launches?limit=1000"):
            if launch["endedAt"] is None:
                self.ask("POST", "/v1/expire", {"target": launch["launch"]})

    def stop(self, wait=60):
        """Stops the host, and kills it if it does not end within `wait` seconds."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(wait)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def close(self):
        """Stops the host and removes its files, unless the variable BENCH_KEEP is set."""
        self.stop()
        self.log.close()
        if not os.environ.get("BENCH_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)

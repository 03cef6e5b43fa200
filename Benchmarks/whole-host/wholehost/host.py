"""A host of its own, in a folder of its own, as a user would start one."""

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
    """A running bgtaskd. `settings` are keys of the section `scheduling` of its configuration."""

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
        # As many at a time as the peers have workers, and no spacing: a burst is what is measured.
        values = {"continuedSlots": 2, "launchSpacing": "0s", "launchesPerHour": 100000} | (settings or {})
        lines = ["scheduling:"] + [f"  {key}: {value}" for key, value in values.items()] + (extra or [])
        (self.folder / "bench.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.log = open(self.folder / "log", "wb")
        self.process = None
        self.start(wait)
        for present, bundle in ((c, C_BUNDLE), (app, APP_BUNDLE)):
            if present:
                # Tasks then run at nice 0, as those of the peers do.
                self.ask("PATCH", f"/v1/bundles/{bundle}", {"foreground": True})

    def start(self, wait=60):
        """Starts it; the seconds until it answers."""
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
        """The end of what it wrote."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")[-1500:]

    def ask(self, method, path, body=None, expected=None):
        """One request; the answer's value."""
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
        """Where the handlers of a bundle leave their stamps."""
        return self.state / "data" / bundle / "stamps"

    def warm(self, bundle=C_BUNDLE, count=20):
        """Runs some tasks, so that templates and code are loaded."""
        first = self.bench.numbers(count)
        self.bench.tool(
            "bench-load", "burst", self.socket, self.stamps(bundle), f"{bundle}.run", first, count, 2
        )
        time.sleep(0.3)

    def expire_all(self):
        """Ends everything that runs."""
        for launch in self.ask("GET", "/v1/launches?limit=1000"):
            if launch["endedAt"] is None:
                self.ask("POST", "/v1/expire", {"target": launch["launch"]})

    def stop(self, wait=60):
        """Stops it; kills it when it does not end."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(wait)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def close(self):
        """Stops it and removes its files."""
        self.stop()
        self.log.close()
        if not os.environ.get("BENCH_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)

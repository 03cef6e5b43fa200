"""A host and a web server in trouble, for the scripts that kill processes during transfers."""
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

SERVER = pathlib.Path(__file__).resolve().parents[1] / "Fixtures/Programs/transfer-server.py"


class Trouble:
    """A host in a directory of its own, and a web server. `with` ends both and removes the directory.

    `label` names the run in messages, so that a failure can be repeated.
    """

    def __init__(self, programs, label):
        self.programs = pathlib.Path(programs)
        self.label = label
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="bgtask-kill-"))
        # A host of root gives bundles users of their own, which must be able to reach their files.
        self.place.chmod(0o755)
        self.state = self.place / "state"
        self.environment = dict(os.environ, BGTASK_SOCKET=str(self.place / "socket"), NO_COLOR="1")
        for name in ("plugins", "manifests", "conditions"):
            (self.place / name).mkdir()
        self.host = None
        self.server = subprocess.Popen([sys.executable, SERVER], stdout=subprocess.PIPE, text=True)
        self.address = f"http://127.0.0.1:{self.server.stdout.readline().strip()}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.kill()
        if self.host is not None:
            self.host.terminate()
            try:
                self.host.wait(10)
            except subprocess.TimeoutExpired:
                self.host.kill()
        shutil.rmtree(self.place, ignore_errors=True)

    def fail(self, text):
        print(f"{self.label}: {text}")
        print((self.place / "log").read_text()[-3000:])
        raise SystemExit(1)

    def start(self):
        """Starts a host, and waits until it answers."""
        arguments = ["--plugins", self.place / "plugins", "--manifests", self.place / "manifests"]
        arguments += ["--state", self.state, "--socket", self.place / "socket"]
        arguments += ["--conditions-directory", self.place / "conditions", "--conditions", "simulated"]
        with open(self.place / "log", "a", encoding="utf-8") as log:
            self.host = subprocess.Popen([self.programs / "bgtaskd", *arguments], stdout=log, stderr=log)
        end = time.monotonic() + 120
        while self.bgtask("transfers").returncode != 0:
            if self.host.poll() is not None or time.monotonic() > end:
                self.fail("the host did not start")
            time.sleep(0.02)

    def restart(self):
        """Kills the host, and starts another one."""
        self.host.kill()
        self.host.wait()
        self.start()

    def bgtask(self, *arguments):
        return subprocess.run(
            [self.programs / "bgtask", *arguments], env=self.environment, capture_output=True, text=True
        )

    def json(self, *arguments):
        return json.loads(self.bgtask(*arguments, "--json").stdout or "[]")

    def get(self, path):
        """Asks the server something; a machine under load can drop a connection, so up to five times."""
        for left in reversed(range(5)):
            try:
                return urllib.request.urlopen(f"{self.address}/{path}").read().decode()
            except (ConnectionError, http.client.RemoteDisconnected):
                if left == 0:
                    raise
                time.sleep(0.2)

    def transfer(self):
        rows = self.json("transfers")
        return rows[0] if rows else self.fail("the transfer is unknown")

    def arrived(self):
        """How many bytes of the first download have arrived, as the file system tells."""
        try:
            return (self.state / "transfers/1.part").stat().st_size
        except FileNotFoundError:
            return 0

    def processes(self, is_wanted):
        """The numbers of the host's descendants of which this is true; it gets the name and the path."""
        found, parents = [], [self.host.pid]
        while parents:
            for task in self.entries(f"/proc/{parents.pop()}/task"):
                for number in self.text(task / "children").split():
                    parents.append(int(number))
                    try:
                        path = os.readlink(f"/proc/{number}/exe")
                    except OSError:
                        continue  # It has just ended.
                    if is_wanted(self.text(pathlib.Path(f"/proc/{number}/comm")), path):
                        found.append(int(number))
        return found

    @staticmethod
    def entries(path):
        try:
            return list(pathlib.Path(path).iterdir())
        except OSError:
            return []

    @staticmethod
    def text(path):
        try:
            return path.read_text()
        except OSError:
            return ""

    def maker(self):
        """The number of the program that makes transfers; None if none runs."""
        found = self.processes(lambda name, _: name.startswith("bgtask-transfer"))
        return found[0] if found else None

    @staticmethod
    def digest(path):
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
        return digest.hexdigest()

"""Downloads a file from a server in trouble, while everything is killed again and again.

Usage: kill.py BIN [SIZE [SEED]], with the directory of the programs, and the size in bytes (64 MiB, or what
BGTASK_TRANSFER_SIZE says). The server drops connections, stalls, answers with 503 and changes its ETag once.
The script kills the program that makes transfers and the host, five times each, at random points of the
download. In the end, the file must have the content of the server's newest version, byte for byte, and the
transfer must have succeeded once. Exits with 0 if so; otherwise, it says what is wrong.
"""
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

KILLS = 5
programs = pathlib.Path(sys.argv[1])
size = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("BGTASK_TRANSFER_SIZE", 64 << 20))
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
luck = random.Random(seed)
here = pathlib.Path(__file__).resolve().parent
place = pathlib.Path(tempfile.mkdtemp(prefix="bgtask-kill-"))
socket, state, out = place / "socket", place / "state", place / "out"
environment = dict(os.environ, BGTASK_SOCKET=str(socket), NO_COLOR="1")
for name in ("plugins", "manifests", "conditions"):
    (place / name).mkdir()


def fail(text):
    print(f"seed {seed}, size {size}: {text}")
    print((place / "log").read_text()[-3000:])
    raise SystemExit(1)


def start():
    """Starts a host, and waits until it answers."""
    arguments = ["--plugins", place / "plugins", "--manifests", place / "manifests", "--state", state]
    arguments += ["--conditions-directory", place / "conditions", "--socket", socket]
    with open(place / "log", "a") as log:
        host = subprocess.Popen([programs / "bgtaskd", *arguments, "--conditions", "simulated"], stdout=log, stderr=log)
    end = time.monotonic() + 120
    while bgtask("transfers").returncode != 0:
        if host.poll() is not None or time.monotonic() > end:
            fail("the host did not start")
        time.sleep(0.02)
    return host


def bgtask(*arguments):
    return subprocess.run([programs / "bgtask", *arguments], env=environment, capture_output=True, text=True)


def transfer():
    rows = json.loads(bgtask("transfers", "--json").stdout or "[]")
    return rows[0] if rows else fail("the transfer is unknown")


def arrived():
    """How many bytes have arrived, as the file system tells."""
    try:
        return (state / "transfers/1/part").stat().st_size
    except FileNotFoundError:
        return 0


def maker(host):
    """The number of the program that makes transfers; None if none runs."""
    numbers = []
    for task in pathlib.Path(f"/proc/{host.pid}/task").iterdir():
        try:
            numbers += (task / "children").read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # This thread of the host has just ended.
    for number in numbers:
        try:
            if pathlib.Path(f"/proc/{number}/comm").read_text().startswith("bgtask-transfer"):
                return int(number)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return None


server = subprocess.Popen(
    [sys.executable, here.parent / "Fixtures/Programs/transfer-server.py"], stdout=subprocess.PIPE, text=True
)
host = None
try:
    address = f"http://127.0.0.1:{server.stdout.readline().strip()}"
    host = start()
    limits = ["--retry-delay", "10ms", "--stall-timeout", "500ms"]
    began = time.monotonic()
    big = f"{address}/file/big?size={size}&chaos={seed}&gate={size * 9 // 10}"
    asked = bgtask("transfer", big, "--to", str(out), *limits)
    if asked.returncode != 0:
        fail(f"the transfer was refused: {asked.stderr}")
    victims = ["program"] * KILLS + ["host"] * KILLS
    luck.shuffle(victims)
    # The first requests are for the old version, so the kills are spread over the new one. The server keeps
    # the last tenth of the file until all kills were made.
    points = sorted(luck.randrange(1, size * 9 // 10) for _ in victims)
    killed = {"program": 0, "host": 0}
    limit = time.monotonic() + 1800
    while victims:
        if time.monotonic() > limit:
            fail(f"no progress: {transfer()}")
        at = arrived()
        if at < points[0]:
            if (state / "transfers/1/data").exists() or out.exists():
                break
            time.sleep(0.002)
            continue
        points.pop(0)
        victim = victims.pop(0)
        if victim == "host":
            host.kill()
            host.wait()
            host = start()
        else:
            number = maker(host)
            if number is None:
                victims.insert(0, victim)
                points.insert(0, at)
                continue
            os.kill(number, signal.SIGKILL)
        killed[victim] += 1
    urllib.request.urlopen(f"{address}/release/big").read()
    while transfer()["outcome"] is None:
        if time.monotonic() > limit:
            fail(f"it did not end: {transfer()}")
        time.sleep(0.05)
    took = time.monotonic() - began
    row = transfer()
    if row["outcome"] != "succeeded":
        fail(f"it ended as {row['outcome']}: {row['failure']}")
    digest = hashlib.sha256()
    with open(out, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    wanted = urllib.request.urlopen(f"{address}/hash/bignew?size={size}").read().decode()
    if digest.hexdigest() != wanted:
        fail("the file has wrong bytes")
    seen = json.load(urllib.request.urlopen(f"{address}/seen/big"))
    resumed = sum(1 for request in seen if request["range"])
    print(f"seed {seed}: {size} bytes are right after {took:.1f} s, {len(seen)} requests ({resumed} of them for the "
          f"rest), {row['received']} bytes received, kills: {killed}")
    if sum(killed.values()) < 2 * KILLS:
        fail(f"only {killed} were killed before the end")
finally:
    server.kill()
    if host is not None:
        host.terminate()
        try:
            host.wait(10)
        except subprocess.TimeoutExpired:
            host.kill()
    shutil.rmtree(place, ignore_errors=True)

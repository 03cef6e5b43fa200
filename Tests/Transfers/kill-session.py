"""Kills everything while an app downloads or uploads a file in a background session.

Usage: kill-session.py BIN APP download|upload [SIZE [SEED]], with the directory of the programs, the library of
the corpus app (Tests/Fixtures/Apps, libCorpusApp.so), and the size in bytes (64 MiB, or what
BGTASK_TRANSFER_SIZE says). A push makes the app begin the transfer. The server drops connections, stalls and
answers with 503; during a download, it changes its ETag once. The script kills the program that makes
transfers, a task that has the session, and the host, five times each, at random points. Then the transfer may
end while no task runs. After that, the app must be launched once for the events of the session, get its file
byte for byte or hear that the upload is complete, call the completion handler, and end. After another restart,
nothing more may happen. Exits with 0 if so; otherwise, it says what is wrong.
"""
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time

from trouble import Trouble

KILLS = 5
BUNDLE = "org.example.corpus"
EVENTS = BUNDLE + ".editions"
MANIFEST = f"""apiVersion: bgtask/v1
bundle: {BUNDLE}
library: libCorpusApp.so
modes: [fetch, processing, remote-notification, health-research]
tasks:
  - {{identifier: {BUNDLE}.refresh, kind: appRefresh}}
  - {{identifier: {BUNDLE}.clean, kind: processing}}
  - {{identifier: {BUNDLE}.study, kind: processing}}
  - {{identifier: {BUNDLE}.tidy, kind: activity}}
  - {{identifier: {BUNDLE}.export.*, kind: continuedProcessing}}
  - {{identifier: {BUNDLE}.push, kind: push}}
  - {{identifier: {EVENTS}, kind: transferEvents}}
"""
direction = sys.argv[3]
size = int(sys.argv[4]) if len(sys.argv) > 4 else int(os.environ.get("BGTASK_TRANSFER_SIZE", 64 << 20))
seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.randrange(1 << 32)
luck = random.Random(seed)
limit = time.monotonic() + 1800


def launches(world, identifier=EVENTS):
    return world.json("launches", "--identifier", identifier)


def task(world):
    """The number of a process of the app that has the session; None if there is none."""
    for number in world.processes(lambda _, path: f"/apps/{BUNDLE}/" in path):
        if any(world.text(thread / "comm").startswith("bgtask.sessions") for thread in
               world.entries(f"/proc/{number}/task")):
            return number
    return None


def wait(world, text, done):
    while not (answer := done()):
        if time.monotonic() > limit:
            world.fail(f"it never came to this: {text}; {world.transfer()}")
        time.sleep(0.02)
    return answer


def begin(world):
    """Makes the app begin the transfer, by a push."""
    gate = size * 9 // 10
    if direction == "download":
        asked = {"edition": f"{world.address}/file/big?size={size}&chaos={seed}&gate={gate}"}
    else:
        asked = {"report": f"{world.address}/put/big?chaos={seed}&gate={gate}", "bytes": size}
    asked["patience"] = 1
    answer = world.bgtask("push", BUNDLE, json.dumps(asked), "--priority", "10")
    if answer.returncode != 0:
        world.fail(f"the push was refused: {answer.stderr}")
    wait(world, "the transfer has begun", lambda: world.json("transfers"))
    wait(world, "the push has ended", lambda: launches(world, BUNDLE + ".push")[0]["outcome"])


def arrived(world):
    return world.arrived() if direction == "download" else int(world.get("at/big"))


def kill_one(world, victim):
    """Returns whether there was such a process."""
    if victim == "host":
        world.restart()
        return True
    if victim == "program":
        number = world.maker()
    else:
        # Without such a task, a person launches one, whose app then waits for the events.
        if not any(row["outcome"] is None for row in launches(world)):
            world.bgtask("launch", EVENTS)
        number = task(world)
    if number is None:
        return False
    try:
        os.kill(number, signal.SIGKILL)
    except ProcessLookupError:
        return False  # it has just ended by itself
    return True


def kill_all(world):
    victims = [name for name in ("program", "task", "host") for _ in range(KILLS)]
    luck.shuffle(victims)
    points = sorted(luck.randrange(1, size * 9 // 10) for _ in victims)
    killed = dict.fromkeys(victims, 0)
    while victims:
        if time.monotonic() > limit:
            world.fail(f"no progress, killed {killed}: {world.transfer()}")
        # Each attempt of an upload begins again, so not each point is reached before the next kill.
        if arrived(world) < points[0] or not kill_one(world, victims[0]):
            time.sleep(0.005)
            continue
        points.pop(0)
        killed[victims.pop(0)] += 1
    return killed


def end_tasks(world):
    """Makes sure that no task has the session, and none is about to get it."""
    def is_quiet():
        world.bgtask("cancel", EVENTS)
        if all(row["outcome"] is not None for row in launches(world)):
            return True
        if (number := task(world)) is not None:
            os.kill(number, signal.SIGKILL)
        return False

    wait(world, "no task runs", is_quiet)
    # Five crashes in a row within 5 min pause a bundle.
    world.bgtask("resume", BUNDLE)


def check_result(world):
    if direction == "download":
        found = world.state / f"data/{BUNDLE}/Documents/big"
        if not found.exists():
            world.fail("the app did not get its file")
        if world.digest(found) != world.get(f"hash/bignew?size={size}"):
            world.fail("the file has wrong bytes")
        return
    content = hashlib.sha256(bytes([7]) * min(size, 300_000))
    left = max(size - 300_000, 0)
    while left > 0:
        content.update(bytes(min(left, 1 << 20)))
        left -= min(left, 1 << 20)
    requests = json.loads(world.get("seen/big"))
    accepted = [request for request in requests if request.get("accepted")]
    if len(accepted) != 1 or accepted[0]["length"] != size or accepted[0]["sha256"] != content.hexdigest():
        world.fail(f"the server has accepted {accepted}")


with Trouble(sys.argv[1], f"{direction}, seed {seed}, size {size}") as world:
    shutil.copy(sys.argv[2], world.place / "plugins/libCorpusApp.so")
    (world.place / "manifests/corpus.yaml").write_text(MANIFEST)
    world.start()
    wait(world, "the app is installed", lambda: [row for row in launches(world, BUNDLE) if row["outcome"]])
    began = time.monotonic()
    begin(world)
    killed = kill_all(world)
    end_tasks(world)
    before = {row["launch"] for row in launches(world)}
    world.get("release/big")

    def news():
        return [row for row in launches(world) if row["launch"] not in before]

    wait(world, "the app was launched for its events", lambda: [row for row in news() if row["outcome"]])
    took = time.monotonic() - began
    log = world.bgtask("logs", "--launch", news()[0]["launch"]).stdout
    for text in (f"events of {BUNDLE}.editions", f"all events of {BUNDLE}.editions", "completed, status 20"):
        if text not in log:
            world.fail(f"the app did not say '{text}': {log}")
    row = world.transfer()
    if row["outcome"] != "succeeded":
        world.fail(f"it ended as {row['outcome']}: {row['failure']}")
    check_result(world)
    world.restart()
    handed = list((world.state / f"data/{BUNDLE}/.transfers").iterdir())
    if len(news()) != 1 or news()[0]["outcome"] != "succeeded" or handed:
        world.fail(f"launches: {news()}, left: {handed}")
    seen = json.loads(world.get("seen/big"))
    print(f"seed {seed}: {size} bytes are right after {took:.1f} s, {len(seen)} requests, "
          f"{row['received']} bytes received, {row['sent']} sent, kills: {killed}, launches for tasks that were "
          f"killed: {len(before)}, for the end: 1")

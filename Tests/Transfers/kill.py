"""Downloads a file from a server in trouble, while everything is killed again and again.

Usage: kill.py BIN [SIZE [SEED]], with the directory of the programs, and the size in bytes (64 MiB, or what
BGTASK_TRANSFER_SIZE says). The server drops connections, stalls, answers with 503 and changes its ETag once.
The script kills the program that makes transfers and the host, five times each, at random points of the
download. In the end, the file must have the content of the server's newest version, byte for byte, and the
transfer must have succeeded once. Exits with 0 if so; otherwise, it says what is wrong.
"""
import json
import os
import random
import signal
import sys
import time

from trouble import Trouble

KILLS = 5
size = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("BGTASK_TRANSFER_SIZE", 64 << 20))
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
luck = random.Random(seed)

with Trouble(sys.argv[1], f"seed {seed}, size {size}") as world:
    out = world.place / "out"
    world.start()
    limits = ["--retry-delay", "10ms", "--stall-timeout", "500ms"]
    began = time.monotonic()
    big = f"{world.address}/file/big?size={size}&chaos={seed}&gate={size * 9 // 10}"
    asked = world.bgtask("transfer", big, "--to", str(out), *limits)
    if asked.returncode != 0:
        world.fail(f"the transfer was refused: {asked.stderr}")
    victims = ["program"] * KILLS + ["host"] * KILLS
    luck.shuffle(victims)
    # The first requests are for the old version, so the kills are spread over the new one. The server keeps
    # the last tenth of the file until all kills were made.
    points = sorted(luck.randrange(1, size * 9 // 10) for _ in victims)
    killed = {"program": 0, "host": 0}
    limit = time.monotonic() + 1800
    while victims:
        if time.monotonic() > limit:
            world.fail(f"no progress: {world.transfer()}")
        at = world.arrived()
        if at < points[0]:
            if (world.state / "transfers/1.data").exists() or out.exists():
                break
            time.sleep(0.002)
            continue
        if victims[0] == "host":
            world.restart()
        else:
            number = world.maker()
            if number is None:
                points[0] = at
                continue
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:  # It has ended by itself, after an attempt.
                points[0] = at
                continue
        points.pop(0)
        killed[victims.pop(0)] += 1
    world.get("release/big")
    while world.transfer()["outcome"] is None:
        if time.monotonic() > limit:
            world.fail(f"it did not end: {world.transfer()}")
        time.sleep(0.05)
    took = time.monotonic() - began
    row = world.transfer()
    if row["outcome"] != "succeeded":
        world.fail(f"it ended as {row['outcome']}: {row['failure']}")
    if world.digest(out) != world.get(f"hash/bignew?size={size}"):
        world.fail("the file has wrong bytes")
    seen = json.loads(world.get("seen/big"))
    resumed = sum(1 for request in seen if request["range"])
    print(f"seed {seed}: {size} bytes are right after {took:.1f} s, {len(seen)} requests ({resumed} of them for the "
          f"rest), {row['received']} bytes received, kills: {killed}")
    if sum(killed.values()) < 2 * KILLS:
        world.fail(f"only {killed} were killed before the end")

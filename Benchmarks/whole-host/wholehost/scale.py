"""The rows that take minutes: large numbers of requests, manifests and tasks, and the built programs. The
docstring of a row is its text on the page."""

import contextlib
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import time

from . import machine
from .bench import ROOT, Skipped, Subject, row
from .host import APP_BUNDLE, C_BUNDLE, Host
from .rows import FORK, host_for


def _submissions(bench, host, count, connections=10):
    return count / float(
        bench.tool(
            "bench-load", "submit", host.socket, f"{C_BUNDLE}.run", bench.numbers(count), count, connections
        )[0]
    )


@row(
    "pending",
    "Durable submissions per second while 100,000 wait",
    "per s",
    "as many as with none pending",
    better="more",
    scale=True,
)
def pending(bench, closing):
    """A client submits over 10 connections; no task is launched. One host has an empty store, and in the
    other one 100,000 requests wait."""
    many, count = (5000, 300) if bench.quick else (100_000, 1500)
    full = host_for(bench, closing, {"continuedSlots": 0})
    start = time.monotonic()
    _submissions(bench, full, many, 100)
    bench.say(f"  pending: {many} submitted in {time.monotonic() - start:.0f} s")

    def with_none():
        host = Host(bench, {"continuedSlots": 0})
        try:
            return _submissions(bench, host, count)
        finally:
            host.close()

    return [
        Subject("bgtask, none pending", "ours", with_none),
        Subject(f"bgtask, {many:,} pending", "ours", lambda: _submissions(bench, full, count)),
    ]


def _manifests(folder, count):
    """Creates a folder with the manifests of `count` bundles, each with one task of the C handler."""
    folder.mkdir()
    for number in range(count):
        (folder / f"m{number}.yaml").write_text(
            f"apiVersion: bgtask/v1\nbundle: org.example.m{number}\nlibrary: libBenchHandler.so\n"
            f"modes: [processing]\ntasks:\n  - {{identifier: org.example.m{number}.run, kind: processing}}\n",
            encoding="utf-8",
        )
    return folder


def _restart(host, identifier):
    """Restarts a host, and returns the seconds from its start until it has accepted a submission."""
    host.stop(600)
    begun = time.monotonic()
    answered = host.start(600)
    while time.monotonic() < begun + 600:
        try:
            host.ask("POST", "/v1/requests", {"identifier": identifier}, expected=201)
            return {"value": time.monotonic() - begun, "notes": [f"it answered its first call after {answered:.3f} s"]}
        except RuntimeError:
            time.sleep(0.002)
    raise RuntimeError("no submission was accepted within ten minutes")


@row("manifests", "Start with 10,000 manifests", "s", "at most 2 s", scale=True)
def manifests(bench, closing):
    """The time from the start of bgtaskd until it has accepted a submission for the task of the last
    manifest."""
    many = 1000 if bench.quick else 10_000
    subjects = []
    for count in (100, many):
        folder = _manifests(bench.fresh("manifests") / "m", count)
        host = host_for(bench, closing, manifests=folder, wait=600)
        subjects.append(
            Subject(
                f"bgtask, {count:,} manifests",
                "ours",
                lambda host=host, count=count: _restart(host, f"org.example.m{count - 1}.run"),
            )
        )
    return subjects


@row(
    "listing",
    "All of 100,000 pending requests listed",
    "s",
    "at most 1 s",
    scale=True,
)
def listing(bench, closing):
    """`bgtask pending` from its start to its end, with its output thrown away; nothing is launched. The note
    has how much the host's memory grew by it."""
    many = 5000 if bench.quick else 100_000
    host = host_for(bench, closing, {"continuedSlots": 0})
    _submissions(bench, host, many, 100)

    def listed(*arguments):
        before, start = machine.proportional_set(host.process.pid), time.monotonic()
        subprocess.run(
            [bench.programs / "bgtask", "pending", "--socket", host.socket, *arguments],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        taken = time.monotonic() - start
        grown = machine.proportional_set(host.process.pid) - before
        return {"value": taken, "notes": [f"the host's memory grew by {grown / 1000:.1f} MB"]}

    return [
        Subject(f"bgtask pending, {many:,} requests", "ours", listed),
        Subject(f"bgtask pending --json, {many:,} requests", "ours", lambda: listed("--json")),
    ]


def _declarations(folder, bundles, tasks):
    """Creates a folder with the manifests of `bundles` bundles, each with `tasks` tasks."""
    folder.mkdir()
    for bundle in range(bundles):
        name = f"org.example.m{bundle}"
        rows = [f"  - {{identifier: {name}.t{task}, kind: processing}}" for task in range(tasks)]
        (folder / f"m{bundle}.yaml").write_text(
            f"apiVersion: bgtask/v1\nbundle: {name}\nlibrary: libBenchHandler.so\nmodes: [processing]\n"
            "tasks:\n" + "\n".join(rows) + "\n",
            encoding="utf-8",
        )
    return folder


@row("tasks", "CPU time of a start with 100,000 declared tasks", "s", "at most 3 s", scale=True)
def tasks(bench, closing):
    """100 manifests with 1,000 tasks each; from the start of bgtaskd until two seconds after it has accepted
    a submission, when the recording has the manifests. The note has the memory."""
    bundles, each = (10, 1000) if bench.quick else (100, 1000)
    folder = _declarations(bench.fresh("tasks") / "m", bundles, each)
    host = host_for(bench, closing, {"continuedSlots": 0}, manifests=folder, wait=600)
    once = f"{C_BUNDLE}.run.{bench.numbers(1)}"

    def started():
        _restart(host, once)
        time.sleep(2)
        memory = machine.proportional_set(host.process.pid) / 1000
        return {"value": machine.usage(host.process.pid), "notes": [f"{memory:.0f} MB of memory"]}

    return [Subject(f"bgtask, {bundles * each:,} declared tasks", "ours", started)]


def _multiplied(store, count):
    """Copies the newest pending request of a store until `count` requests are pending."""
    with contextlib.closing(sqlite3.connect(store)) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(requests)")]
        row = list(
            database.execute("SELECT * FROM requests WHERE state = 'pending' ORDER BY id DESC").fetchone()
        )
        number, name = columns.index("id"), columns.index("identifier")
        first = row[number]

        def copies():
            for copy in range(1, count):
                row[number], row[name] = first + copy, f"{C_BUNDLE}.run.copy{copy}"
                yield row

        marks = ", ".join("?" * len(columns))
        database.executemany(f"INSERT INTO requests VALUES ({marks})", copies())
        database.commit()


@row("million", "Start with a million pending requests", "s", "seconds", scale=True)
def million(bench, closing):
    """The time from the start of bgtaskd until it has accepted a submission. The requests are copies in its
    store; they wait for a slot. The note has the CPU time and the memory."""
    count = 50_000 if bench.quick else 1_000_000
    host = host_for(bench, closing, {"continuedSlots": 0}, wait=600)
    _submissions(bench, host, 1, 1)
    host.stop()
    _multiplied(host.state / "store.sqlite", count)
    host.start(600)
    once = f"{C_BUNDLE}.run.{bench.numbers(1)}"

    def started():
        result = _restart(host, once)
        memory = machine.proportional_set(host.process.pid) / 1000
        result["notes"] += [
            f"{machine.usage(host.process.pid):.1f} s of CPU time",
            f"{memory:.0f} MB of memory",
        ]
        return result

    return [Subject(f"bgtask, {count:,} pending requests", "ours", started)]


@row(
    "manifests-submit",
    "One submission where there are 10,000 manifests",
    "us",
    "at most 1.2 times the time with 100",
    scale=True,
)
def manifests_submit(bench, closing):
    """The time from a submission to its answer. A client sends one submission at a time; no task is
    launched."""
    many, count = (1000, 50) if bench.quick else (10_000, 300)
    subjects = []
    for size in (100, many):
        folder = _manifests(bench.fresh("manifests") / "m", size)
        host = host_for(bench, closing, {"continuedSlots": 0}, manifests=folder, wait=600)
        subjects.append(
            Subject(
                f"bgtask, {size:,} manifests",
                "ours",
                lambda host=host: [
                    int(line)
                    for line in bench.tool(
                        "bench-load", "submit", host.socket, f"{C_BUNDLE}.run", bench.numbers(count), count, 1
                    )[1:]
                ],
            )
        )
    return subjects


@row(
    "unknown",
    "A submission that no manifest permits, at 1,000 manifests",
    "us",
    "at most 5 ms, without holding up other calls",
    scale=True,
)
def unknown(bench, closing):
    """The time from a submission to its refusal, each over a new connection. Before it refuses a
    submission, the host reads its directories again."""
    many, count = (200, 5) if bench.quick else (1000, 20)
    subjects = []

    def refused(host):
        samples = []
        for number in range(count):
            start = time.monotonic_ns()
            host.ask("POST", "/v1/requests", {"identifier": f"org.example.absent.n{number}"}, expected=403)
            samples.append(time.monotonic_ns() - start)
        return samples

    for size in (5, many):
        host = host_for(bench, closing, manifests=_manifests(bench.fresh("manifests") / "m", size), wait=600)
        subjects.append(Subject(f"bgtask, {size:,} manifests", "ours", lambda host=host: refused(host)))
    return subjects


@row("recording", "Start with a full recording", "s", "at most 0.1 s", scale=True)
def recording(bench, closing):
    """The time from the start of bgtaskd until it has accepted a submission. Before, requests that replace
    each other have filled the recording to 56 MiB (6 MiB with --quick); its limit is 64 MiB. The same
    store is started with and without the recording."""
    host = host_for(bench, closing, {"continuedSlots": 0})
    folder, limit = host.state / "recording", (6 if bench.quick else 56) * 2**20
    first, filled, starts = bench.numbers(1000), 0, 0
    while filled < limit:
        bench.tool("bench-load", "submit", host.socket, f"{C_BUNDLE}.run", first, 1000, 100)
        time.sleep(0.2)
        before, filled = filled, sum(file.stat().st_size for file in folder.iterdir())
        if filled <= before:
            # A busy host may find no moment to begin a new segment. Recording then pauses at three quarters
            # of the limit. A restart begins a segment.
            host.stop()
            host.start(600)
            starts += 1
            if starts > 8:
                raise RuntimeError(f"the recording does not grow beyond {filled} bytes")

    def without():
        host.stop()
        aside = host.folder / "recording"
        shutil.move(folder, aside)
        try:
            return _restart(host, once)
        finally:
            host.stop()
            shutil.rmtree(folder, ignore_errors=True)
            shutil.move(aside, folder)

    once = f"{C_BUNDLE}.run.{bench.numbers(1)}"
    empty = host_for(bench, closing)
    return [
        Subject("bgtask, empty store", "ours", lambda: _restart(empty, once)),
        Subject("bgtask, the store without the recording", "ours", without),
        Subject(f"bgtask, {filled / 2**20:.0f} MiB of recording", "ours", lambda: _restart(host, once)),
    ]


def _hold(bench, host, bundle, count):
    """Starts `count` tasks that wait until they expire. Their launches are simulated, because the number
    of those is not limited."""
    bench.tool(
        "bench-load",
        "hold",
        host.socket,
        host.stamps(bundle),
        f"{bundle}.hold",
        bench.numbers(count),
        count,
        8,
    )
    time.sleep(2)


@row("watch", "1,000 live tasks, watched once a second", "% of a core", "at most 0.5 %", scale=True)
def watch(bench, closing):
    """The CPU time of bgtaskd while 1,000 tasks wait and nothing else happens: without the question about
    tasks that make no progress, and their end a minute later. The floor reads an open kernel file as often
    as the host measures a task."""
    count, seconds = (100, 5) if bench.quick else (1000, 20)
    host = host_for(bench, closing, {"stallQuestion": "1d", "stallLimit": "1d"})
    _hold(bench, host, C_BUNDLE, count)
    time.sleep(3 if bench.quick else 10)

    def used():
        before, begun = machine.usage(host.process.pid), time.monotonic()
        time.sleep(seconds)
        return (machine.usage(host.process.pid) - before) / (time.monotonic() - begun) * 100

    return [
        Subject(
            f"{count:,} kept descriptors, read once a second",
            "floor",
            lambda: int(bench.tool("bench-floor", "watch", 50_000)[0]) * count / 1e7,
        ),
        Subject(f"bgtask, {count:,} live tasks", "ours", used),
    ]


@row(
    "live",
    "Memory of a live task, PSS",
    "kB",
    "a Swift app: at most a sixth of one that is loaded afresh",
    scale=True,
)
def live(bench, closing):
    """The median memory of 200 tasks that wait. For comparison, an app starts a thread while it is loaded.
    A process of such an app can't be cloned, so each of its tasks loads the app again."""
    count = 30 if bench.quick else 200

    def memory(bundle, number, **options):
        host = Host(bench, **options)
        try:
            before = set(machine.children(host.process.pid))
            _hold(bench, host, bundle, number)
            sizes = []
            for process in set(machine.children(host.process.pid)) - before:
                try:
                    sizes.append(machine.proportional_set(process))
                except OSError:
                    continue
            # There are only a few templates and standbys, so the median belongs to a task.
            return {
                "value": statistics.median(sizes),
                "notes": [f"{sum(sizes) / 1000:.1f} MB for {number} tasks, templates and standbys"],
            }
        finally:
            host.stop(120)
            host.close()

    subjects = []
    if bench.app:
        afresh = bench.app.with_name("libBenchAppAfresh.so")
        if afresh.exists():
            subjects.append(
                Subject(
                    "bgtask, Swift app, loaded afresh",
                    "floor",
                    lambda: memory(APP_BUNDLE, min(count, 50), app=True, c=False, library=afresh),
                )
            )
        subjects.append(
            Subject("bgtask, Swift app, cloned", "ours", lambda: memory(APP_BUNDLE, count, app=True, c=False))
        )
    return subjects + [Subject("bgtask, C plugin, cloned", "ours", lambda: memory(C_BUNDLE, count))]


@row("history", "What a launch leaves on the disk", "bytes", "at most 1 KB")
def history(bench, _closing):
    """The growth of the store and of the recording by 1,000 launches, for each launch. The files are
    measured after the host has stopped."""
    count = 300 if bench.quick else 1000

    def grown():
        host = Host(bench)
        try:
            sizes = []
            for _ in range(2):
                bench.tool(
                    "bench-load",
                    "burst",
                    host.socket,
                    host.stamps(),
                    f"{C_BUNDLE}.run",
                    bench.numbers(count),
                    count,
                    10,
                )
                host.stop()
                sizes.append(
                    [
                        (host.state / "store.sqlite").stat().st_size,
                        sum(file.stat().st_size for file in (host.state / "recording").iterdir()),
                    ]
                )
                host.start()
            store, recorded = ((after - before) / count for before, after in zip(*sizes))
            return {"value": store, "notes": [f"{recorded:.0f} bytes of recording for each launch"]}
        finally:
            host.close()

    return [Subject("bgtask", "ours", grown)]


@row(
    "eight",
    "Eight submissions at once: to the handler of each",
    "us",
    "for the launcher alone: 8 times a fork (C), 15 times (app)",
)
def eight(bench, closing):
    """Eight connections submit one task each at the same time, and the host may run eight launches. The
    time is measured from the first submission to each handler's first instruction. `make bench-parts`
    measures the same of the launcher alone."""
    rounds = 4 if bench.quick else 15
    subjects = [Subject(FORK, "floor", lambda: bench.nanoseconds("bench-floor", "fork", 200))]
    kinds = [(C_BUNDLE, "bgtask, C plugin", {})]
    if bench.app:
        kinds.append((APP_BUNDLE, "bgtask, Swift app", {"app": True, "c": False}))
    for bundle, name, options in kinds:
        host = host_for(bench, closing, {"continuedSlots": 8}, **options)
        host.warm(bundle)

        def started(host=host, bundle=bundle):
            samples = []
            for _ in range(rounds):
                samples += bench.nanoseconds(
                    "bench-load",
                    "together",
                    host.socket,
                    host.stamps(bundle),
                    f"{bundle}.run",
                    bench.numbers(8),
                    8,
                )
                time.sleep(0.2)
            return samples

        subjects.append(Subject(name, "ours", started))
    return subjects


@row(
    "accounting", "CPU time of a task that forks twice, as the host reports it", "ms", "within 2 % of 800 ms"
)
def accounting(bench, closing):
    """The task uses 100 ms of CPU time itself, 200 ms in a child, 300 ms in an orphan, and 200 ms in 20
    children of another orphan. Each of these processes measures its own CPU time and ends when it has used
    its share."""
    host = host_for(bench, closing, subprocesses=True)
    host.warm()

    def reported():
        number = bench.numbers(1)
        host.ask("POST", "/v1/requests", {"identifier": f"{C_BUNDLE}.forks.{number}"})
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            launch = host.ask("GET", f"/v1/launches?identifier={C_BUNDLE}.forks.{number}&limit=1")
            if launch and launch[0]["endedAt"]:
                if launch[0]["outcome"] != "succeeded":
                    raise RuntimeError(f"the task ended {launch[0]['outcome']}: {launch[0]['message']}")
                return launch[0]["cpuSeconds"] * 1000
            time.sleep(0.05)
        raise RuntimeError("the task did not end within a minute")

    return [Subject("used", "floor", lambda: 800.0), Subject("bgtask", "ours", reported)]


@row("size", "Programs on the disk, stripped", "MB", "host at most 30 MB, command line at most 15 MB")
def size(bench, _closing):
    """The sizes of the programs after `strip`, as `make install` installs them. bgtaskd and bgtask contain Swift's
    runtime, linked statically, and `bgtaskd` also contains Foundation."""

    def stripped(name):
        copy = bench.fresh("size") / name
        shutil.copy(bench.programs / name, copy)
        subprocess.run(["strip", copy], check=True)
        needed = subprocess.run(["readelf", "-d", copy], capture_output=True, text=True, check=True).stdout
        return {
            "value": copy.stat().st_size / 1e6,
            "notes": ["needs Swift's libraries, which are not counted"] if "libswiftCore.so" in needed else [],
        }

    return [
        Subject(name, "ours", lambda name=name: stripped(name))
        for name in ("bgtaskd", "bgtask", "bgtask-runner")
    ]


@row("start", "Start of the command line: bgtask --version", "us", "at most 5 ms")
def start(bench, closing):
    """The time from the start of the program to its end. The floor is a small C program that ends at once."""
    count = 10 if bench.quick else 40

    def run(*command):
        samples = []
        for _ in range(count):
            begun = time.monotonic_ns()
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            samples.append(time.monotonic_ns() - begun)
        return samples

    host = Host(bench)
    closing.append(host.close)
    # If the launch of one submission still runs, the next submissions wait, and each replaces the one before.
    submit = ("submit", "--socket", host.socket, f"{C_BUNDLE}.run.1")
    return [
        Subject("a C program", "floor", lambda: run(bench.tools / "bench-task")),
        Subject("bgtask submit, durable", "ours", lambda: run(bench.programs / "bgtask", *submit)),
        Subject("bgtask --version", "ours", lambda: run(bench.programs / "bgtask", "--version")),
        Subject("bgtaskd --version", "ours", lambda: run(bench.programs / "bgtaskd", "--version")),
    ]


@row(
    "build",
    "Building",
    "s",
    "release within 1.3 times a package of its dependencies alone",
    scale=True,
    named=True,
)
def build(bench, _closing):
    """A complete release build of bgtaskd, beside one of its packages alone, and a debug build after a change
    of one file of the host's core. This takes a quarter of an hour, so it is measured only if the command names
    the row."""

    def swift(*arguments, folder=ROOT):
        begun = time.monotonic()
        subprocess.run(["swift", "build", *arguments], cwd=folder, check=True, capture_output=True)
        return time.monotonic() - begun

    def once(measure):
        # A build from nothing takes minutes and varies little, so it is measured once for all rounds.
        times = []

        def measured():
            if not times:
                times.append(measure())
            return times[0]

        return measured

    def release():
        return swift(
            "-c", "release", "--static-swift-stdlib", "--product", "bgtaskd",
            "--scratch-path", str(bench.fresh("build") / "b"),
        )  # fmt: skip

    def dependencies():
        folder = dependencies_alone(bench.fresh("dependencies"))
        # The download is not measured. For the build of bgtaskd, the packages are already there, too.
        subprocess.run(["swift", "package", "resolve"], cwd=folder, check=True, capture_output=True)
        return swift("-c", "release", "--static-swift-stdlib", folder=folder)

    def changed():
        # These are the Makefile's flags. With other flags, SwiftPM would build everything again.
        flags = [*(ROOT / ".ci/flags").read_text().split(), "--product", "bgtaskd"]
        file = pathlib.Path(ROOT / "Sources/Host/HostCore/HostCore.swift")
        if not file.exists():
            raise Skipped("Sources/Host/HostCore/HostCore.swift is not there")
        swift(*flags)
        original = file.read_bytes()
        try:
            file.write_bytes(original + b"\n/// Changed by a benchmark.\nprivate let benchmarkChange = 0\n")
            return swift(*flags)
        finally:
            file.write_bytes(original)

    return [
        Subject("release build of the packages that bgtaskd uses", "floor", once(dependencies)),
        Subject("release build of bgtaskd", "ours", once(release)),
        Subject("debug build after one change in the host's core", "ours", changed),
    ]


def dependencies_alone(folder):
    """Writes a package with the products of packages that Package.swift names, and an empty program."""
    manifest = (ROOT / "Package.swift").read_text()
    packages = re.findall(r"^ *(\.package\(url: .*\),)$", manifest, re.MULTILINE)
    products = re.findall(r'^let \w+ = product\("(\w+)", of: "([^"]+)"\)', manifest, re.MULTILINE)
    for names, package in re.findall(
        r'^let \w+ = \[([^\]]+)\]\.map \{ product\(\$0, of: "([^"]+)"\)', manifest, re.MULTILINE
    ):
        products += [(name.strip(' "'), package) for name in names.split(",")]
    if not packages or not products:
        raise Skipped("Package.swift names its packages in another way than this benchmark expects")
    uses = ", ".join(f'.product(name: "{name}", package: "{package}")' for name, package in products)
    (folder / "Sources/Alone").mkdir(parents=True)
    (folder / "Sources/Alone/main.swift").write_text("")
    (folder / "Package.swift").write_text(
        "// swift-tools-version: 6.2\nimport PackageDescription\n"
        f'let package = Package(name: "Alone", dependencies: [{" ".join(packages)}], '
        f'targets: [.executableTarget(name: "Alone", dependencies: [{uses}])])\n'
    )
    return folder

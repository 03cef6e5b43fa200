"""The rows that take seconds. The docstring of a row is its text on the page."""

import os
import subprocess
import tempfile
import time

from . import machine, peers
from .bench import Skipped, Subject, row
from .host import APP_BUNDLE, C_BUNDLE, Host

CLONES = "clones of a Foundation template, two at a time"
FORK = "bare fork, _exit and wait"


def host_for(bench, closing, *arguments, **options):
    """Starts a host that is stopped at the end of the row."""
    host = Host(bench, *arguments, **options)
    closing.append(host.close)
    return host


def _bundles(bench, closing, settings=None):
    """Starts one host for the C handler and one for the Swift app, and runs some tasks on each."""
    hosts = [(C_BUNDLE, "bgtask, C plugin", host_for(bench, closing, settings))]
    if bench.app:
        hosts.append((APP_BUNDLE, "bgtask, Swift app", host_for(bench, closing, settings, app=True, c=False)))
    for bundle, _, host in hosts:
        host.warm(bundle)
    return hosts


@row("latency", "Submission to handler, warm and idle, durable", "us", "at most 1 ms, and at most a quarter of the time of at")
def latency(bench, closing):
    """The time from a submission to the first instruction of the task's handler. Tasks are submitted one
    at a time over one open connection, with a pause of 30 ms after each. The host stores the request and
    the launch before the handler runs. Peers, and the subject from a shell, start a command for each task (RQ, Celery and Huey: one client for all)."""
    count = 15 if bench.quick else 60
    subjects = [
        Subject(FORK, "floor", lambda: bench.nanoseconds("bench-floor", "fork", 200)),
        Subject(
            "one synced SQLite transaction",
            "floor",
            lambda: bench.nanoseconds("bench-floor", "sqlite", bench.fresh("floor") / "q", 200),
        ),
    ]
    for kind in peers.WITH_LATENCY:
        peer = peers.LazyPeer(kind, bench, closing)
        subjects.append(
            Subject(
                kind.name,
                "peer",
                lambda peer=peer: peer.started().latency(min(count, 20)),
            )
        )
    for bundle, name, host in _bundles(bench, closing):
        subjects.append(
            Subject(
                name,
                "ours",
                lambda host=host, bundle=bundle: bench.nanoseconds(
                    "bench-load",
                    "one",
                    host.socket,
                    host.stamps(bundle),
                    f"{bundle}.run",
                    bench.numbers(count),
                    count,
                    30,
                ),
                against=["one synced SQLite transaction", peers.At.name],
            )
        )
    shell = peers.Command(bench, host_for(bench, closing), C_BUNDLE)
    subjects.append(
        Subject(
            "bgtask submit from a shell, C plugin",
            "ours",
            lambda: shell.latency(min(count, 20), 0.03),
            against=[peers.At.name],
        )
    )
    return subjects


def _burst(bench, host, bundle, count, connections=10):
    lines = bench.tool(
        "bench-load",
        "burst",
        host.socket,
        host.stamps(bundle),
        f"{bundle}.run",
        bench.numbers(count),
        count,
        connections,
    )
    seconds = {line.split()[0]: float(line.split()[1]) for line in lines}
    return {
        "value": count / seconds["ended"],
        "notes": [
            f"submitted in {seconds['submitted']:.2f} s, all started in {seconds['started']:.2f} s, "
            f"all ended in {seconds['ended']:.2f} s"
        ],
    }


@row(
    "burst",
    "Durable jobs per second, a burst of 1,000",
    "jobs/s",
    "C plugin: 0.4, later 0.6 times the rate of xargs; Swift app: 0.3 times that of the clones",
    better="more",
)
def burst(bench, closing):
    """The time is measured from the first submission until all tasks have run and the host has recorded
    their ends. A client submits over 10 connections. Two tasks run at a time, as with the peers. Slow
    peers get bursts of fewer tasks."""
    count = 200 if bench.quick else 1000
    subjects = []
    for kind in peers.ALL:
        peer = peers.LazyPeer(kind, bench, closing)
        subjects.append(Subject(kind.name, "peer", lambda peer=peer: peer.started().burst(count)))
    subjects.insert(
        1,
        Subject(
            "forks, two at a time", "floor", lambda: 1000 / float(bench.tool("bench-floor", "forks", 1000)[0])
        ),
    )
    if bench.template_plugin:
        subjects.insert(
            2,
            Subject(
                CLONES,
                "floor",
                lambda: 1000 / float(bench.tool("bench-floor", "template", bench.template_plugin, 1000)[0]),
            ),
        )
    for bundle, name, host in _bundles(bench, closing):
        subjects.append(
            Subject(
                name,
                "ours",
                lambda host=host, bundle=bundle: _burst(bench, host, bundle, count),
                against=[peers.At.name, peers.RQ.name] + ([CLONES] if bundle == APP_BUNDLE else []),
            )
        )
    wide = host_for(bench, closing, {"continuedSlots": 16})
    wide.warm()
    subjects.append(
        Subject("bgtask, C plugin, 16 at a time", "ours", lambda: _burst(bench, wide, C_BUNDLE, count))
    )
    shell = peers.Command(bench, host_for(bench, closing), C_BUNDLE)
    subjects.append(
        Subject(
            "xargs -P2 bgtask submit, C plugin",
            "ours",
            lambda: shell.burst(min(count, 200)),
            against=[peers.TaskSpooler.name],
        )
    )
    return subjects


EVENTS = {
    "syscalls:sys_enter_fdatasync": "syncs",
    "syscalls:sys_enter_fsync": "syncs",
    "syscalls:sys_enter_pwrite64": "writes of the store's pages (pwrite calls)",
    "syscalls:sys_enter_futex": "futex calls",
    "context-switches": "context switches",
}


@row("calls", "System calls for each job of a burst of 1,000, C plugin", "syncs/job", "less than 0.2 with 16 or more at a time")
def calls(bench, closing):
    """perf counts the system calls of the host's process, in separate runs that are not timed. A sync is a
    call of fsync or fdatasync."""
    count = 200 if bench.quick else 1000

    def count_calls(host):
        if not os.access("/usr/bin/perf", os.X_OK):
            raise Skipped("perf is not installed")
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as output:
            perf = subprocess.Popen(
                [
                    "perf",
                    "stat",
                    "-x",
                    ";",
                    "-o",
                    output.name,
                    "-e",
                    ",".join(EVENTS),
                    "-p",
                    str(host.process.pid),
                ],
                stderr=subprocess.PIPE,
            )
            time.sleep(0.5)
            if perf.poll() is not None:
                raise Skipped("perf can't count system calls here: " + perf.stderr.read().decode()[:200])
            before = machine.usage(host.process.pid)
            _burst(bench, host, C_BUNDLE, count)
            used = machine.usage(host.process.pid) - before
            perf.send_signal(2)
            perf.wait()
            totals = {}
            for line in output.read().split("\n"):
                fields = line.split(";")
                if len(fields) > 2 and fields[2] in EVENTS and fields[0].isdigit():
                    name = EVENTS[fields[2]]
                    totals[name] = totals.get(name, 0) + int(fields[0])
        if "syncs" not in totals:
            raise Skipped("perf can't count system calls here")
        notes = [f"{totals[name] / count:.1f} {name}" for name in totals if name != "syncs"]
        return {
            "value": totals["syncs"] / count,
            "notes": notes + [f"{used / count * 1000:.2f} ms of host CPU"],
        }

    hosts = {slots: host_for(bench, closing, {"continuedSlots": slots}) for slots in (2, 16, 64)}
    for host in hosts.values():
        host.warm()
    return [
        Subject(f"bgtask, {slots} at a time", "ours", lambda host=host: count_calls(host))
        for slots, host in hosts.items()
    ]


@row(
    "submissions",
    "Durable submissions per second",
    "per s",
    "with 1, 10 and 100 connections: 0.9, 3 and 5 times the rate of synced transactions",
    better="more",
)
def submissions(bench, closing):
    """Each client waits for the answer to one submission before it sends the next one. No task is
    launched."""
    count = 300 if bench.quick else 1500
    host = host_for(bench, closing, {"continuedSlots": 0})

    def submit(connections):
        return count / float(
            bench.tool(
                "bench-load",
                "submit",
                host.socket,
                f"{C_BUNDLE}.run",
                bench.numbers(count),
                count,
                connections,
            )[0]
        )

    def floor(kind):
        samples = bench.nanoseconds("bench-floor", kind, bench.fresh("floor") / "file", count)
        return count / (sum(samples) / 1e9)

    submit(10)
    return [
        Subject("one synced SQLite transaction each", "floor", lambda: floor("sqlite")),
        Subject("256 bytes appended and synced", "floor", lambda: floor("append")),
        Subject("bgtask, 1 connection", "ours", lambda: submit(1)),
        Subject("bgtask, 10 connections", "ours", lambda: submit(10)),
        Subject("bgtask, 100 connections", "ours", lambda: submit(100)),
    ]


@row("expire", "Call to expire, to the handler's callback", "us", "at most 300 us")
def expire(bench, closing):
    """The time from the call of a client, over an open connection, until the callback of the handler reads
    the clock. Until then, the task only waits. The floor wakes a process that sleeps in read()."""
    count = 10 if bench.quick else 30
    host = host_for(bench, closing)
    host.warm()
    return [
        Subject("a sleeping read of a pipe", "floor", lambda: bench.nanoseconds("bench-floor", "pipe", 20)),
        Subject(
            "bgtask, C plugin",
            "ours",
            lambda: bench.nanoseconds(
                "bench-load",
                "expire",
                host.socket,
                host.stamps(),
                f"{C_BUNDLE}.hold",
                bench.numbers(count),
                count,
            ),
        ),
    ]


@row("progress", "A task's report of progress, to a follower of the event stream", "us", "at most 200 us")
def progress(bench, closing):
    """Ten times a second, the handler reports the present time as its progress. A client that follows the
    host's events compares this time with its own clock. The floor wakes a process that sleeps in read()."""
    count = 20 if bench.quick else 45
    host = host_for(bench, closing)
    host.warm()
    return [
        Subject("a sleeping read of a pipe", "floor", lambda: bench.nanoseconds("bench-floor", "pipe", 20)),
        Subject(
            "bgtask, C plugin",
            "ours",
            lambda: bench.nanoseconds(
                "bench-load", "follow", host.socket, f"{C_BUNDLE}.progress", bench.numbers(1), count
            ),
        ),
    ]


@row("idle", "Wake-ups of an idle host", "per s", "at most 1 per second")
def idle(bench, closing):
    """How often the threads of bgtaskd are woken, in total, with one manifest, no client and no pending
    request. The note below the table has the same number for the launcher."""
    host = host_for(bench, closing)
    time.sleep(2 if bench.quick else 6)
    seconds = 5 if bench.quick else 15

    def watch():
        processes = [host.process.pid, *machine.children(host.process.pid)]
        before = [machine.wake_ups(process) for process in processes]
        time.sleep(seconds)
        after = [machine.wake_ups(process) for process in processes]
        rates = [machine.more_wake_ups(*counts) / seconds for counts in zip(before, after)]
        return {"value": rates[0], "notes": [f"the launcher: {sum(rates[1:]):.1f}"]}

    return [Subject("bgtask", "ours", watch)]


@row("resident", "Memory of an idle host, PSS", "MB", "at most 20 MB")
def resident(bench, _closing):
    """The memory of the host after its start, and after 200 tasks have run. PSS is the proportional set size:
    a page that several processes share counts divided by their number. No other host may run during this
    measurement, because hosts share pages."""

    def memory(tasks):
        host = Host(bench)
        try:
            for _ in range(tasks // 20):
                host.warm()
            # After two minutes without work, the host releases the memory of its code; it checks every 30 s.
            time.sleep(155)
            return {
                "value": machine.proportional_set(host.process.pid) / 1000,
                "notes": [
                    f"its launcher: {machine.proportional_set(machine.children(host.process.pid)[0])} kB"
                ],
            }
        finally:
            host.close()

    return [
        Subject("bgtask, started", "ours", lambda: memory(0)),
        Subject("bgtask, after 200 tasks", "ours", lambda: memory(200)),
    ]

"""The rows about the price of the sandbox."""

import os
import shutil
import time

from .bench import Skipped, Subject, row
from .runner import Launcher
from .rows import FORK


def _launcher(bench, closing):
    if os.geteuid() != 0:
        raise Skipped("only root can make the cgroups and users of this row")
    launcher = Launcher(bench.programs / "bgtask-runner")
    closing.append(launcher.close)
    return launcher


def _starts(launcher, template, count, place, **options):
    return [launcher.launch(template, **options)[place] for _ in range(count)]


@row(
    "sandbox",
    "Start of a task from a template, with and without the sandbox",
    "us",
    "at most 1.6 times the time without, with `subprocesses: true` at most 1.2 times; 3 times (C) or 5 times a bare fork",
)
def sandbox(bench, closing):
    """The time from the order to *ready*, as a client of the launcher sees it, without a host and without a standby.
    The sandbox has all layers, a user of the bundle's own among them."""
    count = 20 if bench.quick else 100
    subjects = [Subject(FORK, "floor", lambda: bench.nanoseconds("bench-floor", "fork", 200))]
    kinds = [("C plugin", bench.tools / "libBenchHandler.so")]
    if bench.template_plugin:
        kinds.append(("Swift plugin with Foundation", bench.template_plugin))
    for kind, library in kinds:
        without = f"{kind}, without a sandbox"
        for name, confined, subprocesses in (
            (without, False, False),
            (f"{kind}, whole sandbox", True, False),
            (f"{kind}, whole sandbox, subprocesses", True, True),
        ):
            launcher = _launcher(bench, closing)
            # The users of bundles can't search the folder of the benchmark.
            copy = shutil.copy(library, launcher.folder)
            template = launcher.template(copy, confined, subprocesses)
            subjects.append(
                Subject(
                    name,
                    "ours",
                    lambda launcher=launcher, template=template, subprocesses=subprocesses: _starts(
                        launcher, template, count, 0, subprocesses=subprocesses
                    ),
                    against=[without] if confined else [],
                )
            )
    return subjects


@row(
    "command",
    "A command job, from its order to its end",
    "us",
    "with the whole sandbox, at most 1.3 times posix_spawn, and 1 ms",
)
def command(bench, closing):
    """Each runs /bin/true. The launcher takes the order without a host; a template without a library, which has the
    sandbox, clones the task that starts the program."""
    count = 20 if bench.quick else 100

    def spawned():
        samples = []
        for _ in range(count):
            begin = time.monotonic_ns()
            os.waitpid(os.posix_spawn("/bin/true", ["true"], {"PATH": "/usr/bin:/bin"}), 0)
            samples.append(time.monotonic_ns() - begin)
        return samples

    subjects = [Subject("posix_spawn of /bin/true, wait", "floor", spawned)]
    for name, confined in (("bgtask, without a sandbox", False), ("bgtask, whole sandbox", True)):
        launcher = _launcher(bench, closing)
        template = launcher.template(None, confined, True)
        subjects.append(
            Subject(
                name,
                "ours",
                lambda launcher=launcher, template=template: _starts(
                    launcher, template, count, 1, subprocesses=True, command=["/bin/true"]
                ),
            )
        )
    return subjects

"""The parts that all rows share: the work folder, the C programs in `tools`, and the results of a row.

A row is one measurement of the page, such as the latency of a launch. Its subjects are the floors, the
peers and the host; see `Subject`.
"""

import pathlib
import re
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
ROWS = {}


class Skipped(Exception):
    """Raised if a subject or a row can't be measured on this machine; the text is the reason."""


class Bench:
    """One run of the benchmarks: its options, its folder, and the programs that it measures."""

    def __init__(self, options, work):
        self.quick = options.quick
        self.rounds = options.rounds or (2 if options.quick else 5)
        self.work = work
        self.programs = pathlib.Path(options.bin).resolve()
        self.app = pathlib.Path(options.app).resolve() if options.app else None
        self.template_plugin = options.template_plugin
        self.only = options.only
        self.number = 0
        self.venv_folder = options.venv
        self.tools = work / "tools"
        self.tools.mkdir()
        self._build()

    def _build(self):
        source, include = HERE / "tools", ROOT / "Sources/SDK/CHandlerABI/include"
        flags = ["cc", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{include}"]
        for name, files, rest in [
            ("bench-load", ["load.c", "http.c"], []),
            ("bench-task", ["task.c"], []),
            ("bench-floor", ["floors.c"], ["-lsqlite3", "-ldl", "-rdynamic"]),
            (
                "libBenchHandler.so",
                ["handler.c"],
                ["-fPIC", "-shared", f"-Wl,--version-script={ROOT}/Plugins/exports.map"],
            ),
        ]:
            subprocess.run(
                flags + ["-o", self.tools / name] + [source / file for file in files] + rest, check=True
            )

    def fresh(self, name):
        """Creates an empty folder for this run, and returns its path."""
        self.number += 1
        folder = self.work / f"{name}-{self.number}"
        folder.mkdir()
        return folder

    def numbers(self, count):
        """Reserves `count` consecutive task numbers, which are unique in this run, and returns the first
        one."""
        first = self.number = self.number + 1
        self.number += count
        return first

    def tool(self, name, *arguments, timeout=900):
        """Runs one of the C programs, and returns the lines that it printed."""
        done = subprocess.run(
            [self.tools / name, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{name} {' '.join(map(str, arguments))}: {done.stderr.strip()[:2000]}")
        return done.stdout.split("\n")[:-1]

    def nanoseconds(self, name, *arguments):
        """Runs one of the C programs that print one sample on each line, and returns the samples."""
        return [int(line) for line in self.tool(name, *arguments)]

    def say(self, text):
        """Prints a message about the run to standard error; results go to standard output."""
        print(text, file=sys.stderr, flush=True)


def percentile(samples, share):
    """Returns the sample that this share of the samples does not exceed."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Subject:
    """One subject of a row: a floor, a peer or the host. Each round adds one value to it.

    `against` contains the names of other subjects of the row: below the table, the page also shows the
    ratio of this subject to each of them.
    """

    def __init__(self, name, role, measure, against=()):
        self.name, self.role, self.measure, self.against = name, role, measure, against
        self.values, self.tails, self.notes, self.problem = [], [], [], None

    def take(self, rounds):
        """Measures the subject in one more round. `measure` returns a value or a list of samples in
        nanoseconds."""
        try:
            result = self.measure()
        except Skipped as reason:
            self.problem = str(reason)
            return
        except Exception as error:  # If one subject fails, the others are still measured.
            self.problem = "failed: " + " ".join(str(error).replace("|", "/").split())[:300]
            return
        if isinstance(result, dict):
            self.notes = result["notes"]
            result = result["value"]
        if isinstance(result, list):
            self.values.append(percentile(result, 0.5) / 1000)
            self.tails.append(percentile(result, 0.99) / 1000)
        else:
            self.values.append(result)

    def ratio(self, base):
        """Returns the median, over the rounds, of this subject's value divided by the value of `base`.

        Returns `None` if one of the two was not measured.
        """
        if not self.values or not base.values or not all(base.values):
            return None
        return statistics.median(value / other for value, other in zip(self.values, base.values))

    def json(self, subjects):
        """Returns the results of the subject in the form of figures.json."""
        if not self.values:
            return {"name": self.name, "role": self.role, "problem": self.problem or "not measured"}
        answer = {
            "name": self.name,
            "role": self.role,
            "median": statistics.median(self.values),
            "least": min(self.values),
            "most": max(self.values),
            "rounds": self.values,
            "notes": self.notes,
        }
        if self.tails:
            answer["p99"] = statistics.median(self.tails)
        base = next(subject for subject in subjects if subject.values)
        answer["ratio"] = self.ratio(base)
        others = {other.name: self.ratio(other) for other in subjects if other.name in self.against}
        answer["against"] = {name: ratio for name, ratio in others.items() if ratio is not None}
        if self.problem:
            answer["problem"] = self.problem
        return answer


def row(name, title, unit, goal, better="less", scale=False, named=False):
    """Declares a row. The decorated function returns the subjects of the row, and its docstring is the
    row's text on the page.

    The function gets the bench, and a list to which it adds functions that are called when the row ends. A
    row with `scale` is measured in at most three rounds. A row with `named` is measured only if the
    command line names it.
    """

    def declare(function):
        ROWS[name] = {
            "name": name,
            "title": title,
            "unit": unit,
            "goal": goal,
            "better": better,
            "scale": scale,
            "named": named,
            "subjects": function,
            "about": (function.__doc__ or "").strip(),
        }
        return function

    return declare


def measure(bench, entry):
    """Measures one row: in each round, every subject once."""
    from .machine import Noise  # pylint: disable=import-outside-toplevel

    noise = Noise()
    closing = []
    try:
        subjects = [
            subject
            for subject in entry["subjects"](bench, closing)
            if not bench.only or re.search(bench.only, subject.name)
        ]
        rounds = min(bench.rounds, 3) if entry["scale"] else bench.rounds
        for number in range(rounds):
            for subject in subjects:
                if not subject.problem:
                    subject.take(rounds)
            bench.say(f"  {entry['name']}: round {number + 1} of {rounds}")
    finally:
        for close in reversed(closing):
            close()
    return {
        "row": entry["name"],
        "title": entry["title"],
        "unit": entry["unit"],
        "goal": entry["goal"],
        "better": entry["better"],
        "about": " ".join(entry["about"].split()),
        "subjects": [subject.json(subjects) for subject in subjects],
        "rounds": rounds,
        "noise": noise.end(),
    }


def available(command):
    """Returns the path of a program; raises `Skipped` if the program is not installed."""
    path = shutil.which(command)
    if not path:
        raise Skipped(f"{command} is not installed")
    return path

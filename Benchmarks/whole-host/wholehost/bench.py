"""What the rows share: the work folder, the small C programs, the results of a row."""

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
    """Why a subject or a row can't be measured here."""


class Bench:
    """One run: where its files are, what it measures, and how much of it."""

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
        """A new, empty folder."""
        self.number += 1
        folder = self.work / f"{name}-{self.number}"
        folder.mkdir()
        return folder

    def numbers(self, count):
        """The first of so many numbers that no other task of this run has."""
        first = self.number = self.number + 1
        self.number += count
        return first

    def tool(self, name, *arguments, timeout=900):
        """Runs one of the C programs; its lines."""
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
        """Runs one of the C programs; the samples that it prints."""
        return [int(line) for line in self.tool(name, *arguments)]

    def say(self, text):
        """Tells what goes on, apart from the results."""
        print(text, file=sys.stderr, flush=True)


def percentile(samples, share):
    """The sample that this share of them does not exceed."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Subject:
    """One thing that a row measures: a floor, a peer, or the host. A round gives it one value.

    `against` names other subjects of the row whose ratio to this one the page says as well.
    """

    def __init__(self, name, role, measure, against=()):
        self.name, self.role, self.measure, self.against = name, role, measure, against
        self.values, self.tails, self.notes, self.problem = [], [], [], None

    def take(self, rounds):
        """Measures once more. The measure returns a value, or a list of nanoseconds."""
        try:
            result = self.measure()
        except Skipped as reason:
            self.problem = str(reason)
            return
        except Exception as error:  # One peer that fails must not take the others' figures along.
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
        """The median over the rounds of this one's value divided by the other one's; `None` if one was not
        measured."""
        if not self.values or not base.values or not all(base.values):
            return None
        return statistics.median(value / other for value, other in zip(self.values, base.values))

    def json(self, subjects):
        """As the page and figures.json have it."""
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
    """Declares a row. Its function gets the bench and a list for what is to be called at the end; it
    returns the subjects.

    A row of scale is measured in three rounds at most; a named one only when its name was given."""

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
    """Measures one row: every subject in turn, round by round."""
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
    """The path of a program, or why there is none."""
    path = shutil.which(command)
    if not path:
        raise Skipped(f"{command} is not installed")
    return path

"""The output of the benchmarks: tables as text and as Markdown, a plot of each row as SVG, and the figures
as JSON."""

import html
import json
import math
import pathlib
import textwrap

COLOURS = {"floor": "#8a8f98", "peer": "#c98a2b", "ours": "#2f6fb0"}
# The file ROW.md in this folder is written by hand. The page shows it below the figures of the row.
REMARKS = pathlib.Path(__file__).resolve().parent.parent / "remarks"

HEAD = """# Benchmarks of the whole host

`make bench PAGE=Documentation/Benchmarks` measures what a user gets, and writes this page. A client talks to
a release build of `bgtaskd` over its socket, and the tasks do their work: each appends 24 bytes with the time
to a file. Beside the host run *floors*, which are small C programs that do the unavoidable part of the work,
and *peers*, which are job runners from Debian and PyPI whose tasks append the same bytes.

Each section is a *row* of the benchmark, and each line of its table is a *subject*: a floor, a peer or the
host. The host runs a plugin in C or a Swift app, which uses the module `BackgroundTasks`. In each round,
every subject of a row is measured once, so a disturbance affects all of them. Compare ratios; the absolute
figures depend on the machine. To get a ratio, the value of a subject is divided by that of the row's first
subject in the same round. Medians, 99th percentiles and ratios are medians over all rounds. Before each row,
the benchmark waits up to a minute until the machine is quiet. Below the table, the page says how busy the
machine was during the measurement; *stolen* is the time in which the hypervisor ran other machines. A peer
that cannot be installed or started is listed with the reason.

The floor *clones of a Foundation template* loads a Swift plugin with Foundation once and then forks; each
child calls the plugin. Of the peers, `xargs` and GNU `parallel` have no queue, `task-spooler` has one in
memory, `at` has one on the disk, and RQ, Celery and Huey are job queues in Python, here with Redis.

The host runs with simulated conditions, `scheduling.launchSpacing: 0s` (no wait between two launches of a
task) and, unless a row says otherwise, two launches at a time, because the peers have two workers. Its
requests are of the kind `continuedProcessing`, and their bundle is in the foreground, so that tasks have the
same priority as the peers' tasks. Each job has an identifier of its own, because an identifier has at most
one pending request. All requests are durable: the host stores them in SQLite, in WAL mode with
`synchronous=FULL`. Of the peers, only `at` stores jobs on the disk. What a sync costs depends on the disk and
the file system; compare with the floor of one synced SQLite transaction.

The [benchmarks of parts](PARTS) measure the launcher, the store and the scheduler alone (`make
bench-parts`). To measure single rows, name them: `make bench ROWS="latency burst"`; `QUICK=1` takes few
samples. `Benchmarks/whole-host/bench --help` has the other options, for example other binaries.
"""


def number(value):
    """Formats a number with about three significant digits."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def _cells(result):
    tails = any("p99" in subject for subject in result["subjects"])
    head = (
        ["", f"median, {result['unit']}", "lowest to highest round"]
        + (["99th percentile"] if tails else [])
        + ["ratio"]
    )
    lines = []
    for subject in result["subjects"]:
        if "median" not in subject:
            lines.append([subject["name"], subject["problem"]])
            continue
        cells = [
            subject["name"],
            number(subject["median"]),
            f"{number(subject['least'])} to {number(subject['most'])}",
        ]
        if tails:
            cells.append(number(subject["p99"]) if "p99" in subject else "")
        lines.append(cells + [f"{number(subject['ratio'])}x" if subject.get("ratio") is not None else ""])
    return head, lines


def _noise(result):
    noise = result["noise"]
    return (
        (f"rounds: {result['rounds']}; " if "rounds" in result else "")
        + f"load before {noise['load']}, {noise['busy']:.0%} of the machine busy, {noise['stolen']:.1%} stolen"
        + ("" if result.get("quiet", True) else "; the machine was not quiet")
        + ("; few samples and smaller scales (--quick)" if result.get("quick") else "")
    )


def _notes(result):
    notes = []
    for subject in result["subjects"]:
        parts = [f"{number(ratio)} times {name}" for name, ratio in subject.get("against", {}).items()]
        parts += subject.get("notes", [])
        if parts:
            notes.append(f"{subject['name']}: {'; '.join(parts)}")
    return notes


def text(result):
    """Returns the results of a row as text for a terminal."""
    head, lines = _cells(result)
    widths = [
        max(len(line[i]) for line in [head, *lines] if len(line) == len(head)) for i in range(len(head))
    ]
    out = [f"\n{result['title']}  (goal: {result['goal']})"]
    for line in [head, *lines]:
        if len(line) == len(head):
            out.append(
                "  "
                + line[0].ljust(widths[0])
                + "".join("  " + cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))
            )
        else:
            out.append("  " + line[0].ljust(widths[0]) + "  " + line[1])
    return "\n".join(out + ["  " + note for note in _notes(result)] + ["  " + _noise(result)])


def plot(result):
    """Returns an SVG plot of a row: a bar for each median on a logarithmic scale, with the range of the
    rounds as a line."""
    subjects = [subject for subject in result["subjects"] if subject.get("median", 0) > 0]
    low = min(max(subject["least"], subject["median"] / 100) for subject in subjects)
    high = max(subject["most"] for subject in subjects)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high * 1.01))
    left, width, height = 300, 430, 30 + 24 * len(subjects) + 30

    def position(value):
        return left + width * (math.log10(max(value, 10**first)) - first) / (last - first)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 70}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="8" y="18" font-weight="bold" fill="#222">{html.escape(result["title"])}, '
        f'{html.escape(result["unit"])}; {result["better"]} is better</text>',
    ]
    for power in range(first, last + 1):
        x = position(10**power)
        label = f"{10**power:,}" if power >= 0 else f"{10**power:g}"
        out.append(f'<line x1="{x:.1f}" y1="28" x2="{x:.1f}" y2="{height - 24}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{height - 8}" text-anchor="middle" fill="#555">{label}</text>')
    for index, subject in enumerate(subjects):
        y = 32 + 24 * index
        end = position(subject["median"])
        name, colour = html.escape(subject["name"]), COLOURS[subject["role"]]
        out.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end" fill="#222">{name}</text>')
        out.append(f'<rect x="{left}" y="{y}" width="{end - left:.1f}" height="18" fill="{colour}"/>')
        out.append(
            f'<line x1="{position(subject["least"]):.1f}" y1="{y + 9}" x2="{position(subject["most"]):.1f}" '
            f'y2="{y + 9}" stroke="#111" stroke-width="2"/>'
        )
        out.append(
            f'<text x="{max(end, position(subject["most"])) + 5:.1f}" y="{y + 13}" fill="#222">'
            f'{number(subject["median"])}</text>'
        )
    return "\n".join(out + ["</svg>\n"])


def _section(result):
    head, lines = _cells(result)
    out = [
        f"## {result['title']}",
        "",
        textwrap.fill(result["about"], 110),
        "",
        f"Goal: {result['goal']}.",
        "",
    ]
    out.append("| " + " | ".join(head) + " |")
    out.append("|" + "---|" * len(head))
    for line in lines:
        out.append("| " + " | ".join((line + [""] * len(head))[: len(head)]) + " |")
    out.append("")
    if any(subject.get("median", 0) > 0 for subject in result["subjects"]):
        out += [f"![{result['title']}](whole-host/{result['row']}.svg)", ""]
    out += [textwrap.fill(f"- {note}", 110, subsequent_indent="  ") for note in _notes(result)]
    out += [textwrap.fill(f"- {result['date']}: {_noise(result)}", 110, subsequent_indent="  "), ""]
    remark = REMARKS / f"{result['row']}.md"
    if remark.exists():
        out += [remark.read_text(encoding="utf-8").strip(), ""]
    return out


def markdown(results, parts="../Benchmarks.md"):
    """Returns the whole page as Markdown."""
    out = [HEAD.replace("PARTS", parts)]
    machines = sorted({result["machine"] for result in results.values()})
    out += [f"Measured on {'; '.join(machines)}.", ""]
    out += ["| what | first floor or peer | the host | ratio | goal |", "|---|---|---|---|---|"]
    for result in results.values():
        measured = [subject for subject in result["subjects"] if "median" in subject]
        if not measured:
            continue
        base = measured[0]
        first = "" if base["role"] == "ours" else f"{base['name']}: {number(base['median'])}"
        ours = [subject for subject in measured if subject["role"] == "ours"]
        values = "<br>".join(f"{subject['name']}: {number(subject['median'])}" for subject in ours)
        ratios = "<br>".join(
            f"{number(subject['ratio'])}x" if subject.get("ratio") is not None else "-" for subject in ours
        )
        out.append(
            f"| {result['title']}, {result['unit']} | {first} | {values} | {ratios} | {result['goal']} |"
        )
    out.append("")
    for result in results.values():
        out += _section(result)
    return "\n".join(out).rstrip() + "\n"


def load(folder, names):
    """Returns the figures of earlier runs by row, in the order of `names`; leaves out unknown rows."""
    file = folder / "whole-host/figures.json" if folder else None
    figures = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}
    return {name: figures[name] for name in names if name in figures}


def save(folder, results, names):
    """Writes the page, its plots and the file of the figures."""
    ordered = {name: results[name] for name in names if name in results}
    (folder / "whole-host").mkdir(parents=True, exist_ok=True)
    (folder / "whole-host/figures.json").write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    (folder / "whole-host.md").write_text(markdown(ordered), encoding="utf-8")
    for name, result in ordered.items():
        if any(subject.get("median", 0) > 0 for subject in result["subjects"]):
            (folder / f"whole-host/{name}.svg").write_text(plot(result), encoding="utf-8")

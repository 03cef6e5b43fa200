"""The page: tables as text and as Markdown, and a plot of each row."""
import json


def number(value):
    """Three figures that count."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def _cells(result):
    tails = any("p99" in subject for subject in result["subjects"])
    head = ["", "median", "lowest to highest round"] + (["99th percentile"] if tails else []) + ["ratio"]
    lines = []
    for subject in result["subjects"]:
        if "median" not in subject:
            lines.append([subject["name"], subject["problem"]])
            continue
        cells = [
            subject["name"], f"{number(subject['median'])} {result['unit']}",
            f"{number(subject['least'])} to {number(subject['most'])}"]
        if tails:
            cells.append(number(subject["p99"]) if "p99" in subject else "")
        lines.append(cells + [f"{number(subject['ratio'])}x" if "ratio" in subject else ""])
    return head, lines


def text(result):
    """A row for the terminal."""
    head, lines = _cells(result)
    widths = [max(len(line[i]) for line in [head, *lines] if len(line) == len(head)) for i in range(len(head))]
    noise = result["noise"]
    out = [f"\n{result['title']}  (goal: {result['goal']})"]
    for line in [head, *lines]:
        if len(line) == len(head):
            out.append("  " + line[0].ljust(widths[0]) + "".join(
                "  " + cell.rjust(width) for cell, width in zip(line[1:], widths[1:])))
        else:
            out.append("  " + line[0].ljust(widths[0]) + "  " + line[1])
    for subject in result["subjects"]:
        if subject.get("notes"):
            out.append(f"  {subject['name']}: {', '.join(subject['notes'])}")
    out.append(
        f"  load before {noise['load']}, {noise['busy']:.0%} of the machine busy, {noise['stolen']:.1%} stolen")
    return "\n".join(out)


def load(folder):
    """The figures of earlier runs."""
    file = folder / "figures.json" if folder else None
    return json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}


def save(folder, results):
    """Writes figures, page and plots."""
    if not folder:
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "figures.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")

"""Makes the fault matrix of Documentation/Reliability.md from Tests/FaultMatrix/rows: .ci/matrix.py check | fix

'check' fails if a row names a test that does not exist, if a row has neither a test nor a reason, if one of the 64
rows is missing, or if the table in the document differs from the rows. 'fix' writes the table.
"""
import pathlib
import re
import sys

ROWS = pathlib.Path("Tests/FaultMatrix/rows")
PAGE = pathlib.Path("Documentation/Reliability.md")
BEGIN = "<!-- The table is made by .ci/matrix.py from Tests/FaultMatrix/rows. -->"
END = "<!-- The end of the table. -->"
COUNT = 64


def tests():
    """The tests of each suite: a dictionary from the suite's name to the names of its tests."""
    found = {}
    for file in pathlib.Path("Tests").rglob("*.swift"):
        if ".build" in file.parts:
            continue
        suite = None
        for line in file.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"(?:@Suite.*|.*\))?\s*(?:final )?(?:struct|class|extension|enum) (\w+)", line):
                suite = match[1] if not line.startswith(" ") else suite
            if match := re.search(r"\bfunc `([^`]+)`", line):
                found.setdefault(suite, set()).add(match[1])
    return found


def rows():
    """The rows in their order: number, fault, what the host does, tests as (suite, name), gaps."""
    result = []
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if match := re.fullmatch(r"(\d+) (.+)", line):
            result.append([int(match[1]), match[2], "", [], []])
        elif line.startswith("= "):
            result[-1][2] = line[2:]
        elif match := re.fullmatch(r"\+ (\w+): (.+)", line):
            result[-1][3].append((match[1], match[2]))
        elif line.startswith("- "):
            result[-1][4].append(line[2:])
        else:
            sys.exit(f"{ROWS}: not a valid line: {line}")
    return result


def faults(matrix, known):
    if [row[0] for row in matrix] != list(range(1, COUNT + 1)):
        yield f"{ROWS}: the rows are not numbered from 1 to {COUNT}"
    for number, _, action, named, gaps in matrix:
        if not action:
            yield f"{ROWS}: row {number} does not say what the host does"
        if not named and not gaps:
            yield f"{ROWS}: row {number} has neither a test nor a reason"
        for suite, name in named:
            if name not in known.get(suite, ()):
                yield f"{ROWS}: row {number} names a test that does not exist: {suite}: {name}"


def table(matrix):
    lines = ["| # | fault | what the host does | tests | not covered |", "|---|---|---|---|---|"]
    for number, fault, action, named, gaps in matrix:
        shown = "<br>".join(f"`{suite}: {name}`" for suite, name in named) or "none"
        lines.append(f"| {number} | {fault} | {action} | {shown} | {'; '.join(gaps) or '–'} |")
    covered = sum(1 for row in matrix if row[3])
    whole = sum(1 for row in matrix if row[3] and not row[4])
    lines += [
        "",
        f"Of {len(matrix)} rows, {whole} are covered, {covered - whole} in part, and {len(matrix) - covered} not yet.",
    ]
    return "\n".join(lines)


def main():
    wanted = sys.argv[1] if len(sys.argv) == 2 else ""
    if wanted not in ("check", "fix"):
        sys.exit(__doc__)
    matrix = rows()
    found = list(faults(matrix, tests()))
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        found.append(f"{PAGE}: the marks of the table are missing")
    made = f"{before}{BEGIN}\n\n{table(matrix)}\n\n{END}{after}"
    if not found and made != page:
        if wanted == "fix":
            PAGE.write_text(made, encoding="utf-8")
        else:
            found.append(f"{PAGE}: the table is not that of {ROWS}. Run: python3 .ci/matrix.py fix")
    print("\n".join(found))
    sys.exit(1 if found else 0)


main()

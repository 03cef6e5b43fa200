"""Finds in the sources which suites of tests are slow: .ci/speeds.py system | alone | check

A suite with the trait .system starts processes or waits for the kernel; one with .alone measures the machine or its own
process, and no other test may run meanwhile. All other suites only test values. Prints a pattern for --filter or
--skip of 'swift test' that matches every suite with that trait; 'check' fails on suites that start processes and
have neither trait.
"""
import pathlib
import re
import sys

# Words that start a process or wait for the kernel: names from Tests/Support, from harnesses, and from
# Foundation.
STARTS = re.compile(
    r"\b(Process|HostProcess|AppHost|LaunchHarness|TestLauncher|CompanionProcess|PrivateBus|NetworkNamespace)\("
    r"|\b(Command|CallLaunch|PluginCompiler|Exerciser|ProcessSpawn)\.\w+\(|\bbgtask\(|\bserving\("
)


def arguments(text, start):
    """The text between the brackets that open at START, and where they close."""
    depth = 0
    for end in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return text[start + 1 : end], end + 1
    raise ValueError("a bracket is not closed")


def suites():
    """Each suite of Tests: file, target, name, speed and the text up to the next suite."""
    for file in sorted(pathlib.Path("Tests").glob("*Tests/**/*.swift")):
        text = file.read_text(encoding="utf-8")
        starts = [match.end() for match in re.finditer(r"@Suite\b", text)]
        for start, end in zip(starts, starts[1:] + [len(text)]):
            traits, after = arguments(text, start) if text[start] == "(" else ("", start)
            name = re.match(r"\s*(?:\w+\s+)*?(?:struct|class|enum|actor)\s+(\w+)", text[after:])
            speeds = re.findall(r"(?<![\w)])\.(system|alone)\b", traits)
            yield file, file.parts[1], name[1], speeds[0] if speeds else "value", text[after:end]


def main():
    wanted = sys.argv[1] if len(sys.argv) == 2 else ""
    if wanted in ("system", "alone"):
        names = [f"{target}\\.{name}" for _, target, name, speed, _ in suites() if speed == wanted]
        print("^(" + "|".join(names) + ")/")
    elif wanted == "check":
        faults = [
            f"{file}: {name} uses '{found[0]}...': mark it @Suite(.system)"
            for file, _, name, speed, body in suites()
            if speed == "value" and (found := STARTS.search(body))
        ]
        print("\n".join(faults))
        sys.exit(1 if faults else 0)
    else:
        sys.exit(__doc__)


main()

"""Checks the layers: reads .ci/layers (lowest first) and fails on a dependency that does not point downwards.

Targets on one line cannot use each other. Test targets may use everything and need no line; every other target
needs one. The C files of the runner may call each other in one direction only, without circles.
"""
import glob
import json
import os
import re
import subprocess
import sys

level = {}
with open(".ci/layers", encoding="utf-8") as file:
    for number, line in enumerate(file):
        for name in line.split():
            level[name] = number

dump = subprocess.run(["swift", "package", "dump-package"], check=True, capture_output=True, text=True)
package = json.loads(dump.stdout)
targets = {target["name"]: target for target in package["targets"]}
faults = []
for name, target in sorted(targets.items()):
    if target["type"] == "test":
        continue
    if name not in level:
        faults.append(f"{name} has no line in .ci/layers: add it to the first line below all targets that it uses")
        continue
    for dependency in target["dependencies"]:
        kind, value = next(iter(dependency.items()))
        lower = value[0]
        if kind == "product" or lower not in targets:
            continue
        if lower in level and level[lower] >= level[name]:
            faults.append(f"{name} depends on {lower}, which is not on an earlier line of .ci/layers")
for name in sorted(set(level) - set(targets)):
    faults.append(f"{name} is in .ci/layers, but Package.swift has no such target. Remove it from .ci/layers")


def calls_between_files(directory):
    """The other files whose functions each C file of a directory names."""
    texts = {os.path.basename(path): open(path, encoding="utf-8").read() for path in glob.glob(directory + "/*.c")}
    texts = {name: re.sub(r"/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"", "", text, flags=re.S) for name, text in texts.items()}
    definition = re.compile(r"^(?!static)[a-zA-Z_][\w *]*?\b(\w+)\([^;{]*\)\s*\{", re.M)
    owner = {function: name for name, text in texts.items() for function in definition.findall(text)}
    return {
        name: {owner[word] for word in set(re.findall(r"\b\w+\b", text)) if owner.get(word, name) != name}
        for name, text in texts.items()
    }


def circle(calls):
    """The files that call each other in a circle; none if there is no circle."""
    left = dict(calls)
    while left:
        leaves = [name for name, others in left.items() if not others & left.keys()]
        if not leaves:
            # A file that no other remaining file calls is not part of a circle; it only calls files of one.
            called = set().union(*left.values())
            callers = [name for name in left if name not in called]
            if not callers:
                return sorted(left)
            leaves = callers
        for name in leaves:
            del left[name]
    return []


for program in ("bgtask-runner", "bgtask-transfer"):
    ring = circle(calls_between_files("Sources/Runner/" + program))
    if ring:
        faults.append(f"these files of {program} call each other in a circle: " + ", ".join(ring))
if faults:
    print("\n".join(faults))
    sys.exit(1)

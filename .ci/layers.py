"""Holds the layers: reads .ci/layers (lowest first) and fails on a dependency that does not point downwards.

Targets on one line are blind to each other. Test targets may use everything and need no line; every other target
needs one.
"""
import json
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
        faults.append(f"{name} has no line in .ci/layers: add it to the lowest line it can stand on")
        continue
    for dependency in target["dependencies"]:
        kind, value = next(iter(dependency.items()))
        lower = value[0]
        if kind == "product" or lower not in targets:
            continue
        if lower in level and level[lower] >= level[name]:
            faults.append(f"{name} depends on {lower}, which is not on a lower line of .ci/layers")
for name in sorted(set(level) - set(targets)):
    faults.append(f"{name} stands in .ci/layers but is no target")
if faults:
    print("\n".join(faults))
    sys.exit(1)

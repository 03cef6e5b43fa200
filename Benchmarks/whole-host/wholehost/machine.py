"""Measurements of the machine and of processes, from /proc."""

import os
import pathlib
import time


def processor_times():
    """Returns three times of the machine since it was booted, in seconds summed over all cores: busy time,
    time stolen by the hypervisor, and total time."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    second = os.sysconf("SC_CLK_TCK")
    user, nice, system, idle, waiting, hard, soft, stolen = ticks
    busy = user + nice + system + hard + soft
    return busy / second, stolen / second, (busy + idle + waiting + stolen) / second


class Noise:
    """Other activity during a row: the load at the start of the row, and the shares of CPU time that were
    busy or stolen while it was measured."""

    def __init__(self):
        self.load = os.getloadavg()[0]
        self.start = processor_times()

    def end(self):
        busy, stolen, all_of_it = (after - before for after, before in zip(processor_times(), self.start))
        whole = max(all_of_it, 0.01)
        return {
            "load": round(self.load, 2),
            "busy": round(busy / whole, 3),
            "stolen": round(stolen / whole, 3),
        }


def wait_until_quiet(share, limit, say):
    """Waits until less than `share` of the CPU time of two seconds is busy; waits at most `limit` seconds.

    Returns whether the machine became quiet.
    """
    deadline = time.monotonic() + limit
    while True:
        before = processor_times()
        time.sleep(2)
        busy, _, all_of_it = (after - start for after, start in zip(processor_times(), before))
        used = busy / max(all_of_it, 0.01)
        if used < share:
            return True
        if time.monotonic() >= deadline:
            say(f"The machine is not quiet ({used:.0%} busy); the figures are noisy. Compare ratios only.")
            return False


def description():
    """Describes the machine in one line, for the page."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} processors ({model}), {memory:.0f} GiB, Linux {os.uname().release}"


def usage(process):
    """Returns the CPU time of a process in seconds, including that of its ended threads."""
    # This is the id of the process's CPU clock, computed as in clock_getcpuclockid(3).
    return time.clock_gettime((~process << 3) | 2)


def wake_ups(process):
    """Returns how often each thread of a process has given up its core to wait, by thread id."""
    counts = {}
    for path in pathlib.Path(f"/proc/{process}/task").glob("*/status"):
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError:  # The thread has ended.
            continue
        counts[path.parent.name] = sum(
            int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return counts


def more_wake_ups(before, after):
    """Returns the number of wake-ups between two results of `wake_ups`. Threads that ended in between do
    not count."""
    return sum(count - before.get(thread, 0) for thread, count in after.items())


def proportional_set(process):
    """Returns the proportional set size of a process in kB: each shared page counts divided by the number
    of processes that share it."""
    with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:"))


def children(process):
    """Returns the ids of all descendants of a process."""
    parents = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                parents.setdefault(int(file.read().rsplit(")", 1)[1].split()[1]), []).append(int(name))
        except OSError:
            continue
    found, left = [], [process]
    while left:
        for child in parents.get(left.pop(), []):
            found.append(child)
            left.append(child)
    return found

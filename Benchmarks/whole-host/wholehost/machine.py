"""What else the machine does while something is measured, and whether it is quiet enough to begin."""

import os
import pathlib
import time


def processor_times():
    """Seconds of CPU time of the whole machine since it was booted: busy, stolen by the hypervisor, in
    all."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    second = os.sysconf("SC_CLK_TCK")
    user, nice, system, idle, waiting, hard, soft, stolen = ticks
    busy = user + nice + system + hard + soft
    return busy / second, stolen / second, (busy + idle + waiting + stolen) / second


class Noise:
    """Load when a row began, and what share of the machine was busy and stolen while it was measured."""

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
    """Waits until less than this share of the machine is busy for two seconds, but no longer than the
    limit."""
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
    """The machine in a line, for the page."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} processors ({model}), {memory:.0f} GiB, Linux {os.uname().release}"


def usage(process):
    """CPU seconds of a process, its ended threads included."""
    # The number of another process's CPU clock, as clock_getcpuclockid makes it.
    return time.clock_gettime((~process << 3) | 2)


def wake_ups(process):
    """How often each thread of a process gave its processor up to wait, by the threads' numbers."""
    counts = {}
    for path in pathlib.Path(f"/proc/{process}/task").glob("*/status"):
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError:  # It has ended since.
            continue
        counts[path.parent.name] = sum(
            int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return counts


def more_wake_ups(before, after):
    """The wake-ups between two counts. A thread that ended in between can't be counted."""
    return sum(count - before.get(thread, 0) for thread, count in after.items())


def proportional_set(process):
    """PSS in kB: shared pages count by the number of processes that share them."""
    with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:"))


def children(process):
    """The numbers of all processes below one."""
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

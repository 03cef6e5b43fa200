# Runs the real upowerd with the faked power supply and battery of a laptop (umockdev). Each line of standard
# input is a command:
#
#   set DEVICE ATTRIBUTE VALUE...    changes an attribute of the device AC or BAT0, without an event
#   event DEVICE                     sends the event that the kernel sends when a device has changed
#
# Standard input is a socket, on which each line is answered with "ok". At the end of the input, upowerd is
# killed. Arguments: the path of upowerd, and "no-battery" for a machine without a battery.
import os
import subprocess
import sys

import gi

preload = "libumockdev-preload.so.0"
if os.environ.get("LD_PRELOAD") != preload:
    # This program must also see the faked devices, because it sends their events.
    os.execve(sys.executable, [sys.executable] + sys.argv, dict(os.environ, LD_PRELOAD=preload))

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402

testbed = UMockdev.Testbed.new()
devices = {
    "AC": testbed.add_device(
        "power_supply", "AC", None, ["type", "Mains", "online", "1"], ["POWER_SUPPLY_ONLINE", "1"])
}
if "no-battery" not in sys.argv:
    devices["BAT0"] = testbed.add_device(
        "power_supply", "BAT0", None,
        ["type", "Battery", "present", "1", "status", "Charging", "capacity", "57",
         "energy_full", "60000000", "energy_full_design", "80000000", "energy_now", "34200000",
         "voltage_now", "12000000", "power_now", "5000000"],
        ["POWER_SUPPLY_ONLINE", "0"])

environment = dict(os.environ)
environment["UMOCKDEV_DIR"] = testbed.get_root_dir()
daemon = subprocess.Popen([sys.argv[1]], env=environment, stdin=subprocess.DEVNULL)
os.write(0, b"ok\n")
for line in sys.stdin:
    words = line.split(None, 3)
    if words[0] == "set":
        testbed.set_attribute(devices[words[1]], words[2], words[3].rstrip("\n"))
    elif words[0] == "event":
        testbed.uevent(devices[words[1]], "change")
    os.write(0, b"ok\n")
daemon.kill()
daemon.wait()

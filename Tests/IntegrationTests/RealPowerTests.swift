import Foundation
import TaskHostTestSupport
import Testing

/// The whole host with real sources of conditions: upowerd, with a simulated charger and battery.
@Suite(.system, .enabled(if: PrivateBus.powerObstacle == nil, "needs upower, umockdev and python3-dbusmock"))
struct RealPowerTests {
    @Test
    func
        `a plug that is pulled expires the task that requires power, and plugged in it goes on from its checkpoint`()
        throws
    {
        let bus = try PrivateBus()
        try bus.start()
        let laptop = try FakedPower(on: bus)
        let host = try HostProcess()
        host.conditions = "system"
        host.environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus.address
        try EndToEndTests.install(in: host)
        try host.start()
        // The other conditions are overridden, because only power is under test.
        host.run("conditions", "set", "network=unmetered", "thermal=nominal", "user=idle", "pressure=none")
        let rows = host.run("conditions").output
        #expect(rows.contains("UPower"), "\(rows)")
        host.run(
            "submit", "com.example.counting.count", "--external-power", "--payload", #"{"mode":"wait"}"#)
        try host.wait("it has saved a checkpoint") {
            (try host.launches().first?["progress"] as? [String: Any])?["completed"] as? Int == 1
        }

        try laptop.unplug()
        try host.wait("it has ended") { try host.launches().first?["state"] as? String == "ended" }
        let ended = try #require(try host.launches().first)
        #expect(ended["reason"] as? String == "externalPowerLost", "\(ended)")
        #expect(ended["outcome"] as? String == "expired")
        #expect(host.run("pending").output.contains("com.example.counting.count"))

        try laptop.plug()
        try host.wait("it goes on") {
            let newest = try host.launches().first
            return newest?["attempt"] as? Int == 2
                && (newest?["progress"] as? [String: Any])?["completed"] as? Int == 2
        }
        laptop.end()
        try host.wait("a upowerd that is gone is no external power") {
            try host.launches().first?["state"] as? String == "ended"
        }
        #expect(try host.launches().first?["reason"] as? String == "externalPowerLost")
        #expect(host.stop() == 0)
    }

    @Test func `before the machine sleeps its deferrable launches stop, and go on when it has woken`() throws
    {
        let login = "org.freedesktop.login1"
        let bus = try PrivateBus()
        try bus.start()
        let mock = try bus.mock("logind", as: login)
        let host = try HostProcess()
        host.conditions = "system"
        host.environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus.address
        try EndToEndTests.install(in: host)
        try host.start()
        host.run("conditions", "set", "power=external", "thermal=nominal", "user=idle", "pressure=none")
        func sleep(_ isBefore: Bool) throws {
            try bus.emit(
                login, "/org/freedesktop/login1", "\(login).Manager", "PrepareForSleep", signature: "b",
                isBefore ? "true" : "false")
        }
        func isHeld() -> Bool {
            bus.call(login, "/org/freedesktop/login1", "\(login).Manager.ListInhibitors").output
                .contains("bgtask")
        }
        host.run("submit", "com.example.counting.count", "--payload", #"{"mode":"wait"}"#)
        try host.wait("it has saved a checkpoint") {
            (try host.launches().first?["progress"] as? [String: Any])?["completed"] as? Int == 1
        }
        try host.wait("the host holds the sleep back") { isHeld() }

        try sleep(true)
        try host.wait("it has ended") { try host.launches().first?["state"] as? String == "ended" }
        #expect(try host.launches().first?["reason"] as? String == "systemSleep")
        try host.wait("the machine may sleep") { !isHeld() }
        #expect(try host.launches().count == 1, "nothing starts before the sleep")
        try sleep(false)
        try host.wait("it goes on") { try host.launches().first?["attempt"] as? Int == 2 }
        #expect(host.stop() == 0)
        mock.end()
    }

    @Test func `a logind that dies before a sleep holds launches up no longer, and fail names the sleep`()
        throws
    {
        let login = "org.freedesktop.login1"
        let bus = try PrivateBus()
        try bus.start()
        let mock = try bus.mock("logind", as: login)
        let host = try HostProcess()
        host.conditions = "system"
        host.environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus.address
        try EndToEndTests.install(in: host)
        try host.start()
        host.run("conditions", "set", "power=external", "thermal=nominal", "user=idle", "pressure=none")
        try host.wait("the host holds the sleep back") {
            bus.call(login, "/org/freedesktop/login1", "\(login).Manager.ListInhibitors").output
                .contains("bgtask")
        }
        try bus.emit(
            login, "/org/freedesktop/login1", "\(login).Manager", "PrepareForSleep", signature: "b", "true")
        try host.wait("explain names the sleep") {
            host.run("explain", "com.example.counting.count").output.contains("SystemSleep")
        }
        host.run("submit", "com.example.counting.count", "--payload", #"{"mode":"wait"}"#)
        #expect(host.run("pending").output.contains("about to sleep"))
        #expect(try host.launches().isEmpty)
        mock.end()
        try host.wait("it starts without a word of the waking") { try host.launches().count == 1 }
        #expect(host.stop() == 0)
    }
}

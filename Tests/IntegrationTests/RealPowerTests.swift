import Foundation
import TaskHostTestSupport
import Testing

/// The whole host with sources of conditions on a private bus: a real upowerd with a simulated charger and
/// battery, and a mocked logind.
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

    /// A host on a bus with a logind whose sleep it holds back; all conditions are good.
    private final class SleepyMachine {
        private static let login = "org.freedesktop.login1"

        let bus: PrivateBus
        let logind: CompanionProcess
        let host: HostProcess

        init() throws {
            bus = try PrivateBus()
            try bus.start()
            logind = try bus.mock("logind", as: Self.login)
            host = try HostProcess()
            host.conditions = "system"
            host.environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus.address
            try EndToEndTests.install(
                in: host,
                manifest: EndToEndTests.manifest
                    + "\n  - identifier: com.example.counting.export\n    kind: continuedProcessing\n")
            try host.start()
            host.run("conditions", "set", "power=external", "thermal=nominal", "user=idle", "pressure=none")
        }

        /// Whether the host holds the sleep back.
        var isHeld: Bool {
            bus.call(Self.login, "/org/freedesktop/login1", "\(Self.login).Manager.ListInhibitors").output
                .contains("bgtask")
        }

        /// Sends logind's signal before or after a sleep.
        func announceSleep(_ isBefore: Bool) throws {
            try bus.emit(
                Self.login, "/org/freedesktop/login1", "\(Self.login).Manager", "PrepareForSleep",
                signature: "b", isBefore ? "true" : "false")
        }
    }

    @Test func `before the machine sleeps its deferrable launches stop, and go on when it has woken`() throws
    {
        let machine = try SleepyMachine()
        let host = machine.host
        host.run("submit", "com.example.counting.count", "--payload", #"{"mode":"wait"}"#)
        try host.wait("it has saved a checkpoint") {
            (try host.launches().first?["progress"] as? [String: Any])?["completed"] as? Int == 1
        }
        try host.wait("the host holds the sleep back") { machine.isHeld }

        try machine.announceSleep(true)
        try host.wait("it has ended") { try host.launches().first?["state"] as? String == "ended" }
        #expect(try host.launches().first?["reason"] as? String == "systemSleep")
        try host.wait("the machine may sleep") { !machine.isHeld }
        #expect(try host.launches().count == 1, "nothing starts before the sleep")
        let woken = ContinuousClock.now
        try machine.announceSleep(false)
        try host.wait("it goes on") { try host.launches().first?["attempt"] as? Int == 2 }
        // No back-off of the stop delays it. The limit is generous, because other tests use the machine.
        let delay = ContinuousClock.now - woken
        #expect(delay < .seconds(6), "it started \(delay) after the waking")
        #expect(host.stop() == 0)
        machine.logind.end()
    }

    @Test func `a logind that dies before a sleep holds launches up no longer, and fail names the sleep`()
        throws
    {
        let machine = try SleepyMachine()
        let host = machine.host
        try host.wait("the host holds the sleep back") {
            machine.isHeld
        }
        try machine.announceSleep(true)
        try host.wait("explain names the sleep") {
            host.run("explain", "com.example.counting.count").output.contains("SystemSleep")
        }
        host.run("submit", "com.example.counting.count", "--payload", #"{"mode":"wait"}"#)
        #expect(host.run("pending").output.contains("to sleep and wake"))
        let headline = host.run("explain", "com.example.counting.count").output
        #expect(headline.contains("Waits for the machine to sleep and wake."), "\(headline)")
        let refused = host.run(
            "submit", "com.example.counting.export", "--strategy", "fail", "--title", "Album")
        #expect(refused.status != 0 && refused.errors.contains("sleep"), "\(refused)")
        #expect(try host.launches().isEmpty)
        machine.logind.end()
        try host.wait("it starts without a word of the waking") { try host.launches().count == 1 }
        #expect(host.stop() == 0)
    }
}

import Foundation
import TaskHostTestSupport
import Testing

/// The whole host with the machine's real conditions: upowerd over a faked plug and battery.
@Suite(.enabled(if: PrivateBus.powerObstacle == nil, "needs upower, umockdev and python3-dbusmock"))
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
        host.environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
        try EndToEndTests.install(in: host)
        try host.start()
        // What this machine does otherwise is not what is tested.
        host.run("conditions", "set", "network=unmetered", "thermal=nominal", "user=idle", "pressure=none")
        let rows = host.run("conditions").output
        #expect(rows.contains("UPower"), "\(rows)")
        host.run(
            "submit", "com.example.counting.count", "--external-power", "--payload", #"{"mode":"wait"}"#)
        try host.wait("it has saved a checkpoint") {
            (try host.launches().first?["progress"] as? [String: Any])?["completed"] as? Int == 1
        }

        let pulled = Date()
        try laptop.unplug()
        try host.wait("it has ended") { try host.launches().first?["state"] as? String == "ended" }
        let ended = try #require(try host.launches().first)
        #expect(ended["reason"] as? String == "externalPowerLost", "\(ended)")
        #expect(ended["outcome"] as? String == "expired")
        // The promise itself is a time: within a second of the pull, though this machine may be busy.
        let milliseconds = try #require(Self.milliseconds(ended["endedAt"]), "\(ended)")
        #expect(milliseconds - pulled.timeIntervalSince1970 * 1000 < 1000)
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

    private static func milliseconds(_ value: Any?) -> Double? {
        if let number = value as? Double { return number }
        guard let text = value as? String else { return nil }
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter.date(from: text).map { $0.timeIntervalSince1970 * 1000 }
    }
}

import Foundation
import LinuxSystem

/// A laptop with a charger that can be unplugged: the real upowerd, with devices that umockdev fakes.
public final class FakedPower {
    private let handle: ProcessHandle
    private var commands: DescriptorSocket?

    /// Starts upowerd on a bus. At first, external power is connected and the battery is charging at 57 %.
    public init(on bus: PrivateBus, hasBattery: Bool = true) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Fixtures/Devices/power.py")
        let (ours, theirs) = try DescriptorSocket.pair()
        let started = try ProcessSpawn.start(
            "/bin/sh",
            arguments: [
                "-c", #"exec >>"$0" 2>&1 <&3 3<&-; exec "$@""#, bus.log.path, PrivateBus.python, script.path,
                PrivateBus.path("upowerd"),
            ] + (hasBattery ? [] : ["no-battery"]),
            environment: Command.list(bus.environment), passing: theirs)
        handle = started.handle
        commands = ours
        try expectAnswer()
        try waitUntil("upowerd is on the bus") { bus.owner(of: "org.freedesktop.UPower") != nil }
    }

    deinit { end() }

    /// Ends upowerd.
    public func end() {
        guard commands != nil else { return }
        commands = nil
        _ = try? handle.reap()
    }

    /// Disconnects external power.
    public func unplug() throws {
        try send("set AC online 0", "set BAT0 status Discharging", "event AC", "event BAT0")
    }

    /// Connects external power.
    ///
    /// - Parameter status: The battery's status after it: `Charging`, or `Not charging` at its charge limit.
    public func plug(status: String = "Charging") throws {
        try send("set AC online 1", "set BAT0 status \(status)", "event AC", "event BAT0")
    }

    private func send(_ lines: String...) throws {
        for line in lines {
            _ = try commands?.send(Array("\(line)\n".utf8)[...])
            try expectAnswer()
        }
    }

    private func expectAnswer() throws {
        var answer: [UInt8] = []
        while answer.count < 3, let commands {
            var buffer = [UInt8](repeating: 0, count: 3 - answer.count)
            let count = try buffer.withUnsafeMutableBytes { try commands.receive(into: $0).0 }
            if count == 0 { break }
            answer += buffer.prefix(count)
        }
        if answer != Array("ok\n".utf8) { throw TestFailure("the faked devices ended; see the bus's log") }
    }
}

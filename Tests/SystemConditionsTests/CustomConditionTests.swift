import Foundation
import LinuxSystem
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

@testable import SystemConditions

/// Conditions that appear and disappear with their definitions.
@Suite(.system) struct CustomConditionSensorTests {
    let moments = VirtualMoments()

    static func shell(
        _ script: String, timeout: Duration = .seconds(10), value: ConditionCommand.Value = .exitStatus
    )
        -> CustomCondition
    {
        let command = ConditionCommand(
            arguments: ["/bin/sh", "-c", script], interval: .milliseconds(20), timeout: timeout, value: value)
        return CustomCondition(name: "docked", source: .command(command), predicate: .equals("0"))
    }

    func settle(_ sensors: ConditionSensors, _ docked: Reading<Bool>?) throws {
        try waitUntil("docked is \(String(describing: docked))") {
            moments.advance(by: ConditionSensors.dwell)
            sensors.timePassed()
            return sensors.snapshot().custom["docked"] == docked
        }
    }

    @Test
    func `a definition that comes is unknown, then has its value; one that changes or goes takes it along`()
        throws
    {
        let sensors = ConditionSensors(
            mode: .system, sensors: [], moments: moments, dwell: ConditionSensors.dwell)
        #expect(sensors.snapshot().custom == [:])
        sensors.define([Self.shell("exit 0")])
        #expect(sensors.snapshot().custom == ["docked": .unknown])
        try settle(sensors, .known(true))
        let row = try #require(sensors.rows().last)
        #expect(row.key == "docked" && row.value == "on" && row.source == "/bin/sh")
        moments.advance(by: .seconds(100))
        sensors.define([Self.shell("exit 0")])
        #expect(sensors.rows().last == row, "what stays as it was keeps value and age")
        sensors.define([Self.shell("exit 1")])
        #expect(sensors.snapshot().custom == ["docked": .unknown])
        try settle(sensors, .known(false))
        sensors.define([])
        #expect(sensors.snapshot().custom == [:])
        #expect(sensors.rows().count == ConditionKey.machine.count)
    }

    @Test func `it is simulated over its source, also while that changes, and only while it is defined`()
        throws
    {
        let sensors = ConditionSensors(mode: .system, sensors: [], moments: moments)
        do {
            try sensors.set(["docked=on"])
            Issue.record("nobody defined docked")
        } catch {
            #expect(error.valid.contains("power"))
        }
        sensors.define([Self.shell("exit 1")])
        try sensors.set(["docked=on"])
        #expect(sensors.snapshot().custom == ["docked": .known(true)])
        sensors.define([Self.shell("exit 2")])
        #expect(sensors.snapshot().custom == ["docked": .known(true)])
        #expect(sensors.rows().last?.source == "simulated")
        sensors.clear()
        try settle(sensors, .known(false))
        do {
            try sensors.set(["docked=yes"])
            Issue.record("yes is no value")
        } catch {
            #expect(error.valid == ["on", "off", "unknown"])
        }
    }

    @Test func `a simulated host runs nothing: its custom conditions begin off`() throws {
        let sensors = ConditionSensors(mode: .simulated, moments: moments)
        let mark = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        sensors.define([Self.shell("touch \(mark.path)")])
        #expect(sensors.snapshot().custom == ["docked": .known(false)])
        #expect(sensors.rows().last?.source == "simulated")
        try sensors.set(["docked=on"])
        #expect(sensors.snapshot().custom == ["docked": .known(true)])
        #expect(!FileManager.default.fileExists(atPath: mark.path))
    }

    /// Programs that fail, each with the reason why its condition is unknown.
    static let failing: [(CustomCondition, String)] = [
        (shell("sleep 600 & echo $! > $MARK; wait", timeout: .milliseconds(300)), "did not end within 300ms"),
        (shell("kill -9 $$"), "signal 9"),
        (shell("echo 0; exit 3", value: .firstLine), "status 3"),
    ]

    @Test(arguments: failing.indices)
    func `a program that hangs, dies or fails is unknown, says why once, and leaves nothing`(index: Int)
        throws
    {
        var (condition, reason) = Self.failing[index]
        let mark = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: mark) }
        if case .command(var command) = condition.source {
            command.arguments[2] = "MARK=\(mark); \(command.arguments[2])"
            condition.source = .command(command)
        }
        let told = Mutex<[String]>([])
        let sensors = ConditionSensors(
            mode: .system, sensors: [], moments: moments, dwell: .zero,
            onProblem: { text in told.withLock { $0.append(text) } })
        sensors.define([condition])
        try waitUntil("it is said why") { told.withLock { !$0.isEmpty } }
        #expect(sensors.snapshot().custom == ["docked": .unknown])
        guard index == 0 else {
            // The program runs many more times, and the message stays the same.
            try waitUntil("it says \(reason)") { told.withLock { $0.first?.contains(reason) == true } }
            return
        }
        sensors.define([])
        let child = try #require(Int32(String(contentsOfFile: mark, encoding: .utf8).dropLast()))
        try waitUntil("what the program started is gone too") {
            kill(child, 0) != 0 || isZombie(child)
        }
        #expect(told.withLock { $0 }.first?.contains(reason) == true)
    }

    private func isZombie(_ process: Int32) -> Bool {
        (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8))?.contains(") Z ") ?? true
    }

    @Test func `the first line counts, however much follows it`() throws {
        let sensors = ConditionSensors(
            mode: .system, sensors: [], moments: moments, dwell: ConditionSensors.dwell)
        sensors.define([Self.shell("echo ' 0 '; yes | head -c 300000", value: .firstLine)])
        try settle(sensors, .known(true))
    }

    @Test func `a definition that goes ends its program at once`() throws {
        let mark = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: mark) }
        let sensors = ConditionSensors(mode: .system, sensors: [], moments: moments)
        sensors.define([
            Self.shell("echo $$ > \(mark).new; mv \(mark).new \(mark); sleep 600", timeout: .seconds(60))
        ])
        try waitUntil("it runs") { FileManager.default.fileExists(atPath: mark) }
        let program = try #require(Int32(String(contentsOfFile: mark, encoding: .utf8).dropLast()))
        sensors.define([])
        try waitUntil("it is gone") { kill(program, 0) != 0 }
    }
}

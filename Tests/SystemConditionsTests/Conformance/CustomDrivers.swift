import Foundation
import LinuxSystem
import TaskHostTestSupport
import TaskModel

@testable import SystemConditions

/// A condition with a program; the test decides the program's output.
final class CommandDriver: SensorDriver {
    static let name = "a command of conditions.d"
    static let absent = "unknown", better = "on", worse = "off"
    private let folder: URL
    private var program: URL { folder.appendingPathComponent("program") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "condition-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) {
        let command = ConditionCommand(
            arguments: [program.path], interval: .milliseconds(20), timeout: .seconds(10), value: .exitStatus)
        let condition = CustomCondition(name: "docked", source: .command(command), predicate: .equals("0"))
        return (CustomSensors.make(condition) { print("the program of a condition: \($0)") }, nil)
    }

    func appear() throws { try improve() }
    func improve() throws { try write("exit 0") }
    func worsen() throws { try write("exit 1") }
    func vanish() throws { try FileManager.default.removeItem(at: program) }

    private func write(_ line: String) throws {
        // The program is renamed into place, because a file that is open for writing cannot be run.
        let new = folder.appendingPathComponent("new")
        try "#!/bin/sh\n\(line)\n".write(to: new, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: new.path)
        if rename(new.path, program.path) != 0 { throw TestFailure("rename: \(errno)") }
    }
}

/// A condition with a file; the test decides the file's content.
final class FileDriver: SensorDriver {
    static let name = "a file of conditions.d"
    static let absent = "unknown", better = "on", worse = "off"
    private let folder: URL
    private var file: URL { folder.appendingPathComponent("lid") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "condition-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func makeSensor() throws -> (sensor: any Sensor, bus: SystemBus?) {
        let condition = CustomCondition(
            name: "lid-closed", source: .file(file.path), predicate: .equals("closed"))
        return (CustomSensors.make(condition) { _ in }, nil)
    }

    func appear() throws { try improve() }
    func improve() throws { try "closed\n".write(to: file, atomically: true, encoding: .utf8) }
    func worsen() throws { try "open\n".write(to: file, atomically: true, encoding: .utf8) }
    func vanish() throws { try FileManager.default.removeItem(at: file) }
}

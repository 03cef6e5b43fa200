import Foundation
import LinuxSystem
import Testing

@Suite struct ProgramTextTests {
    /// The part of a process's mapped memory that is from files, in kB, as /proc/self/status has it.
    private func mappedFiles() throws -> Int {
        let status = try SmallFile.read("/proc/self/status")
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
        return try #require(Int(line.filter(\.isNumber)))
    }

    @Test func `unused code leaves memory, and code that is used comes back`() throws {
        let before = try mappedFiles()
        ProgramText.release()
        let after = try mappedFiles()
        // Other tests run at the same time, so part of the code is mapped again before the second
        // measurement.
        #expect(after < before, "\(before) kB, then \(after) kB")
        #expect(ProcessFacts.number > 0)
    }
}

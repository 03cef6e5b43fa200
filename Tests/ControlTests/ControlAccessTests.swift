import ControlClient
import ControlWire
import Foundation
import LinuxSystem
import Synchronization
import TaskHostTestSupport
import TaskModel
import Testing

@testable import ControlServer

/// The powers that groups of users have, as values and with real users.
@Suite(.system, .timeLimit(.minutes(2))) struct ControlAccessTests {
    private static func access() throws -> ControlAccess {
        var access = ControlAccess()
        access.readers = [4001]
        access.submitters = [4002]
        access.bundleSubmitters = [try BundleIdentifier("org.example"): 4003]
        return access
    }

    private func permits(_ power: ControlPower, _ need: ControlPower.Need) -> Bool {
        (try? power.check(need, subject: "x")) != nil
    }

    @Test func `a group has its power and no other`() throws {
        let access = try Self.access()
        let bundle = try BundleIdentifier("org.example"), other = try BundleIdentifier("com.example")
        let task = try TaskIdentifier("org.example.a")
        #expect(ControlPower([100, 0], in: access) == nil)
        let reader = try #require(ControlPower([100, 4001], in: access))
        #expect(permits(reader, .reading) && !permits(reader, .submitting) && !permits(reader, .everything))
        let submitter = try #require(ControlPower([4002], in: access))
        #expect(!permits(submitter, .reading) && permits(submitter, .submitting))
        #expect(!permits(submitter, .everything))
        #expect(throws: Never.self) { try submitter.check(other, of: task) }
        let one = try #require(ControlPower([4003], in: access))
        #expect(!permits(one, .reading) && permits(one, .submitting) && !permits(one, .everything))
        #expect(throws: Never.self) { try one.check(bundle, of: task) }
        for bundle in [other, nil] {
            let error = #expect(throws: ErrorMessage.self) { try one.check(bundle, of: task) }
            #expect(error?.finding == "your groups permit you to submit only for org.example")
        }
        for need in [ControlPower.Need.reading, .submitting, .everything] {
            #expect(permits(.all, need))
        }
    }

    @Test func `groups are found by their names, and one that is missing is named`() throws {
        var unknown: [String] = []
        let access = ControlAccess(
            read: "root", submit: "4711", bundles: [try BundleIdentifier("org.example"): "no-such-group"],
            onUnknown: { unknown.append($0) })
        #expect(access.readers == [0] && access.submitters == [4711] && access.bundleSubmitters.isEmpty)
        #expect(unknown.count == 1)
        #expect(
            unknown.first?.hasPrefix("bundles.org.example.submit: this machine has no group 'no-such-group'")
                == true)
        #expect(!ControlAccess(read: "", submit: "", bundles: [:]) { _ in }.isShared)
    }

    private static var isRoot: Bool {
        NSUserName() == "root" && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
    }

    @Test(.enabled(if: isRoot, "needs root and setpriv to become another user"))
    func `real users get what their supplementary groups give them`() async throws {
        let submission = #"{"identifier": "org.example.a"}"#
        try await serving(access: Self.access()) { host, socket in
            // The folder of this test is closed to others; the directory that the server made is not.
            let folder = (socket as NSString).deletingLastPathComponent
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o711], ofItemAtPath: (folder as NSString).deletingLastPathComponent)
            let version = "http://h/v1/version", requests = "http://h/v1/requests"
            func expect(
                _ status: String, _ groups: String, _ arguments: String..., says: String = "",
                at location: SourceLocation = #_sourceLocation
            ) async throws {
                let result = try await run(
                    "/usr/bin/setpriv",
                    [
                        "--reuid", "65534", "--regid", "65534", "--groups", groups, "curl", "-sS", "-w",
                        "%{http_code}", "--unix-socket", socket,
                    ] + arguments)
                #expect(
                    result.output.hasSuffix(status) && (says.isEmpty || result.output.contains(says)),
                    "\(result)",
                    sourceLocation: location)
            }
            try await expect("200", "100,4001", version)
            try await expect("403", "4001", "-d", submission, requests, says: "power to submit")
            try await expect("403", "4002", version, says: "power to read")
            try await expect("201", "4002", "-d", submission, requests)
            try await expect(
                "403", "4002", "-d", #"{"target": "R17"}"#, "http://h/v1/cancel",
                says: "only the user of the host")
            try await expect("201", "4003", "-d", submission, requests)
            try await expect(
                "403", "4003", "-d", #"{"identifier": "com.example.b"}"#, requests,
                says: "only for org.example")
            try await expect("403", "100", version, says: "belongs to user 0")
            #expect(host.script.withLock { $0.submissions }.count == 2)
        }
    }
}

import Glibc
import TaskHostTestSupport
import Testing

@testable import LinuxSystem

/// The list of users, as dynamic and static programs read it.
@Suite(.system) struct AccountTests {
    @Test(arguments: ["root", "nobody"])
    func `a user is the same from the C library and from the file`(name: String) throws {
        let listed = try #require(Account.named(name, in: .file("/etc/passwd")))
        #expect(Account.named(name, in: .library) == listed)
        #expect(Account.numbered(listed.user, in: .library) == listed)
        #expect(Account.numbered(listed.user, in: .file("/etc/passwd")) == listed)
    }

    @Test func `a user whom the file lacks is asked for, and may not exist`() {
        #expect(Account.named("root", in: .file("/dev/null"))?.home == "/root")
        #expect(Account.numbered(0, in: .file("/dev/null"))?.name == "root")
        #expect(Account.named("no-such-user", in: .file("/etc/passwd")) == nil)
        #expect(Account.named("--version", in: .file("/etc/passwd")) == nil)
        #expect(Account.numbered(4_000_000_000, in: .file("/etc/passwd")) == nil)
    }

    @Test(arguments: ["", "a", "a:x:1:2", "a:x:-1:0::/:/", ":x:1:1::/:/", "a:x:99999999999:1::/:/"])
    func `a line that is none of a user is passed over`(line: String) {
        #expect(Account(line: line) == nil)
    }

    @Test func `a home that is no absolute path is none`() {
        #expect(Account(line: "a:x:1:1::home:/bin/sh").map(\.home) == .some(nil))
    }
}

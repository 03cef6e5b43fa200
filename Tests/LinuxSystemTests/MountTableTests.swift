import Testing

@testable import LinuxSystem

/// Where paths lie in their file systems.
@Suite struct MountTableTests {
    private let table = MountTable(
        text: """
            21 1 8:1 / / rw - ext4 /dev/sda1 rw
            22 21 8:2 / /home rw - ext4 /dev/sda2 rw
            23 21 8:1 /etc/bgtask /srv/shown\\040here rw shared:1 - ext4 /dev/sda1 rw
            24 21 8:2 /user/data /etc/bgtask/inner rw - ext4 /dev/sda2 rw
            25 21 0:5 / /hidden rw - tmpfs tmpfs rw
            26 21 8:1 /var /hidden rw - ext4 /dev/sda1 rw

            """)

    private func texts(_ path: String) -> [String] {
        table.locations(of: path).map { "\($0.device) \($0.path)" }
    }

    @Test func `a path lies in the mount with the longest point, below the root of that mount`() {
        #expect(texts("/etc/passwd") == ["8:1 /etc/passwd"])
        #expect(texts("/home/user") == ["8:2 /user"])
        #expect(texts("/srv/shown here/conf.d") == ["8:1 /etc/bgtask/conf.d"])
        #expect(texts("/srv/shown here") == ["8:1 /etc/bgtask"])
        #expect(texts("/homes") == ["8:1 /homes"])
        #expect(texts("/hidden/lib") == ["8:1 /var/lib"], "the later mount hides the earlier one")
    }

    @Test func `a directory contains what is mounted below it`() {
        #expect(texts("/etc") == ["8:1 /etc", "8:2 /user/data"])
        #expect(texts("/").count == 6)
    }

    @Test func `two paths of one place overlap, and neighbours do not`() throws {
        func location(_ path: String) throws -> MountTable.Location {
            try #require(table.locations(of: path).first)
        }
        #expect(try location("/srv/shown here/a").overlaps(location("/etc/bgtask")))
        #expect(try location("/etc/bgtask").overlaps(location("/srv/shown here/a")))
        #expect(try !location("/etc/bgtask2").overlaps(location("/srv/shown here")))
        #expect(try !location("/home/etc/bgtask").overlaps(location("/etc/bgtask")))
    }

    @Test func `the mounts of this machine contain its root`() {
        #expect(!MountTable().locations(of: "/").isEmpty)
    }
}

import CLinuxShims
import Glibc

/// An entry of the machine's list of users, as passwd(5) describes it.
///
/// A static program can't load the modules of nsswitch.conf(5): the C library crashes in an attempt. Such a
/// program reads `/etc/passwd` and, for users who are not in it, asks `getent`.
public struct Account: Equatable, Sendable {
    /// The name.
    public let name: String
    /// The number.
    public let user: UInt32
    /// The home directory; `nil` if the user has none.
    public let home: String?

    /// How to look users up.
    enum Source {
        /// By the C library, which loads modules.
        case library
        /// By this file, then by `getent`.
        case file(String)

        /// The one that works in this program; a static one has no program interpreter.
        static var own: Source { getauxval(UInt(AT_BASE)) == 0 ? .file("/etc/passwd") : .library }
    }

    /// The user of a name; `nil` if there is none.
    public static func named(_ name: String) -> Account? { named(name, in: .own) }

    /// The user of a number; `nil` if there is none.
    public static func numbered(_ user: UInt32) -> Account? { numbered(user, in: .own) }

    static func named(_ name: String, in source: Source) -> Account? {
        switch source {
        case .library:
            fromLibrary { entry, bytes, size, found in getpwnam_r(name, &entry, bytes, size, &found) }
        case .file(let path): fromFile(path, key: name) { $0.name == name }
        }
    }

    static func numbered(_ user: UInt32, in source: Source) -> Account? {
        switch source {
        case .library:
            fromLibrary { entry, bytes, size, found in getpwuid_r(user, &entry, bytes, size, &found) }
        case .file(let path): fromFile(path, key: "\(user)") { $0.user == user }
        }
    }

    private static func fromLibrary(
        _ find: (
            inout passwd, UnsafeMutablePointer<CChar>, Int, inout UnsafeMutablePointer<passwd>?
        ) -> CInt
    ) -> Account? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // glibc recommends 16 KiB if sysconf(_SC_GETPW_R_SIZE_MAX) returns no limit.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer -> Account? in
            guard let start = buffer.baseAddress, find(&entry, start, buffer.count, &found) == 0,
                found != nil,
                let name = entry.pw_name
            else { return nil }
            return Account(
                name: String(cString: name), user: entry.pw_uid,
                home: entry.pw_dir.map { String(cString: $0) })
        }
    }

    private init(name: String, user: UInt32, home: String?) {
        (self.name, self.user) = (name, user)
        self.home = home?.hasPrefix("/") == true ? home : nil
    }

    /// Reads a line of passwd(5); `nil` if it is not one.
    init?(line: some StringProtocol) {
        let fields = line.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count == 7, let user = UInt32(fields[2]), !fields[0].isEmpty else { return nil }
        self.init(name: String(fields[0]), user: user, home: String(fields[5]))
    }

    private static func fromFile(_ path: String, key: String, _ isWanted: (Account) -> Bool) -> Account? {
        func first(in bytes: [UInt8]) -> Account? {
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").lazy
                .compactMap { Account(line: $0) }.first(where: isWanted)
        }
        if let listed = (try? FileContents.read(path, atMost: 1 << 24)).flatMap(first) { return listed }
        // getent(1) would take such a key for an option.
        guard !key.hasPrefix("-") else { return nil }
        let answer = try? ProgramOutput.run(
            ["/usr/bin/getent", "passwd", key], environment: ["PATH=/usr/bin:/bin"], timeout: .seconds(5),
            atMost: 65_536)
        return (answer?.output).flatMap(first)
    }
}

import Digests
import LinuxSystem
import TaskModel

/// The users as which the tasks of bundles run, if the host runs as root.
///
/// The owner of a bundle's data directory is the record of its user, so the number stays the same as long as
/// the directory exists. A new bundle gets a number that follows from its identifier, or the next free one.
struct BundleUsers: Sendable {
    /// The numbers that the host may give.
    let range: ClosedRange<UInt32>
    /// The users by the names of the data directories.
    private var users: [String: UInt32] = [:]
    private var taken: Set<UInt32> = []

    /// Starts with the owners of the data directories.
    ///
    /// If two directories have the same owner, for example because one is a copy, the first by name keeps it.
    ///
    /// - Parameters:
    ///   - range: The numbers of the users, without those of other programs.
    ///   - owners: The owners of the data directories, by their names; owners outside the range are ignored.
    init(range: ClosedRange<UInt32>, owners: [String: UInt32]) {
        self.range = range
        for (name, owner) in owners.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        where range.contains(owner) && taken.insert(owner).inserted {
            users[name] = owner
        }
    }

    /// The user of the bundle with this directory; a bundle without one gets a user.
    ///
    /// - Parameters:
    ///   - name: The name of the data directory.
    ///   - isAccount: Whether a user of the machine has this number.
    /// - Returns: The number; `nil` if none is free.
    mutating func user(of name: String, isAccount: (UInt32) -> Bool) -> UInt32? {
        if let known = users[name] { return known }
        let digest = SHA256.hexadecimal(of: Array("bgtask user \(name)".utf8))
        let count = UInt64(range.count)
        let first = (UInt64(digest.prefix(16), radix: 16) ?? 0) % count
        for step in 0..<count {
            let user = range.lowerBound + UInt32((first + step) % count)
            guard !taken.contains(user), !isAccount(user) else { continue }
            taken.insert(user)
            users[name] = user
            return user
        }
        return nil
    }
}

/// A launch can't be prepared before its administrator changes the configuration or files.
struct Unprepared: Error {
    /// What is wrong.
    let finding: String
    /// What to do.
    let remedy: String

    /// No number of the setting `isolation.users` is free.
    ///
    /// - Parameters:
    ///   - range: The numbers of the setting.
    ///   - data: The directory that contains the data directories of all bundles.
    /// - Returns: The error with its remedy.
    static func noFreeUser(_ range: ClosedRange<UInt32>, data: String) -> Unprepared {
        Unprepared(
            finding:
                "all \(range.count) users of 'isolation.users' (\(range.lowerBound)-\(range.upperBound)) are taken "
                + "by data directories of other bundles and by the program that makes transfers, or are accounts "
                + "of this machine",
            remedy:
                "Set 'isolation.users' to more users, or remove directories of bundles that are gone from "
                + "\(data), and restart the host")
    }

    /// The data directory nests directories too deep to give it to its user.
    ///
    /// - Parameters:
    ///   - data: The data directory of the bundle.
    ///   - user: The number of its user and of its group.
    /// - Returns: The error with its remedy.
    static func tooDeep(_ data: String, user: UInt32) -> Unprepared {
        Unprepared(
            finding:
                "\(data) must belong to user \(user), but it has more than 200 directories inside one another",
            remedy: "Remove the deepest ones, or run: chown -hR \(user):\(user) \(data)")
    }
}

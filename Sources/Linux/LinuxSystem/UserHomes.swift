/// The home directories of the machine's users.
public enum UserHomes {
    /// Endings of the shells of accounts of the system.
    private static let noLogin = ["/nologin", "/false", "/sync", "/halt", "/shutdown"]
    /// Directories of the system that accounts have for a home.
    private static let ofSystem = ["/bin", "/dev", "/sbin", "/usr"]

    /// The home directory that the machine's list of users gives a user; `nil` if it has none.
    ///
    /// The variable `HOME` may be missing, as in a service of systemd without `User=`, or name another
    /// directory.
    public static func directory(ofUser user: UInt32) -> String? { Account.numbered(user)?.home }

    /// The home directory of the user of a name; `nil` if there is no such user, or if the user has none.
    public static func directory(ofUserNamed name: String) -> String? { Account.named(name)?.home }

    /// The home directories of the users who can log in, in the order of passwd(5).
    ///
    /// - Parameters:
    ///   - text: The contents of a file in the format of passwd(5).
    ///   - limit: The greatest number of directories.
    /// - Returns: Each directory once.
    public static func ofPeople(inPasswd text: String, limit: Int) -> [String] {
        var homes: [String] = []
        for line in text.split(separator: "\n") where homes.count < limit {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 7, fields[5].hasPrefix("/"), !homes.contains(String(fields[5])),
                !noLogin.contains(where: fields[6].hasSuffix),
                !ofSystem.contains(where: { fields[5] == $0 || fields[5].hasPrefix($0 + "/") })
            else { continue }
            homes.append(String(fields[5]))
        }
        return homes
    }
}

public import Foundation

/// The programs that the build puts beside the tests.
public enum Products {
    /// The directory of the test program, which is also SwiftPM's directory for executables.
    public static var directory: URL {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: own).deletingLastPathComponent()
    }

    /// The absolute path of a program: `bgtask-runner`, `bgtaskd`, `bgtask`.
    public static func path(_ program: String) -> String {
        directory.appending(path: program).path
    }
}

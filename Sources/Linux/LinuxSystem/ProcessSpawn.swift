import CLinuxShims
import Glibc

/// Starts programs of ours.
public enum ProcessSpawn {
    /// Starts a program in a session of its own, with default signals, one descriptor as its number 3 and no
    /// other.
    ///
    /// - Parameters:
    ///   - path: The program's file.
    ///   - arguments: What follows the program's name.
    ///   - environment: `NAME=value`, all of it.
    ///   - socket: Becomes the program's descriptor 3; stays open here.
    /// - Returns: A hold on it and its number, for display.
    /// - Throws: `posix_spawn`, also where the file can't be executed.
    public static func start(
        _ path: String, arguments: [String], environment: [String], passing socket: DescriptorSocket
    ) throws(SystemCallError) -> (handle: ProcessHandle, pid: Int32) {
        var argumentPointers = ([path] + arguments).map { strdup($0) } + [nil]
        var environmentPointers = environment.map { strdup($0) } + [nil]
        defer {
            for pointer in argumentPointers { free(pointer) }
            for pointer in environmentPointers { free(pointer) }
        }
        let passed = socket.descriptor
        let pid = try retryingOnInterrupt("posix_spawn", path) {
            lx_spawn(path, &argumentPointers, &environmentPointers, passed)
        }
        return (try ProcessHandle(of: pid), pid)
    }

    /// The environment of this process, `NAME=value`.
    public static var ownEnvironment: [String] {
        var result: [String] = []
        var entry = environ
        while let text = entry.pointee {
            result.append(String(cString: text))
            entry += 1
        }
        return result
    }
}

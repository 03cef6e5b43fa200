import CLinuxShims
import Glibc

/// Starts programs that get one socket: the launcher process, and the shells of `bgtask dev`.
public enum ProcessSpawn {
    /// Starts a program in a new session, with default signal actions.
    ///
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - arguments: The arguments after the program's name.
    ///   - environment: The complete environment, as `NAME=value`.
    ///   - socket: Becomes the program's descriptor 3, and stays open here. The program gets no other
    ///     descriptor above 2.
    /// - Returns: A handle of the process, and its number for display.
    /// - Throws: The `posix_spawn` that failed, for example because the file cannot be executed.
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

    /// The environment of this process, as `NAME=value`.
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

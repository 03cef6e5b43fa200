import Foundation
import LinuxSystem
import TaskHostTestSupport
import Testing

/// The directories of the loader's configuration.
@Suite struct LoaderPathsTests {
    @Test func `a relative include is relative to the file that has it`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "loader-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "conf.d"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let main = folder.appending(path: "ld.so.conf")
        try Data("include conf.d/*.conf\n/srv/main\n".utf8).write(to: main)
        try Data("/srv/included # a comment\n".utf8).write(to: folder.appending(path: "conf.d/a.conf"))
        let directories = LoaderPaths.directories(configuration: main.path)
        #expect(directories.starts(with: ["/srv/included", "/srv/main"]), "\(directories)")
    }
}

import Foundation
import HandlerRegistry
import StrictFiles
import TaskHostTestSupport
import TaskModel
import Testing

/// A host that runs as root accepts only files that root alone can change, with every directory on their
/// paths.
@Suite(.system, .enabled(if: getuid() == 0, "only root's host refuses these"))
struct FileTrustTests {
    /// A folder with a valid manifest and library, which a test then makes untrusted.
    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.compile("libA.so", "int a(void) { return 1; }")
        try folder.write("manifests/a.yaml", HandlerRegistryTests.manifest("com.example.a"))
        #expect(folder.registry.scan().problems == [])
        return folder
    }

    private func problem(_ folder: TemporaryFolder) throws -> ManifestProblem {
        let snapshot = folder.registry.scan()
        #expect(snapshot.handlers == [])
        let problem = try #require(snapshot.problems.first)
        #expect(problem.severity == .error)
        #expect(problem.finding.hasPrefix("untrusted: users other than root can change "), "\(problem)")
        return problem
    }

    /// Runs the commands of the remedy, and checks that the problem is gone.
    private func mend(_ folder: TemporaryFolder, _ problem: ManifestProblem) throws {
        let remedy = try #require(problem.remedy)
        #expect(remedy.hasPrefix("Run: "))
        try folder.run("sh", "-c", String(remedy.dropFirst(5)))
        #expect(folder.registry.scan().problems == [])
    }

    @Test(arguments: ["plugins/libA.so", "manifests/a.yaml"], ["chown 4711", "chmod 0664", "chmod 0646"])
    func `a file that another owns, or that group or others may write, is refused`(
        name: String, command: String
    ) throws {
        let folder = try folder()
        try folder.run("sh", "-c", "\(command) \(folder.path)/\(name)")
        let problem = try problem(folder)
        #expect(
            problem.finding.contains("\(name) has owner \(command == "chown 4711" ? 4711 : 0)"), "\(problem)")
        try mend(folder, problem)
    }

    /// A folder with a plugin that needs a library in the directory third/party, with these linker options.
    private func folderWithRunPath(_ options: (String) -> [String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let directory = "\(folder.path)/third/party"
        try folder.run("mkdir", "-p", directory)
        try folder.compile("libDep.so", "int dep(void) { return 1; }")
        try folder.run("mv", "\(folder.path)/plugins/libDep.so", directory)
        try folder.compile(
            "libA.so", "extern int dep(void); int a(void) { return dep(); }", options(directory))
        try folder.write("manifests/a.yaml", HandlerRegistryTests.manifest("com.example.a"))
        return folder
    }

    @Test(arguments: ["third/party", "third/party/libDep.so", "third"])
    func `a library whose run path others can change is refused, and its copy not used`(name: String) throws {
        let folder = try folderWithRunPath { ["-L\($0)", "-lDep", "-Wl,-rpath,\($0)"] }
        let registry = folder.registry
        #expect(registry.scan().problems == [])
        // Others can create a directory that does not exist if they can write the one above it.
        if name == "third" { try folder.run("rm", "-r", "\(folder.path)/third/party") }
        try folder.run("chown", "4711", "\(folder.path)/\(name)")
        #expect(registry.scan().handlers == [])
        let problem = try problem(folder)
        #expect(problem.finding.contains("what library 'libA.so' loads by its run path"), "\(problem)")
        try mend(folder, problem)
    }

    /// Anybody can put a library there that is found before the right one.
    @Test(arguments: ["", "/missing"])
    func `a run path where anybody can create a file is refused`(below: String) throws {
        let folder = try folderWithRunPath {
            ["-L\($0)", "-lDep", "-Wl,-rpath,\($0)/../shared\(below):\($0)"]
        }
        try folder.run("mkdir", "-m", "1777", "\(folder.path)/third/shared")
        let snapshot = folder.registry.scan()
        #expect(snapshot.handlers == [])
        #expect(snapshot.problems.first?.finding.contains("users other than root can add to") == true)
    }

    @Test func `a link to nowhere in a run path is refused if others can make its target`() throws {
        let folder = try folderWithRunPath { ["-L\($0)", "-lDep", "-Wl,-rpath,\($0)"] }
        try folder.run("mkdir", "-m", "0777", "\(folder.path)/open")
        try folder.run("ln", "-s", "\(folder.path)/open/libX.so", "\(folder.path)/third/party/libX.so")
        #expect(try problem(folder).finding.contains("/open has owner 0 and mode 0777"))
    }

    @Test(arguments: ["", "relative", "/lib/$PLATFORM"])
    func `a run path that depends on the task or the machine is refused`(entry: String) throws {
        let folder = try folderWithRunPath { ["-L\($0)", "-lDep", "-Wl,-rpath,\(entry):\($0)"] }
        let snapshot = folder.registry.scan()
        #expect(snapshot.handlers == [])
        #expect(snapshot.problems.first?.finding.contains("has the entry '\(entry)'") == true)
    }

    @Test func `a library that is needed by its path is examined`() throws {
        let folder = try folderWithRunPath { ["\($0)/libDep.so"] }
        #expect(folder.registry.scan().problems == [])
        try folder.run("chmod", "0666", "\(folder.path)/third/party/libDep.so")
        #expect(try problem(folder).finding.contains("libDep.so has owner 0 and mode 0666"))
    }

    @Test(
        arguments: ["plugins", "manifests", "."], ["chown 4711", "chmod 0775", "chmod 0757", "chmod 2777"])
    func `a directory on the way that others may write is refused, however far up`(
        name: String, command: String
    ) throws {
        let folder = try folder()
        let path = name == "." ? folder.path : "\(folder.path)/\(name)"
        try folder.run("sh", "-c", "\(command) \(path)")
        let problem = try problem(folder)
        #expect(problem.finding.contains("the directory "), "\(problem)")
        #expect(problem.finding.contains("\(URL(filePath: path).lastPathComponent) has owner"), "\(problem)")
        #expect(problem.finding.contains("and mode "), "\(problem)")
        try mend(folder, problem)
    }

    @Test func `both wrongs of a directory are told and mended at once`() throws {
        let folder = try folder()
        try folder.run("sh", "-c", "chown 4711 \(folder.path)/plugins; chmod 0777 \(folder.path)/plugins")
        let problem = try problem(folder)
        #expect(problem.finding.contains("has owner 4711 and mode 0777"), "\(problem)")
        try mend(folder, problem)
    }

    @Test func `a sticky directory is as good as /tmp, but another's file in it is not`() throws {
        let folder = try folder()
        try folder.run("chmod", "1777", folder.path + "/plugins", folder.path + "/manifests")
        #expect(folder.registry.scan().problems == [])
        try folder.run("chown", "4711", folder.path + "/plugins/libA.so")
        #expect(try problem(folder).finding.contains("libA.so has owner 4711"))
    }

    @Test func `a link to a manifest is followed, and each directory on its way is looked at`() throws {
        let folder = try folder()
        try folder.run(
            "sh", "-c",
            "cd \(folder.path) && mkdir -p far/away && mv manifests/a.yaml far/away && ln -s ../far/away/a.yaml manifests"
        )
        #expect(folder.registry.scan().problems == [])
        try folder.run("chmod", "0777", folder.path + "/far")
        let problem = try problem(folder)
        #expect(problem.finding.contains("/far has owner 0 and mode 0777"), "\(problem)")
        try mend(folder, problem)
    }

    /// Everybody writes to most devices, and the machine needs that.
    @Test func `the remedy for a device does not change its mode`() throws {
        let problem = try #require(try FileTrust.problem(with: "/dev/null", called: "the manifest"))
        #expect(problem.remedy == "Name a file instead of a device")
        #expect(problem.finding == "untrusted: the manifest: /dev/null is no file of root")
    }

    @Test func `another's link is refused, whatever it leads to`() throws {
        let folder = try folder()
        try folder.run(
            "sh", "-c",
            "cd \(folder.path)/plugins && mv libA.so libReal.so && ln -s libReal.so libA.so && chown -h 4711 libA.so"
        )
        let problem = try problem(folder)
        #expect(problem.finding.contains("the link "), "\(problem)")
        try mend(folder, problem)
    }

    @Test func `a sibling that a library needs is looked at too`() throws {
        let folder = try TemporaryFolder()
        try folder.compile("libSibling.so", "int sibling(void) { return 7; }", "-Wl,-soname,libSibling.so")
        try folder.compile(
            "libA.so", "int sibling(void); int a(void) { return sibling(); }",
            folder.path + "/plugins/libSibling.so")
        try folder.write("manifests/a.yaml", HandlerRegistryTests.manifest("com.example.a"))
        try folder.run("chown", "4711", folder.path + "/plugins/libSibling.so")
        let problem = try problem(folder)
        #expect(problem.finding.contains("libSibling.so has owner 4711"), "\(problem)")
        try mend(folder, problem)
    }

    @Test func `lint judges what an installed file would be judged by, and leaves others' drafts alone`()
        throws
    {
        let folder = try folder()
        let file = folder.path + "/manifests/a.yaml"
        try folder.run("chown", "4711", file)
        #expect(ManifestLinter.lint(files: [file], pluginsDirectory: nil) == [])
        let found = ManifestLinter.lint(files: [file], pluginsDirectory: folder.path + "/plugins")
        #expect(found.first?.finding.hasPrefix("untrusted: ") == true)
    }

    /// The problems that the registry finds with the command of a custom condition.
    private func problems(_ folder: TemporaryFolder, _ command: String) throws -> [ManifestProblem] {
        try FileManager.default.createDirectory(
            atPath: folder.path + "/conditions.d", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
        try folder.write(
            "conditions.d/x.yaml",
            """
            apiVersion: bgtask/v1
            condition: docked
            source: {command: \(command), interval: 30s}
            predicate: {equals: 0}
            """)
        let registry = HandlerRegistry(
            manifestsDirectory: folder.path + "/manifests", pluginsDirectory: folder.path + "/plugins",
            libraryCacheDirectory: folder.path + "/cache",
            conditionsDirectory: folder.path + "/conditions.d")
        return registry.scan().problems
    }

    @Test(arguments: [
        "[PATH/run]", "[/bin/sh, PATH/run]", "[/usr/bin/env, -i, python3, PATH/run]", "[PATH/caller]",
        "[/usr/bin/env, LD_PRELOAD=PATH/run, /bin/true]", "[PATH/second]", "[PATH/split]",
        "[/lib64/ld-linux-x86-64.so.2, PATH/run]", "[PATH/shell, PATH/run]", "[/usr/bin/setsid, PATH/run]",
        "[/usr/bin/env, LD_PRELOAD=/lib64/ld-linux-x86-64.so.2:PATH/run, /bin/true]",
        "[/usr/bin/env, -S, 'sh PATH/run']", "[/usr/bin/env, '-SPATH/run x']", "[/usr/bin/mawk, -fPATH/run]",
    ])
    func `a condition's command executes nothing that others can change`(command: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("run", "#!/bin/sh\nexit 0\n", mode: 0o755)
        try folder.write("caller", "#!\(folder.path)/run with an argument\n", mode: 0o755)
        try folder.write("second", "#!/bin/sh \(folder.path)/run\n", mode: 0o755)
        try folder.run("ln", "-s", "/bin/sh", folder.path + "/shell")
        try folder.write("split", "#!/usr/bin/env -S \(folder.path)/run\n", mode: 0o755)
        let command = command.replacingOccurrences(of: "PATH", with: folder.path)
        #expect(try problems(folder, command) == [])
        try folder.run("chown", "4711", folder.path + "/run")
        let found = try #require(try problems(folder, command).first)
        #expect(found.severity == .error)
        #expect(found.finding.hasPrefix("untrusted: users other than root can change "), "\(found)")
        #expect(found.finding.contains("run has owner 4711"), "\(found)")
        #expect(found.line == 3 && found.remedy == "Run: chown root:root \(folder.path)/run", "\(found)")
    }

    @Test(arguments: [
        "[/bin/sh, PATH/open/later]", "[/bin/sh, RELATIVE/open/later]", "[/usr/bin/python3, PATH/open]",
    ])
    func `a script that others can create, or a directory that they can change, is not executed`(
        command: String
    ) throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/open", withIntermediateDirectories: false)
        let command = command.replacingOccurrences(of: "PATH", with: folder.path)
            .replacingOccurrences(of: "RELATIVE", with: folder.path.dropFirst())
        #expect(try problems(folder, command) == [])
        try folder.run("chown", "4711", folder.path + "/open")
        #expect(try problems(folder, command).first?.finding.hasPrefix("untrusted: ") == true)
    }

    @Test(arguments: [
        "[/bin/sh, -c, 'test -e /tmp/flag && exit 1']", "[/bin/sh, -c, /tmp/flag; exit 1]",
        "[/usr/bin/flock, /tmp/lock, id]", "[/usr/bin/env, OUT=/tmp/flag, id]",
        "[/usr/bin/timeout, 3, /bin/cat, /tmp/flag]", "[/usr/bin/mawk, '/tmp/ {exit 1}', /etc/fstab]",
    ])
    func `data that does not exist is no script`(command: String) throws {
        #expect(try problems(try TemporaryFolder(), command) == [])
    }

    @Test func `data that a condition's command reads may belong to others`() throws {
        let folder = try TemporaryFolder()
        try folder.write("value", "1\n")
        try folder.run("chown", "4711", folder.path + "/value")
        #expect(try problems(folder, "[/bin/cat, \(folder.path)/value]") == [])
        #expect(try problems(folder, "[/bin/test, -e, \(folder.path)/value]") == [])
    }
}

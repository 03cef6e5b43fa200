import Foundation
import HandlerRegistry
import TaskHostTestSupport
import TaskModel
import Testing

/// A host that runs as root examines what the dynamic loader loads for plugins and for commands.
@Suite(.system, .enabled(if: getuid() == 0, "only root's host refuses these"))
struct LoaderTrustTests {
    /// A folder with a plugin that needs libDep.so in the directory `third`, and the directory `open` with
    /// libFar.so, to which everybody can write.
    ///
    /// In the options for libDep.so and for the plugin, `OPEN` and `THIRD` are these directories.
    private func folder(dependency: [String] = [], plugin: [String] = []) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.run("mkdir", "\(folder.path)/third", "\(folder.path)/open", "\(folder.path)/conditions.d")
        try compile("int far(void) { return 1; }", "open/libFar.so", ["-shared", "-fPIC"], in: folder)
        try compile(
            "int dep(void) { return 1; }", "third/libDep.so", ["-shared", "-fPIC"] + dependency, in: folder)
        try compile(
            """
            extern int dep(void); int a(void) { return dep(); }
            const void *bgtask_plugin_entry(void) { return 0; }
            """, "plugins/libA.so",
            ["-shared", "-fPIC", "-LTHIRD", "-lDep", "-Wl,-rpath,THIRD"] + plugin, in: folder)
        try folder.write("manifests/a.yaml", HandlerRegistryTests.manifest("com.example.a"))
        return folder
    }

    private func compile(
        _ source: String, _ name: String, _ options: [String], in folder: TemporaryFolder
    ) throws {
        let file = "\(folder.path)/source.c"
        try Data(source.utf8).write(to: URL(fileURLWithPath: file))
        try folder.run(
            "cc",
            ["-o", "\(folder.path)/\(name)", file, "-Wl,--no-as-needed"]
                + options.map {
                    $0.replacingOccurrences(of: "OPEN", with: folder.path + "/open")
                        .replacingOccurrences(of: "THIRD", with: folder.path + "/third")
                })
    }

    /// The finding about the plugin or the condition, which must then not be in use.
    private func refusal(_ folder: TemporaryFolder) -> String {
        let snapshot = Self.registry(folder).scan()
        #expect(snapshot.handlers == [] && snapshot.conditions == [])
        let finding = snapshot.problems.first?.finding ?? "nothing is refused"
        #expect(finding.hasPrefix("untrusted: "), "\(snapshot.problems)")
        return finding
    }

    private static func registry(_ folder: TemporaryFolder) -> HandlerRegistry {
        HandlerRegistry(
            manifestsDirectory: folder.path + "/manifests", pluginsDirectory: folder.path + "/plugins",
            libraryCacheDirectory: folder.path + "/cache",
            conditionsDirectory: folder.path + "/conditions.d")
    }

    // MARK: Libraries of plugins

    @Test(arguments: [
        ["-Wl,-rpath,OPEN"], ["-Wl,-rpath,OPEN/missing"], ["-Wl,-rpath,$ORIGIN/../open"],
        ["-Wl,--disable-new-dtags,-rpath,OPEN"], ["OPEN/libFar.so"], ["-Wl,-f,OPEN/libFar.so"],
        ["-Wl,-F,$ORIGIN/../open/libFar.so"],
    ])
    func `what a library in a run path loads is examined`(options: [String]) throws {
        let folder = try folder(dependency: options)
        #expect(folder.registry.scan().problems == [])
        try folder.run("chmod", "0777", "\(folder.path)/open")
        let finding = refusal(folder)
        #expect(finding.contains("what library '\(folder.path)/third/libDep.so' loads by its run path"))
        #expect(finding.contains("\(folder.path)/open has owner 0 and mode 0777"))
    }

    @Test func `what a library of the third level loads is examined, for each plugin`() throws {
        let folder = try folder()
        let next = "\(folder.path)/next"
        try folder.run("mkdir", next)
        try compile(
            "int next(void) { return 1; }", "next/libNext.so", ["-shared", "-fPIC", "-Wl,-rpath,OPEN"],
            in: folder)
        try compile(
            "int dep(void) { return 1; }", "third/libDep.so",
            ["-shared", "-fPIC", "-L\(next)", "-lNext", "-Wl,-rpath,\(next)"], in: folder)
        try folder.run("cp", "\(folder.path)/plugins/libA.so", "\(folder.path)/plugins/libB.so")
        try folder.write(
            "manifests/b.yaml", HandlerRegistryTests.manifest("com.example.b", library: "libB.so"))
        #expect(folder.registry.scan().problems == [])
        #expect(folder.registry.scan().handlers.count == 2)
        try folder.run("chmod", "0777", "\(folder.path)/open")
        _ = refusal(folder)
        #expect(folder.registry.scan().problems.count == 2)
    }

    @Test(arguments: ["relative", "$LIB"])
    func `a run path of a library in a run path must not depend on the task or the machine`(
        entry: String
    ) throws {
        let folder = try folder(dependency: ["-Wl,-rpath,\(entry)"])
        #expect(refusal(folder).contains("libDep.so' has the entry '\(entry)'"))
    }

    @Test(arguments: [
        "glibc-hwcaps", "glibc-hwcaps/x86-64-v3", "tls", "x86_64", "haswell/avx512_1/x86_64",
    ])
    func `the directories below a run path that the loader searches are examined`(name: String) throws {
        let folder = try folder()
        let directory = "\(folder.path)/third/\(name)"
        try folder.run("mkdir", "-p", directory)
        #expect(folder.registry.scan().problems == [])
        try folder.run("chmod", "1777", directory)
        #expect(refusal(folder).contains("they can create files in the directory \(directory)"))
        try folder.run("chmod", "0755", directory)
        try folder.run("cp", "\(folder.path)/third/libDep.so", directory)
        #expect(folder.registry.scan().problems == [])
        try folder.run("chown", "4711", "\(directory)/libDep.so")
        // No library is loaded from glibc-hwcaps itself.
        if name == "glibc-hwcaps" {
            #expect(folder.registry.scan().problems == [])
        } else {
            #expect(refusal(folder).contains("\(directory)/libDep.so has owner 4711"))
        }
    }

    @Test(arguments: ["tls", "glibc-hwcaps", "libDep.so.1"])
    func `a link to nowhere is refused if others can make its target, also in a sticky directory`(
        name: String
    ) throws {
        let folder = try folder()
        try folder.run("ln", "-s", "\(folder.path)/open/missing", "\(folder.path)/third/\(name)")
        #expect(folder.registry.scan().problems == [])
        try folder.run("chmod", "1777", "\(folder.path)/open")
        #expect(refusal(folder).contains("they can create files in the directory \(folder.path)/open"))
    }

    /// The directory of the copy is the host's; others can be in between.
    @Test func `a run path out of the directory of the plugin's copy is examined`() throws {
        let folder = try folder(plugin: ["-Wl,-rpath,$ORIGIN/sub:$ORIGIN/../../open"])
        #expect(folder.registry.scan().problems == [])
        try folder.run("chmod", "0777", "\(folder.path)/open")
        #expect(refusal(folder).contains("what library 'libA.so' loads by its run path"))
    }

    @Test(arguments: ["-f", "-F"])
    func `a library beside the plugin that filters name is one that it needs`(option: String) throws {
        let folder = try folder(plugin: ["-Wl,\(option),libSibling.so"])
        try folder.run("cp", "\(folder.path)/open/libFar.so", "\(folder.path)/plugins/libSibling.so")
        let copy = try #require(folder.registry.scan().handlers.first?.libraryPath)
        #expect(
            FileManager.default.fileExists(
                atPath: URL(filePath: copy).deletingLastPathComponent().path + "/libSibling.so"))
        try folder.run("chown", "4711", "\(folder.path)/plugins/libSibling.so")
        #expect(refusal(folder).contains("libSibling.so has owner 4711"))
    }

    @Test func `more libraries than the host examines are refused`() throws {
        let folder = try folder()
        let library = "\(folder.path)/third/libDep.so"
        for number in 0..<4000 { #expect(link(library, "\(folder.path)/third/lib\(number).so") == 0) }
        #expect(folder.registry.scan().problems == [])
        for number in 4000..<4100 { #expect(link(library, "\(folder.path)/third/lib\(number).so") == 0) }
        #expect(refusal(folder).contains("more than 4096 libraries"))
    }

    @Test func `a damaged library in a run path is refused`() throws {
        let folder = try folder()
        try folder.run("truncate", "-s", "600", "\(folder.path)/third/libDep.so")
        #expect(refusal(folder).contains("libDep.so' loads: the file is truncated"))
    }

    /// Each level of these would have a longer path than the one before.
    @Test(arguments: ["-Wl,-rpath,$ORIGIN/../third", "-Wl,-f,$ORIGIN/../third/libDep.so"])
    func `libraries that name each other by way of the directory above are read once`(
        option: String
    ) throws {
        let folder = try folder(dependency: [option])
        #expect(folder.registry.scan().problems == [])
    }

    // MARK: Programs of commands

    /// A folder with a condition whose command is `PATH/bin/program`, and the directory `open`.
    private func program(_ options: [String], command: String = "[PATH/bin/program]") throws
        -> TemporaryFolder
    {
        let folder = try TemporaryFolder()
        try folder.run(
            "mkdir", "\(folder.path)/open", "\(folder.path)/bin", "\(folder.path)/conditions.d")
        try compile("int far(void) { return 1; }", "open/libFar.so", ["-shared", "-fPIC"], in: folder)
        try compile("int main(void) { return 0; }", "bin/program", options, in: folder)
        try folder.write("bin/script", "#!\(folder.path)/bin/program\n", mode: 0o755)
        try folder.write(
            "conditions.d/x.yaml",
            """
            apiVersion: bgtask/v1
            condition: docked
            source: {command: \(command.replacingOccurrences(of: "PATH", with: folder.path)), interval: 30s}
            predicate: {equals: 0}
            """)
        return folder
    }

    @Test(
        arguments: [
            ["-Wl,-rpath,OPEN"], ["-Wl,--disable-new-dtags,-rpath,OPEN"], ["-Wl,-rpath,$ORIGIN/../open"],
            ["OPEN/libFar.so"], ["-Wl,--dynamic-linker,OPEN/ld.so"], ["-Wl,--audit,OPEN/libFar.so"],
            ["-Wl,--depaudit,OPEN/libFar.so"],
        ], ["[PATH/bin/program]", "[PATH/bin/script]", "[/usr/bin/env, A=1, PATH/bin/program]"])
    func `what a command's program loads is examined`(options: [String], command: String) throws {
        let folder = try program(options, command: command)
        #expect(Self.registry(folder).scan().problems == [])
        try folder.run("chmod", "0777", "\(folder.path)/open")
        let finding = refusal(folder)
        #expect(finding.contains("'\(folder.path)/bin/program'"), "\(finding)")
        #expect(finding.contains("\(folder.path)/open has owner 0 and mode 0777"), "\(finding)")
    }

    @Test(arguments: [
        "-Wl,-rpath,relative", "-Wl,-rpath,:OPEN", "-Wl,-rpath,$LIB", "-Wl,--dynamic-linker,ld.so",
    ])
    func `a program that loads what depends on the task or the machine is refused`(option: String) throws {
        #expect(
            refusal(try program([option])).contains("where that leads depends on the task or the machine"))
    }

    @Test func `the libraries in a program's own directory are examined, by its real path`() throws {
        let folder = try program(["-Wl,-rpath,$ORIGIN"])
        try folder.run("mkdir", "\(folder.path)/real")
        try folder.run("mv", "\(folder.path)/bin/program", "\(folder.path)/real")
        try folder.run("ln", "-s", "../real/program", "\(folder.path)/bin/program")
        try folder.run("cp", "\(folder.path)/open/libFar.so", "\(folder.path)/real")
        #expect(Self.registry(folder).scan().problems == [])
        try folder.run("chown", "4711", "\(folder.path)/real/libFar.so")
        #expect(refusal(folder).contains("\(folder.path)/real/libFar.so has owner 4711"))
    }

    @Test func `a program without section headers is examined`() throws {
        let folder = try program(["-Wl,-rpath,OPEN"])
        try folder.run("chmod", "0777", "\(folder.path)/open")
        let file = try FileHandle(forUpdating: URL(filePath: folder.path + "/bin/program"))
        // e_shoff, and e_shnum with e_shstrndx
        for (offset, count) in [(40, 8), (60, 4)] as [(UInt64, Int)] {
            try file.seek(toOffset: offset)
            try file.write(contentsOf: Data(count: count))
        }
        try file.close()
        #expect(refusal(folder).contains("what '\(folder.path)/bin/program' loads by its run path"))
    }

    @Test func `a path that can't be followed yet is refused`() throws {
        let folder = try program(["-Wl,-rpath,OPEN/missing/../lib"])
        try folder.run("chmod", "1777", "\(folder.path)/open")
        #expect(refusal(folder).contains("can't examine what '\(folder.path)/bin/program' loads"))
    }

    @Test func `a missing program that others can create is refused`() throws {
        let folder = try program([], command: "[PATH/open/missing]")
        #expect(Self.registry(folder).scan().conditions.count == 1)
        try folder.run("chmod", "1777", "\(folder.path)/open")
        #expect(refusal(folder).contains("they can create files in the directory \(folder.path)/open"))
    }

    @Test(arguments: ["sh", "env", "python3", "perl", "cc", "systemctl"])
    func `programs of the machine stay trusted`(name: String) throws {
        let path = "/usr/bin/\(name)"
        guard FileManager.default.fileExists(atPath: path) else { return }
        let folder = try program([], command: "[\(path)]")
        #expect(Self.registry(folder).scan().problems == [])
    }
}

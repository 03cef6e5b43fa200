import Authoring
import HandlerRegistry
import TaskModel
import Testing

/// The manifests that `bgtask run` writes.
@Suite struct CommandManifestTests {
    private func lint(_ manifest: CommandManifest) throws -> [String] {
        let folder = try Folder()
        let path = try manifest.write(to: folder.path)
        return ManifestLinter.lint(files: [path], pluginsDirectory: nil).map(\.description)
    }

    @Test(arguments: [
        "plain", "with space", "qu\"ote", "back\\slash", "line\nbreak", "tab\t", "#", "- a: b", "é", "",
    ])
    func `each word of a command is the same word in the manifest`(word: String) throws {
        let manifest = try CommandManifest(["/bin/echo", word], name: "echo", directory: "/usr")
        #expect(try lint(manifest) == [])
        let folder = try Folder()
        _ = try manifest.write(to: folder.path)
        let read = try ManifestLinter.manifests(in: folder.path, calls: CallSearch([])).0
        #expect(read.first?.tasks.first?.command?.action == .run(["/bin/echo", word]))
    }

    @Test func `what a shell would fill is no value of a payload`() throws {
        let manifest = try CommandManifest(
            ["/bin/bash", "-c", "echo ${HOME} it's"], name: "fill", directory: "/usr")
        #expect(try lint(manifest) == [])
        let folder = try Folder()
        _ = try manifest.write(to: folder.path)
        let read = try ManifestLinter.manifests(in: folder.path, calls: CallSearch([])).0
        #expect(
            read.first?.tasks.first?.command?.action
                == .script(#"exec '/bin/bash' '-c' 'echo ${HOME} it'\''s'"# + "\n"))
        let text = "SHELL=/bin/bash\nCFG=${HOME}/etc\n0 1 * * * cat ${CFG}"
        let job = try #require(CrontabImport.jobs(in: text, path: "tab", hasUsers: false).jobs.first)
        #expect(try lint(job.manifest) == [])
    }

    @Test func `the conditions and grants of a job are in its manifest`() throws {
        var manifest = try CommandManifest(["./report.v2.sh"], name: nil, directory: "/usr/lib")
        manifest.read = ["/usr/include"]
        manifest.write = ["/tmp"]
        manifest.usesNetwork = true
        manifest.requiresExternalPower = true
        manifest.requiresNetwork = true
        manifest.timings = [CommandManifest.Timing(every: "1d")]
        #expect(manifest.identifier == "local.report.run")
        #expect(manifest.action == .run(["/usr/lib/report.v2.sh"]))
        let folder = try Folder()
        _ = try manifest.write(to: folder.path)
        let (read, problems) = try ManifestLinter.manifests(in: folder.path, calls: CallSearch([]))
        #expect(problems.filter { $0.severity == .error } == [])
        let task = try #require(read.first?.tasks.first)
        #expect(task.requiresExternalPower && task.requiresNetworkConnectivity && task.ignoresDeviceActivity)
        #expect(task.schedule?.every == .seconds(86_400))
        #expect(task.command?.directory == "/usr/lib")
        #expect(read.first?.sandbox.write.map(\.path) == ["/tmp"])
        #expect(read.first?.sandbox.network == .all)
    }

    @Test func `a job of another command is not overwritten`() throws {
        let folder = try Folder()
        let first = try CommandManifest(["/bin/echo", "1"], name: "job", directory: "/usr")
        let path = try first.write(to: folder.path)
        #expect(try first.write(to: folder.path) == path)
        let second = try CommandManifest(["/bin/echo", "2"], name: "job", directory: "/usr")
        let error = #expect(throws: AuthoringError.self) { try second.write(to: folder.path) }
        #expect(error.map { "\($0)" }?.contains("--name") == true)
    }

    @Test(arguments: ["", "1a", "a_b", "ä", String(repeating: "a", count: 41)])
    func `a name that can't be part of an identifier is refused`(name: String) {
        #expect(throws: AuthoringError.self) {
            try CommandManifest(["/bin/echo"], name: name, directory: "/usr")
        }
    }
}

import Foundation
import HandlerRegistry
import TaskModel
import Testing

/// Grants whose files this machine lacks, as `bgtask lint` reports them.
@Suite struct GrantedFilesTests {
    private func problems(_ sandbox: String) throws -> [String] {
        let folder = try TemporaryFolder()
        try folder.write("data/file", "text")
        let text = """
            apiVersion: bgtask/v1
            bundle: com.example.a
            library: libA.so
            modes: [processing]
            tasks:
              - identifier: com.example.a
                kind: processing
                payload: {path: string}
            sandbox: \(sandbox.replacing("HERE", with: folder.path + "/data"))
            """
        try folder.write("data/a.yaml", text)
        return ManifestLinter.lint(
            files: [folder.path + "/data/a.yaml"], pluginsDirectory: nil, looksUpGrants: true
        ).map { "\($0.finding). \($0.remedy ?? "")".replacing(folder.path + "/data", with: "HERE") }
    }

    @Test func `a grant of a missing path has no effect`() throws {
        #expect(
            try problems("{read: [HERE/none], write: [HERE/new]}") == [
                "the read grant 'HERE/none' has no effect: this machine has no such path. "
                    + "Create it before the launch, or correct the path",
                "the write grant 'HERE/new' has no effect: this machine has no such path. "
                    + "Create it, or let the host create it: write: [{path: HERE/new, create: true}]",
            ])
    }

    @Test func `a write grant of a file is less than that of its directory`() throws {
        #expect(
            try problems("{write: [HERE/file]}") == [
                "the write grant 'HERE/file' is a file: a task can change it, but not replace or remove it. "
                    + "Grant the directory that contains it"
            ])
    }

    @Test func `grants that have an effect, or depend on a payload, are no problem`() throws {
        let grants =
            #"{read: [HERE/file, HERE, "${payload.path}"], write: [{path: HERE/x, create: true}]}"#
        #expect(try problems(grants) == [])
        #expect(try problems("{write: [HERE]}") == [])
    }
}

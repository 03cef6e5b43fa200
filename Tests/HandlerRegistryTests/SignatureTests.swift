import Foundation
import HandlerRegistry
import Signatures
import TaskHostTestSupport
import TaskModel
import Testing

/// A host whose configuration has public keys uses only files that one of the keys has signed.
@Suite(.system) struct SignatureTests {
    /// A folder with a manifest and a library, and a key that a registry of it trusts.
    private struct Vendor {
        let folder: TemporaryFolder
        let key: SecretKey
        let registry: HandlerRegistry

        init(trusting others: [PublicKey] = []) throws {
            folder = try TemporaryFolder()
            key = try SecretKey()
            registry = HandlerRegistry(
                manifestsDirectory: folder.path + "/manifests", pluginsDirectory: folder.path + "/plugins",
                libraryCacheDirectory: folder.path + "/cache",
                conditionsDirectory: folder.path + "/conditions.d",
                signatures: SignatureRule(keys: [key.publicKey] + others))
            try FileManager.default.createDirectory(
                atPath: folder.path + "/conditions.d", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755])
            try folder.compile("libA.so", "int a(void) { return 1; }")
            try folder.write("manifests/a.yaml", HandlerRegistryTests.manifest("com.example.a"))
        }

        func sign(_ names: String..., with other: SecretKey? = nil) throws {
            for name in names {
                let bytes = try Data(contentsOf: URL(filePath: "\(folder.path)/\(name)"))
                try folder.write(
                    name + Signature.suffix, (other ?? key).sign(Array(bytes), comment: "file:\(name)"))
            }
        }

        /// The problems of a scan, which permits no handler.
        func refusal() throws -> ManifestProblem {
            let snapshot = registry.scan()
            #expect(snapshot.handlers == [])
            #expect(snapshot.problems.count == 1)
            return try #require(snapshot.problems.first)
        }
    }

    @Test func `both the manifest and the library need a signature, and get one while the host runs`() throws
    {
        let vendor = try Vendor()
        let first = try vendor.refusal()
        #expect(first.finding.hasPrefix("untrusted: the host requires signatures (trust.keys)"), "\(first)")
        #expect(first.remedy?.hasPrefix("Sign the file, if you trust it: bgtask sign /") == true)
        try vendor.sign("manifests/a.yaml")
        let second = try vendor.refusal()
        #expect(second.finding.contains("the signature of library 'libA.so' can't be read"), "\(second)")
        try vendor.sign("plugins/libA.so")
        let snapshot = vendor.registry.scan()
        #expect(snapshot.problems == [])
        #expect(snapshot.handlers.count == 1)
    }

    @Test func `a change of a signed file is refused, and its last signed version stays active`() throws {
        let vendor = try Vendor()
        try vendor.sign("manifests/a.yaml", "plugins/libA.so")
        #expect(vendor.registry.scan().problems == [])
        try vendor.folder.write(
            "manifests/a.yaml", HandlerRegistryTests.manifest("com.example.a", task: "steal"))
        let snapshot = vendor.registry.scan()
        #expect(snapshot.handlers.first?.manifest.tasks.first?.pattern.base.rawValue == "com.example.a.work")
        let problem = try #require(snapshot.problems.first { $0.severity == .error })
        #expect(problem.finding.contains("does not match the file"), "\(problem)")
        try vendor.sign("manifests/a.yaml")
        #expect(
            vendor.registry.scan().handlers.first?.manifest.tasks.first?.pattern.base.rawValue
                == "com.example.a.steal")
    }

    @Test func `a changed library is not copied, so its first copy stays in use`() throws {
        let vendor = try Vendor()
        try vendor.sign("manifests/a.yaml", "plugins/libA.so")
        let copy = try #require(vendor.registry.scan().handlers.first?.libraryPath)
        try vendor.folder.compile("libA.so", "int a(void) { return 2; }")
        let snapshot = vendor.registry.scan()
        #expect(snapshot.handlers.first?.libraryPath == copy)
        #expect(snapshot.problems.first?.finding.contains("does not match the file") == true)
    }

    @Test func `a key that is not configured is named, with those that are`() throws {
        let vendor = try Vendor()
        let stranger = try SecretKey()
        try vendor.sign("manifests/a.yaml", "plugins/libA.so", with: stranger)
        let problem = try vendor.refusal()
        #expect(
            problem.finding.contains(
                "was made with the key \(stranger.publicKey.name), which is not in trust.keys"))
        #expect(problem.remedy?.contains(vendor.key.publicKey.name) == true)
    }

    @Test func `unsigned bytes never reach the reader of manifests or of libraries`() throws {
        let vendor = try Vendor()
        try vendor.folder.write("manifests/a.yaml", "{ not yaml")
        #expect(try vendor.refusal().finding.hasPrefix("untrusted: "))
        try vendor.folder.write("manifests/a.yaml", HandlerRegistryTests.manifest("com.example.a"))
        try vendor.sign("manifests/a.yaml")
        try vendor.folder.write("plugins/libA.so", "not a library")
        #expect(try vendor.refusal().finding.hasPrefix("untrusted: "))
    }

    @Test func `a condition needs a signature, because the host runs its command`() throws {
        let vendor = try Vendor()
        try vendor.sign("manifests/a.yaml", "plugins/libA.so")
        try vendor.folder.write(
            "conditions.d/docked.yaml",
            "apiVersion: bgtask/v1\ncondition: docked\ntype: boolean\ncommand: {run: [/bin/true], every: 1m}\n"
        )
        let problem = try #require(vendor.registry.scan().problems.first)
        #expect(problem.finding.contains("the signature of the condition can't be read"), "\(problem)")
    }

    /// Changes of one character in a signature file: in the signature, in the comment, and in its seal.
    @Test(arguments: [1, 2, 3])
    func `a signature file that was changed is refused`(line: Int) throws {
        let vendor = try Vendor()
        try vendor.sign("manifests/a.yaml", "plugins/libA.so")
        let path = "\(vendor.folder.path)/manifests/a.yaml" + Signature.suffix
        var lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        var characters = Array(lines[line])
        let place = characters.count - 6
        characters[place] = characters[place] == "A" ? "B" : "A"
        lines[line] = String(characters)
        try vendor.folder.write(
            "manifests/a.yaml" + Signature.suffix, lines.joined(separator: "\n") + "\n")
        #expect(try vendor.refusal().finding.contains("does not match the file"))
    }

    @Test func `minisign and bgtask verify each other's signatures`() throws {
        let folder = try TemporaryFolder()
        let files = URL(filePath: folder.path)
        try folder.write("text", "the contents\n")
        // Signed by bgtask, verified by minisign.
        let key = try SecretKey()
        try folder.write("text.minisig", key.sign(Array("the contents\n".utf8), comment: "file:text"))
        try folder.run("minisign", "-V", "-q", "-P", key.publicKey.text, "-m", "\(folder.path)/text")
        // Signed by minisign with bgtask's key file, verified by bgtask.
        try folder.write("key", key.file, mode: 0o600)
        for isHashed in [true, false] {
            try folder.run(
                "minisign", "-S", "-q", isHashed ? "-H" : "-l", "-s", "\(folder.path)/key", "-m",
                "\(folder.path)/text")
            let made = try Data(contentsOf: files.appending(path: "text.minisig"))
            try Signature(file: Array(made)).verify(Array("the contents\n".utf8), keys: [key.publicKey])
        }
        #expect(try SecretKey(file: key.file).publicKey == key.publicKey)
    }

    @Test func `a key with a password, a damaged key and a text that is no key are told apart`() throws {
        let key = try SecretKey()
        let lines = key.file.split(separator: "\n").map(String.init)
        func finding(_ line: String) -> String? {
            do {
                _ = try SecretKey(file: "comment\n\(line)\n")
                return nil
            } catch { return error.finding }
        }
        #expect(finding(lines[1]) == nil)
        var bytes = try #require(Data(base64Encoded: lines[1]))
        bytes[2] = UInt8(ascii: "S")
        bytes[3] = UInt8(ascii: "c")
        #expect(finding(bytes.base64EncodedString())?.contains("needs a password") == true)
        bytes = try #require(Data(base64Encoded: lines[1]))
        bytes[100] ^= 1
        #expect(finding(bytes.base64EncodedString())?.contains("damaged") == true)
        #expect(finding("nonsense") == "not a secret key of minisign")
        #expect(throws: SignatureError.self) { try PublicKey("RWnonsense") }
        #expect(try PublicKey(key.publicKey.text) == key.publicKey)
    }
}

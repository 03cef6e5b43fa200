import ArgumentParser
import Authoring
import LinuxSystem
import Signatures

struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Signs manifests, conditions and libraries, for hosts that require it.",
        discussion: """
            A host whose configuration has 'trust.keys' uses only files that one of these keys has signed. The \
            signature of FILE is the file FILE.minisig beside it, in the format of minisign: 'minisign -V' verifies \
            it, and 'minisign -S' can make it instead of this command.

            A new key is written to two files: the secret key to the given path, which only you can read and which has \
            no password, and the public key to the same path with '.pub' appended. Keep the secret key off the devices \
            that run the host.

            Examples:
              bgtask sign --new-key vendor.key
              bgtask sign --key vendor.key manifests/*.yaml Plugins/*.so
              BGTASK_TRUST_KEYS="$(tail -1 vendor.key.pub)" bgtaskd
            """)

    @Argument(help: ArgumentHelp("The files to sign.", valueName: "file"))
    var files: [String] = []

    @Option(help: ArgumentHelp("The file with the secret key.", valueName: "file"))
    var key: String?

    @Option(
        help: ArgumentHelp("Make a pair of keys, and write the secret one to this file.", valueName: "file"))
    var newKey: String?

    @Flag(help: .json)
    var json = false

    func validate() throws {
        guard (newKey == nil) != (key == nil) else {
            throw ValidationError("Give either --key FILE with the files to sign, or --new-key FILE.")
        }
        if newKey == nil, files.isEmpty { throw ValidationError("Give the files to sign.") }
        if newKey != nil, !files.isEmpty {
            throw ValidationError("Make the key first, then sign: bgtask sign --key FILE ...")
        }
    }

    func run() throws {
        let console = Console(json: json)
        try console.authoring {
            if let newKey { return try makeKey(newKey, console) }
            if let key { try sign(key, console) }
        }
    }

    private func makeKey(_ path: String, _ console: Console) throws {
        let key = try reporting(path) { try SecretKey() }
        let publicPath = path + ".pub"
        let publicFile = "untrusted comment: bgtask public key \(key.publicKey.name)\n\(key.publicKey.text)\n"
        for existing in [path, publicPath] where !DirectoryTree.isMissing(existing) {
            throw AuthoringError(
                existing, "the file already exists, and a key is never overwritten",
                "Choose another path")
        }
        try reporting(path) { try FileContents.create(path, Array(key.file.utf8), mode: 0o600) }
        try reporting(publicPath) { try FileContents.create(publicPath, Array(publicFile.utf8), mode: 0o644) }
        if json {
            return try console.print(
                json: NewKeyMessage(publicKey: key.publicKey.text, files: [path, publicPath]))
        }
        try console.line("Written: \(path) (secret) and \(publicPath)")
        try console.line("Add the public key to the configuration of the hosts, and restart them:")
        try console.line("  trust: {keys: [\(key.publicKey.text)]}")
    }

    private func sign(_ path: String, _ console: Console) throws {
        let key = try reporting(path) {
            try SecretKey(file: String(decoding: FileContents.read(path, limit: 4096), as: UTF8.self))
        }
        var written: [String] = []
        for file in files {
            let name = file.split(separator: "/").last.map(String.init) ?? file
            let signature = try reporting(file) {
                key.sign(try FileContents.read(file), comment: "file:\(name)")
            }
            let target = file + Signature.suffix
            // A host that reads the signature meanwhile gets the old one or the new one, never a part.
            let temporary = target + ".new"
            try reporting(target) {
                try? DirectoryTree.remove(temporary)
                try FileContents.create(temporary, Array(signature.utf8), mode: 0o644)
                _ = try DirectoryTree.rename(temporary, to: target)
            }
            written.append(target)
        }
        if json { return try console.print(json: SignedMessage(files: written, key: key.publicKey.text)) }
        for target in written { try console.line("Written: \(target)") }
    }

    /// Runs an action; a failure names the file.
    private func reporting<Result>(_ path: String, _ action: () throws -> Result) throws -> Result {
        do {
            return try action()
        } catch let error as SignatureError {
            throw AuthoringError(
                path, error.finding,
                error.remedy)
        } catch let error as SystemCallError {
            throw AuthoringError(
                path, "\(error)",
                "Give the path of a file that you can use")
        }
    }
}

/// What `sign --new-key --json` prints.
private struct NewKeyMessage: Encodable {
    var publicKey: String
    /// The file of the secret key, then that of the public key.
    var files: [String]
}

/// What `sign --json` prints.
private struct SignedMessage: Encodable {
    /// The signature files.
    var files: [String]
    /// The public key that verifies them.
    var key: String
}

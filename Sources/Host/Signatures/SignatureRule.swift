public import LinuxSystem

/// Which signatures the host requires of manifests, conditions and libraries.
///
/// The signature of a file is beside it, with ``Signature/suffix`` appended to its name.
public struct SignatureRule: Equatable, Sendable {
    /// The keys of which one must have signed each file; if there are none, no signature is required.
    public let keys: [PublicKey]

    /// Creates a rule; without keys, it accepts every file.
    public init(keys: [PublicKey] = []) { self.keys = keys }

    /// The identity of a file's signature file; `nil` if no signature is required, or if there is none.
    ///
    /// A verdict about a file holds until this or the identity of the file itself changes.
    public func signatureIdentity(of path: String) -> FileIdentity? {
        keys.isEmpty ? nil : try? FileIdentity(of: path + Signature.suffix)
    }

    /// Checks the signature of a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - contents: The bytes of the file; the caller must go on with these, not read the file again.
    ///   - name: How the message names the file, such as `the manifest`.
    /// - Returns: What is wrong, and what to do; `nil` if the file may be used.
    public func problem(
        with path: String, contents: [UInt8], called name: String
    ) -> (finding: String, remedy: String)? {
        guard !keys.isEmpty else { return nil }
        let file = path + Signature.suffix
        let bytes: [UInt8]
        do {
            bytes = try FileContents.read(file, limit: Signature.maximumSize)
        } catch {
            return (
                "untrusted: the host requires signatures (trust.keys), and the signature of \(name) can't be read: \(error)",
                "Sign the file, if you trust it: bgtask sign \(path) --key KEY"
            )
        }
        do {
            try Signature(file: bytes).verify(contents, keys: keys)
            return nil
        } catch {
            return ("untrusted: the signature of \(name), \(file), \(error.finding)", error.remedy)
        }
    }
}

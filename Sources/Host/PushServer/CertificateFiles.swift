import LinuxSystem
import NIOSSL
import Synchronization

/// The certificate and the key of the server, read again when the files change.
final class CertificateFiles: Sendable {
    private struct Loaded {
        let identities: [FileIdentity]
        let context: NIOSSLContext
    }

    private let certificate, key: String
    private let loaded: Mutex<Loaded?> = Mutex(nil)

    init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }

    /// The context for a new connection.
    ///
    /// If changed files can't be used, the earlier ones stay in force.
    ///
    /// - Throws: The error that keeps the files from being used, if no earlier ones were right.
    func context() throws -> NIOSSLContext {
        try loaded.withLock { loaded in
            let identities = [certificate, key].compactMap { try? FileIdentity(of: $0) }
            if let loaded, loaded.identities == identities { return loaded.context }
            do {
                let context = try read()
                loaded = Loaded(identities: identities, context: context)
                return context
            } catch {
                guard let earlier = loaded else { throw error }
                loaded = Loaded(identities: identities, context: earlier.context)
                return earlier.context
            }
        }
    }

    private func read() throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMFile(certificate).map {
            NIOSSLCertificateSource.certificate($0)
        }
        let key = try NIOSSLPrivateKey(file: key, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }
}

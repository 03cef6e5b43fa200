import LinuxSystem
import Logging
import NIOSSL
import Synchronization
import TaskModel

/// The certificate and the key of the server, read again when the files change.
final class CertificateFiles: Sendable {
    private struct Loaded {
        let identities: [FileIdentity]
        let context: NIOSSLContext
        /// When the first certificate of the chain ends to be valid, in seconds since 1970.
        let end: Int64
        var saidEnd = false
    }

    private let certificate, key: String
    private let logger: Logger
    private let moments: any MomentSource
    private let loaded: Mutex<Loaded?> = Mutex(nil)

    init(certificate: String, key: String, logger: Logger, moments: any MomentSource) {
        (self.certificate, self.key) = (certificate, key)
        (self.logger, self.moments) = (logger, moments)
    }

    /// The context for a new connection.
    ///
    /// If changed files can't be used, the earlier ones stay in force. The log says that, and that the
    /// certificate has expired: once for each change of the files.
    ///
    /// - Throws: The error that keeps the files from being used, if no earlier ones were right.
    func context() throws -> NIOSSLContext {
        try loaded.withLock { loaded in
            let identities = [certificate, key].compactMap { try? FileIdentity(of: $0) }
            var present: Loaded
            if let loaded, loaded.identities == identities {
                present = loaded
            } else {
                do {
                    let (context, end) = try read()
                    present = Loaded(identities: identities, context: context, end: end)
                } catch {
                    guard let earlier = loaded else { throw error }
                    logger.error(
                        "the changed certificate or key for pushes can't be used, so the earlier ones stay in force: \(error). Look at \(certificate) and \(key)"
                    )
                    present = Loaded(identities: identities, context: earlier.context, end: earlier.end)
                }
            }
            if present.end < moments.now().wall.wholeSeconds, !present.saidEnd {
                present.saidEnd = true
                logger.warning(
                    "the certificate for pushes has expired, so senders will refuse it: renew \(certificate)")
            }
            loaded = present
            return present.context
        }
    }

    private func read() throws -> (NIOSSLContext, end: Int64) {
        let certificates = try NIOSSLCertificate.fromPEMFile(certificate)
        let chain = certificates.map { NIOSSLCertificateSource.certificate($0) }
        let key = try NIOSSLPrivateKey(file: key, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return (
            try NIOSSLContext(configuration: configuration),
            certificates.first.map { Int64($0.notValidAfter) } ?? .max
        )
    }
}

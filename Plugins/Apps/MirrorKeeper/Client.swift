import Foundation
import os

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests files from the server; for a file that the mirror has, it asks only for a changed version.
struct Client: Sendable {
    static let logger = Logger(subsystem: "org.bgtask.mirrorkeeper", category: "client")

    /// The server's answer for a file.
    enum Answer: Sendable {
        case same
        case new(Data, IndexEntry)
    }

    /// The largest accepted file, in bytes; the mirror is meant for small files.
    static let largest = 16 << 20

    private let session: URLSession

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 20
        // The mirror stores the ETags itself. A cache would answer requests instead of the server.
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration)
    }

    func catalogue(at url: URL) async throws -> Catalogue {
        let (data, response) = try await session.data(for: URLRequest(url: url))
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else {
            throw MirrorProblem(description: "the server has no catalogue: \(status)")
        }
        return try Catalogue.read(data)
    }

    func fetch(_ file: Catalogue.File, relativeTo base: URL, _ known: IndexEntry?) async throws -> Answer {
        guard let escaped = file.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed),
            let url = URL(string: "./" + escaped, relativeTo: base)
        else { throw MirrorProblem(description: "it can't be converted to a URL") }
        if let known, let listed = file.sha256, known.sha256 == listed.lowercased() { return .same }
        var request = URLRequest(url: url)
        request.setValue(known?.tag, forHTTPHeaderField: "If-None-Match")
        request.setValue(known?.modified, forHTTPHeaderField: "If-Modified-Since")
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else {
            throw MirrorProblem(description: "the server does not speak HTTP")
        }
        if response.statusCode == 304, known != nil {
            guard file.sha256 == nil else {
                throw MirrorProblem(
                    description: "unchanged on the server, but the catalogue has another hash")
            }
            return .same
        }
        guard response.statusCode == 200 else {
            throw MirrorProblem(description: "the server answers \(response.statusCode)")
        }
        guard data.count <= Self.largest else {
            throw MirrorProblem(description: "\(data.count) bytes; the limit is \(Self.largest)")
        }
        let hash = SHA256.hex(of: data)
        if let listed = file.sha256, hash != listed.lowercased() {
            throw MirrorProblem(description: "its SHA-256 is \(hash), and the catalogue's is \(listed)")
        }
        return .new(
            data,
            IndexEntry(
                tag: response.value(forHTTPHeaderField: "ETag"),
                modified: response.value(forHTTPHeaderField: "Last-Modified"), sha256: hash))
    }
}

#if BackgroundTransfers
    import Foundation

    /// The questions and answers about sessions; `Documentation/Transfers.md` describes them.
    enum SessionMessages {
        struct Question: Encodable {
            var ask: String
            var session: String?
            var transfer: String?
            var keeps: Bool?
            var decision: String?
            var request: Request?
        }

        struct Request: Encodable {
            var url: String
            var method: String?
            var headers: [String]?
            var taskIdentifier: Int?
            var upload: String?
            var discretionary: Bool?
            var allowsMetered: Bool?
            var allowsConstrained: Bool?
            var earliestBeginDate: String?
            var asksBeforeBegin: Bool?
            var stallSeconds: Double?
            var resourceSeconds: Double?
            var priority: Double?
            var expectedToSend: Int64?
            var expectedToReceive: Int64?
            var note: String?
            var sendsLaunchEvents: Bool?
            var resumes: String?
        }

        struct Answer: Decodable, Sendable {
            var transfer: String?
            var resumable: Bool?
            var completed: Int64?
            var news: Transfer?
        }

        struct Transfer: Decodable, Sendable {
            var transfer: String
            var session: String
            var url: String
            var method: String?
            var headers: [String]
            var isUpload: Bool
            var note: String?
            var priority: Double?
            var earliestBeginDate: String?
            var state: String
            var outcome: String?
            var completed: Int64
            var total: Int64?
            var attempts: Int
            var submittedAt: String
            var endedAt: String?
            var status: Int?
            var finalURL: String?
            var responseHeaders: [String]?
            var failure: Failure?
            var file: String?
            var resumable: Bool
            var asks: Bool
            /// Older hosts do not send this key.
            var metrics: Metrics?
            /// The body of the answer to an upload; `nil` if there is none, or if it is in ``file``.
            var body: Data?

            var hasEnded: Bool { state == "ended" }
        }

        /// What the newest request of a transfer cost; times are seconds from its beginning.
        struct Metrics: Decodable, Sendable {
            var begin: String
            var nameLookup: Double
            var connect: Double
            var secureConnect: Double
            var request: Double
            var firstByte: Double
            var total: Double
            var redirects: Int
            var version: Int
            var isReused: Bool
            var responseHeaderBytes: Int64
            var requestHeaderBytes: Int64
            var remoteAddress: String
            var remotePort: Int
            var localAddress: String
            var localPort: Int
        }

        struct Failure: Decodable, Sendable {
            var domain: String
            var code: Int
            var message: String
        }
    }

    extension SessionMessages.Transfer {
        /// The request that the task was made with.
        var request: URLRequest? {
            guard let address = URL(string: url) else { return nil }
            var request = URLRequest(url: address)
            request.httpMethod = method ?? (isUpload ? "PUT" : "GET")
            for line in headers {
                guard let colon = line.firstIndex(of: ":") else { continue }
                request.setValue(
                    line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces),
                    forHTTPHeaderField: String(line[..<colon]))
            }
            return request
        }

        /// The bytes that were sent and received.
        var bytes: TaskExtras.Bytes {
            let length = total ?? NSURLSessionTransferSizeUnknown
            guard isUpload else {
                return .init(received: completed, expectedToReceive: status == nil ? total ?? 0 : length)
            }
            let answer = Int64(body?.count ?? 0)
            return .init(
                received: answer, expectedToReceive: answer, sent: completed, expectedToSend: length)
        }

        /// The response of the server; `nil` if there was none.
        ///
        /// If the host has continued a download, the newest response is about a part. The app did not ask for
        /// that, and it gets the whole file, so it also gets the response of the whole file.
        var response: HTTPURLResponse? {
            guard let status, let address = URL(string: finalURL ?? url) else { return nil }
            var fields: [String: String] = [:]
            for line in responseHeaders?.dropFirst() ?? [] {
                guard let colon = line.firstIndex(of: ":") else { continue }
                let name = String(line[..<colon])
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)
                fields[name] = fields[name].map { "\($0), \(value)" } ?? value
            }
            let isContinued = status == 206 && !isUpload && outcome == "succeeded"
            if isContinued {
                for name in fields.keys where name.lowercased() == "content-range" { fields[name] = nil }
                for name in fields.keys where name.lowercased() == "content-length" {
                    fields[name] = "\(completed)"
                }
            }
            let version = responseHeaders?.first?.split(separator: " ").first.map(String.init)
            return HTTPURLResponse(
                url: address, statusCode: isContinued ? 200 : status, httpVersion: version ?? "HTTP/1.1",
                headerFields: fields)
        }

        /// The code of Foundation's error for the failure of the transfer.
        var errorCode: Int {
            if outcome == "cancelled" { return NSURLErrorCancelled }
            guard let failure else { return NSURLErrorUnknown }
            switch (failure.domain, failure.code) {
            case ("host", 2), ("network", 28): return NSURLErrorTimedOut
            case ("host", 4): return NSURLErrorCannotMoveFile
            case ("host", _): return NSURLErrorCannotOpenFile
            case ("network", 1), ("network", 3): return NSURLErrorUnsupportedURL
            case ("network", 5), ("network", 6): return NSURLErrorCannotFindHost
            case ("network", 7): return NSURLErrorCannotConnectToHost
            case ("network", 47): return NSURLErrorHTTPTooManyRedirects
            case ("network", 35), ("network", 58): return NSURLErrorSecureConnectionFailed
            case ("network", 60): return NSURLErrorServerCertificateUntrusted
            case ("network", 18), ("network", 52), ("network", 55), ("network", 56):
                return NSURLErrorNetworkConnectionLost
            case ("network", _): return NSURLErrorCannotLoadFromNetwork
            default: return NSURLErrorBadServerResponse
            }
        }
    }
#endif

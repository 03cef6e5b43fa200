#if BackgroundTransfers
    public import Foundation
    public import FoundationNetworking

    // Foundation's classes of these names can't be made outside of it, so these have the same names. They win
    // in every file that imports this module, UIKit or SwiftUI, and not FoundationNetworking itself.

    /// What a task of a background session cost, as the host measured it.
    public final class URLSessionTaskMetrics: NSObject, Sendable {
        /// How a response was got.
        public typealias ResourceFetchType = FoundationNetworking.URLSessionTaskMetrics.ResourceFetchType
        /// How a server's address was found.
        public typealias DomainResolutionProtocol =
            FoundationNetworking.URLSessionTaskMetrics.DomainResolutionProtocol

        /// The newest request; the host does not keep those before a redirect, or before a break of the
        /// transfer.
        public let transactionMetrics: [URLSessionTaskTransactionMetrics]
        /// From the time at which the host accepted the task to its end.
        public let taskInterval: DateInterval
        /// How many redirects came before the newest request.
        public let redirectCount: Int

        init(_ transaction: URLSessionTaskTransactionMetrics, _ interval: DateInterval, redirects: Int) {
            transactionMetrics = [transaction]
            taskInterval = interval
            redirectCount = redirects
            super.init()
        }
    }

    /// What one request cost; dates are `nil` if there was no such step.
    public final class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
        // Unchecked: the object never changes.

        /// The request.
        public let request: URLRequest
        /// The response; `nil` if there was none.
        public let response: URLResponse?
        private let facts: SessionMessages.Metrics
        private let sent: Int64
        private let received: Int64

        init(
            _ request: URLRequest, _ response: URLResponse?, _ facts: SessionMessages.Metrics, sent: Int64,
            received: Int64
        ) {
            self.request = request
            self.response = response
            self.facts = facts
            self.sent = sent
            self.received = received
            super.init()
        }

        /// The date after some seconds; `nil` after none.
        private func date(_ seconds: Double) -> Date? {
            guard seconds > 0 else { return nil }
            return fetchStartDate.map { $0 + seconds }
        }

        private var isNew: Bool { !facts.isReused && facts.connect > 0 }

        /// When the request began.
        public var fetchStartDate: Date? { ControlMessages.date(of: facts.begin) }
        /// When the search for the address began; `nil` if a connection was used again.
        public var domainLookupStartDate: Date? { isNew ? fetchStartDate : nil }
        /// When the address was known; `nil` if a connection was used again.
        public var domainLookupEndDate: Date? { isNew ? date(facts.nameLookup) : nil }
        /// When the connection began; `nil` if one was used again.
        public var connectStartDate: Date? { domainLookupEndDate }
        /// When TLS began; `nil` without TLS, and if a connection was used again.
        public var secureConnectionStartDate: Date? {
            isNew && facts.secureConnect > 0 ? date(facts.connect) : nil
        }
        /// When TLS was agreed on; `nil` without TLS, and if a connection was used again.
        public var secureConnectionEndDate: Date? { isNew ? date(facts.secureConnect) : nil }
        /// When the connection was there, with TLS; `nil` if one was used again.
        public var connectEndDate: Date? { isNew ? date(max(facts.connect, facts.secureConnect)) : nil }
        /// When the request began to be sent.
        public var requestStartDate: Date? { date(facts.request) }
        /// The same as ``requestStartDate``, because libcurl does not measure the end.
        public var requestEndDate: Date? { requestStartDate }
        /// When the first byte of the response arrived.
        public var responseStartDate: Date? { date(facts.firstByte) }
        /// When the request ended; `nil` without a response.
        public var responseEndDate: Date? { facts.firstByte > 0 ? date(facts.total) : nil }

        /// The bytes of the body that was sent.
        public var countOfRequestBodyBytesBeforeEncoding: Int64 { sent }
        /// The bytes of the body that was sent.
        public var countOfRequestBodyBytesSent: Int64 { sent }
        /// The bytes of the request's header lines.
        public var countOfRequestHeaderBytesSent: Int64 { facts.requestHeaderBytes }
        /// The bytes of the file.
        public var countOfResponseBodyBytesAfterDecoding: Int64 { received }
        /// The bytes of the file.
        public var countOfResponseBodyBytesReceived: Int64 { received }
        /// The bytes of the response's header lines.
        public var countOfResponseHeaderBytesReceived: Int64 { facts.responseHeaderBytes }
        /// `http/1.0`, `http/1.1`, `h2` or `h3`; `nil` without a response.
        public var networkProtocolName: String? {
            switch facts.version {
            case 0: nil
            case 20: "h2"
            case 30: "h3"
            default: "http/\(facts.version / 10).\(facts.version % 10)"
            }
        }
        /// The server's address; `nil` without a connection.
        public var remoteAddress: String? { facts.remoteAddress.isEmpty ? nil : facts.remoteAddress }
        /// The server's port; `nil` without a connection.
        public var remotePort: Int? { facts.remotePort == 0 ? nil : facts.remotePort }
        /// This machine's address; `nil` without a connection.
        public var localAddress: String? { facts.localAddress.isEmpty ? nil : facts.localAddress }
        /// This machine's port; `nil` without a connection.
        public var localPort: Int? { facts.localPort == 0 ? nil : facts.localPort }
        /// Whether the connection was that of an earlier request.
        public var isReusedConnection: Bool { facts.isReused }
        /// Whether the machine uses a mobile network now.
        public var isCellular: Bool { App.shared.host.conditions.interfaces.contains(.cellular) }
        /// Whether the network is metered now.
        public var isExpensive: Bool {
            let network = App.shared.host.conditions.network
            return network == .metered || network == .constrained
        }
        /// Whether the network is in low-data mode now.
        public var isConstrained: Bool { App.shared.host.conditions.network == .constrained }
        /// Always false: the host does not say.
        public var isProxyConnection: Bool { false }
        /// Always false.
        public var isMultipath: Bool { false }
        /// Always from the network, because the host keeps no cache.
        public var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType { .networkLoad }
        /// Always unknown.
        public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol { .unknown }
    }
#endif

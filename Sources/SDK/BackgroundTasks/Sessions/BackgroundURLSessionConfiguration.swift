#if BackgroundTransfers
    import Foundation
    public import FoundationNetworking

    /// The configuration of a background session: its downloads and uploads are made by the host, and go on
    /// when the process that began them ends.
    ///
    /// `URLSessionConfiguration.background(withIdentifier:)` makes it.
    public class BackgroundURLSessionConfiguration: URLSessionConfiguration, @unchecked Sendable {
        // Unchecked: like Foundation's, a configuration is changed only before its session is made.

        /// The part of the session that talks to the host; `nil` until the session is made.
        weak var session: BackgroundSession?
        let sessionIdentifier: String

        /// What the members that Foundation lacks are set to.
        struct Wishes {
            var sendsLaunchEvents = true
            var allowsExpensive = true
            var allowsConstrained = true
            var container: String?
        }

        var wishes = Wishes()

        // Foundation calls its initialiser deprecated, and a subclass has no other.
        @available(*, deprecated)
        fileprivate init(named identifier: String) { sessionIdentifier = identifier }

        static func make(_ identifier: String) -> BackgroundURLSessionConfiguration {
            let made = (HostedConfiguration.self as any Making.Type).made(identifier)
            made.protocolClasses = [HostTransfer.self]
            made.timeoutIntervalForResource = 7 * 86_400
            return made
        }
    }

    /// The class of every configuration of a background session.
    ///
    /// It is a class of its own because the setter of `identifier` is internal in Foundation: the compiler
    /// fails in modules that see a class that overrides it.
    private final class HostedConfiguration: BackgroundURLSessionConfiguration, @unchecked Sendable {
        // Unchecked: it has no properties of its own.

        override var identifier: String? {
            get { sessionIdentifier }
            set {}
        }

        /// Copies the configuration; Foundation does that when a session is made.
        override func copy(with zone: NSZone? = nil) -> Any {
            let copy = BackgroundURLSessionConfiguration.make(sessionIdentifier)
            copy.session = session
            copy.wishes = wishes
            copy.isDiscretionary = isDiscretionary
            copy.allowsCellularAccess = allowsCellularAccess
            copy.timeoutIntervalForRequest = timeoutIntervalForRequest
            copy.timeoutIntervalForResource = timeoutIntervalForResource
            copy.httpAdditionalHeaders = httpAdditionalHeaders
            copy.httpMaximumConnectionsPerHost = httpMaximumConnectionsPerHost
            copy.networkServiceType = networkServiceType
            copy.requestCachePolicy = requestCachePolicy
            return copy
        }
    }

    /// Through a protocol, a deprecated function can be called without a warning.
    private protocol Making { static func made(_ identifier: String) -> BackgroundURLSessionConfiguration }
    extension HostedConfiguration: Making {
        @available(*, deprecated)
        fileprivate static func made(_ identifier: String) -> BackgroundURLSessionConfiguration {
            HostedConfiguration(named: identifier)
        }
    }

    extension URLSessionConfiguration {
        /// The wishes of a background session; of another, the standard ones, which can't be changed.
        private var common: BackgroundURLSessionConfiguration.Wishes {
            get {
                (self as? BackgroundURLSessionConfiguration)?.wishes
                    ?? BackgroundURLSessionConfiguration.Wishes()
            }
            set { (self as? BackgroundURLSessionConfiguration)?.wishes = newValue }
        }

        /// Whether the host launches the app when all transfers of the session have ended, and no process of
        /// the app has the session; true if not set.
        ///
        /// This and the following members have an effect only in background sessions.
        public var sessionSendsLaunchEvents: Bool {
            get { self is BackgroundURLSessionConfiguration && common.sendsLaunchEvents }
            set { common.sendsLaunchEvents = newValue }
        }

        /// Whether transfers may use a metered network; true if not set.
        public var allowsExpensiveNetworkAccess: Bool {
            get { common.allowsExpensive }
            set { common.allowsExpensive = newValue }
        }

        /// Whether transfers may use the network in low-data mode; true if not set.
        public var allowsConstrainedNetworkAccess: Bool {
            get { common.allowsConstrained }
            set { common.allowsConstrained = newValue }
        }

        /// Kept, and not used: the host makes all transfers of a bundle.
        @_disfavoredOverload
        public var sharedContainerIdentifier: String? {
            get { common.container }
            set { common.container = newValue }
        }

        /// True in a background session, whose transfers always wait for a network; setting has no effect.
        @_disfavoredOverload
        public var waitsForConnectivity: Bool {
            get { self is BackgroundURLSessionConfiguration }
            set {}
        }

        /// Makes the configuration of a background session.
        ///
        /// - Parameter identifier: The name of the session within the bundle, the same in each launch.
        /// - Returns: The configuration, for the initialiser of `URLSession`.
        public class func background(withIdentifier identifier: String) -> BackgroundURLSessionConfiguration {
            BackgroundURLSessionConfiguration.make(identifier)
        }

        /// Makes the configuration of a background session, for a variable of the general type.
        @_disfavoredOverload
        public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
            BackgroundURLSessionConfiguration.make(identifier)
        }
    }
#endif

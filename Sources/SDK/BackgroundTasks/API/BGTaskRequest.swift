public import Foundation

/// A request to launch a task; create one of the subclasses.
public class BGTaskRequest: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked, like Apple's class: the caller must not change a request from two threads at the same time.

    /// The identifier of the task to launch.
    public let identifier: String

    /// The earliest time at which the task may start; `nil` means immediately.
    ///
    /// A date more than 7 days ahead is accepted, and the author of the app gets advice. When the task starts
    /// depends on the conditions. Continued tasks ignore this date.
    public var earliestBeginDate: Date?

    /// A JSON object for the launch, at most 48 KiB; `nil` means that there is none.
    ///
    /// Apple's API does not have this property. The manifest must declare the keys of the object.
    public var payload: Data?

    package init(_ identifier: String) {
        self.identifier = identifier
        super.init()
    }

    /// Unavailable: a request needs an identifier.
    @available(*, unavailable, message: "Use a subclass's init(identifier:)")
    public override init() { misuse("BGTaskRequest", "a request needs an identifier") }

    /// Copies the request; the copy does not change with the original.
    public func copy(with zone: NSZone? = nil) -> Any { Self.request(for: facts) }

    /// The class of the request, its identifier and its constraints.
    public override var description: String {
        let date = earliestBeginDate.map { "\($0)" } ?? "(null)"
        return "<\(type(of: self)): \(identifier), earliestBeginDate: \(date)\(descriptionOfConstraints)>"
    }

    var descriptionOfConstraints: String { "" }

    /// The contents of the request, in the form that hosts accept.
    package var facts: RequestFacts {
        var facts = RequestFacts(identifier: identifier, kind: .appRefresh)
        facts.earliestBeginDate = earliestBeginDate
        facts.payload = payload
        return facts
    }

    /// Makes a request object with these contents.
    package static func request(for facts: RequestFacts) -> BGTaskRequest {
        let request: BGTaskRequest
        switch facts.kind {
        case .appRefresh, .push, .transferEvents, .appLaunch:
            request = BGAppRefreshTaskRequest(identifier: facts.identifier)
        case .processing, .activity:
            let processing =
                facts.isHealthResearch
                ? BGHealthResearchTaskRequest(identifier: facts.identifier)
                : BGProcessingTaskRequest(identifier: facts.identifier)
            processing.requiresExternalPower = facts.requiresExternalPower
            processing.requiresNetworkConnectivity = facts.requiresNetworkConnectivity
            if let research = processing as? BGHealthResearchTaskRequest {
                research.protectionTypeOfRequiredData = FileProtectionType(rawValue: facts.protectionType)
            }
            request = processing
        case .continuedProcessing:
            let continued = BGContinuedProcessingTaskRequest(
                identifier: facts.identifier, title: facts.title, subtitle: facts.subtitle)
            continued.strategy = facts.failsUnlessImmediate ? .fail : .queue
            continued.requiredResources = facts.requiresGPU ? .gpu : []
            request = continued
        }
        request.earliestBeginDate = facts.earliestBeginDate
        request.payload = facts.payload
        return request
    }
}

/// A request for a launch of up to 30 s that fetches what the user will see next.
public class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// Makes a request that may start immediately.
    ///
    /// - Parameter identifier: An identifier that the manifest permits.
    public init(identifier: String) { super.init(identifier) }
}

/// A request for a launch of some minutes while the device is idle.
public class BGProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// Whether the launch waits until a network is available; if `false`, there may be no network.
    public var requiresNetworkConnectivity = false

    /// Whether the launch waits for external power; if `true`, there is also no CPU limit while power is
    /// connected.
    public var requiresExternalPower = false

    /// Makes a request without constraints that may start immediately.
    ///
    /// - Parameter identifier: An identifier that the manifest permits.
    public init(identifier: String) { super.init(identifier) }

    package override var facts: RequestFacts {
        var facts = super.facts
        facts.kind = .processing
        facts.requiresExternalPower = requiresExternalPower
        facts.requiresNetworkConnectivity = requiresNetworkConnectivity
        return facts
    }

    override var descriptionOfConstraints: String {
        ", requiresExternalPower=\(requiresExternalPower ? 1 : 0), "
            + "requiresNetworkConnectivity=\(requiresNetworkConnectivity ? 1 : 0)"
    }
}

/// A request for a processing launch for a health study in which the user takes part.
///
/// The manifest needs the modes `processing` and `health-research`; the latter corresponds to Apple's
/// entitlement.
public class BGHealthResearchTaskRequest: BGProcessingTaskRequest, @unchecked Sendable {
    /// The protection of the data that the launch reads.
    ///
    /// The value has no effect here, because locking the screen does not protect files on Linux.
    public var protectionTypeOfRequiredData: FileProtectionType = .completeUntilFirstUserAuthentication

    package override var facts: RequestFacts {
        var facts = super.facts
        facts.isHealthResearch = true
        facts.protectionType = protectionTypeOfRequiredData.rawValue
        return facts
    }
}

/// A request for a launch that the user can watch and cancel; submit it in response to a user action.
public class BGContinuedProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// What to do if the launch cannot start now.
    public enum SubmissionStrategy: Int, Sendable {
        /// Refuse the request with ``BGTaskScheduler/Error/Code/immediateRunIneligible``.
        case fail = 0
        /// Keep the request; requests that wait start in the order of their submission.
        case queue = 1
    }

    /// Resources that a launch needs besides CPU time.
    public struct Resources: OptionSet, Sendable {
        /// A set of bits, one for each resource.
        public let rawValue: Int
        /// Wraps a set of bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// The GPU.
        public static let gpu = Resources(rawValue: 1 << 0)
    }

    /// The title that the user sees: not empty, and at most 1,024 bytes.
    public var title: String

    /// The second line, below the title: at most 1,024 bytes.
    public var subtitle: String

    /// What to do if the launch cannot start now.
    public var strategy = SubmissionStrategy.queue

    /// Resources that the launch needs; ``BGTaskScheduler/supportedResources`` must contain all of them.
    public var requiredResources: Resources = []

    /// Makes a request with the strategy ``SubmissionStrategy/queue``.
    ///
    /// - Parameters:
    ///   - identifier: An identifier that the manifest permits; if the manifest permits a wildcard, any
    ///     labels may replace the star.
    ///   - title: The title that the user sees.
    ///   - subtitle: The second line, below the title.
    public init(identifier: String, title: String, subtitle: String) {
        self.title = title
        self.subtitle = subtitle
        super.init(identifier)
    }

    package override var facts: RequestFacts {
        var facts = super.facts
        facts.kind = .continuedProcessing
        facts.title = title
        facts.subtitle = subtitle
        facts.failsUnlessImmediate = strategy == .fail
        facts.requiresGPU = requiredResources.contains(.gpu)
        return facts
    }
}

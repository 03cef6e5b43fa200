public import Foundation

/// What is asked of the scheduler; use one of its subclasses.
public class BGTaskRequest: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked, as Apple's: who changes one from two threads at once must see to it.

    /// The task.
    public let identifier: String

    /// Not before; `nil` has no delay.
    ///
    /// A floor, never a promise. Continued tasks ignore it.
    public var earliestBeginDate: Date?

    /// A JSON object that the launch gets, at most 48 KiB; `nil` means none.
    ///
    /// An extra of this host; a manifest must declare the keys.
    public var payload: Data?

    package init(_ identifier: String) {
        self.identifier = identifier
        super.init()
    }

    /// Requests have an identifier.
    @available(*, unavailable, message: "Use a subclass's init(identifier:)")
    public override init() { misuse("BGTaskRequest", "a request needs an identifier") }

    /// A copy that later changes of this request don't reach.
    public func copy(with zone: NSZone? = nil) -> Any { Self.request(for: facts) }

    /// The request's kind and what it asks for.
    public override var description: String {
        let date = earliestBeginDate.map { "\($0)" } ?? "(null)"
        return "<\(type(of: self)): \(identifier), earliestBeginDate: \(date)\(descriptionOfConstraints)>"
    }

    var descriptionOfConstraints: String { "" }

    /// What is asked, as hosts understand it.
    package var facts: RequestFacts {
        var facts = RequestFacts(identifier: identifier, kind: .appRefresh)
        facts.earliestBeginDate = earliestBeginDate
        facts.payload = payload
        return facts
    }

    /// The request that asks for it.
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

/// Asks for a launch of up to 30 s that fetches what the user will see next.
public class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// Makes a request without delay.
    ///
    /// - Parameter identifier: One that the manifest permits.
    public init(identifier: String) { super.init(identifier) }
}

/// Asks for minutes while the device is idle.
public class BGProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// Whether it waits for the network; `false` may find none.
    public var requiresNetworkConnectivity = false

    /// Whether it waits for external power; `true` also lifts the CPU limit while the power is there.
    public var requiresExternalPower = false

    /// Makes a request without delay or constraints.
    ///
    /// - Parameter identifier: One that the manifest permits.
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

/// Asks for a processing launch of a study that the user takes part in.
///
/// The manifest needs the mode `health-research` besides `processing`: it stands for Apple's entitlement.
public class BGHealthResearchTaskRequest: BGProcessingTaskRequest, @unchecked Sendable {
    /// How well protected the data is that the launch reads.
    ///
    /// Kept and given back; files here are not protected by the screen's lock, so nothing follows from it.
    public var protectionTypeOfRequiredData: FileProtectionType = .completeUntilFirstUserAuthentication

    package override var facts: RequestFacts {
        var facts = super.facts
        facts.isHealthResearch = true
        facts.protectionType = protectionTypeOfRequiredData.rawValue
        return facts
    }
}

/// Asks for a launch that the user sees and can cancel; submit it on the user's act.
public class BGContinuedProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// What to do where the launch can't start at once.
    public enum SubmissionStrategy: Int, Sendable {
        /// Refuse, with ``BGTaskScheduler/Error/Code/immediateRunIneligible``.
        case fail = 0
        /// Wait, first in first out.
        case queue = 1
    }

    /// What the launch needs besides CPU time.
    public struct Resources: OptionSet, Sendable {
        /// A bit per resource.
        public let rawValue: Int
        /// Wraps bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// The GPU.
        public static let gpu = Resources(rawValue: 1 << 0)
    }

    /// What the user sees.
    public var title: String

    /// The second line of what the user sees.
    public var subtitle: String

    /// What to do where the launch can't start at once.
    public var strategy = SubmissionStrategy.queue

    /// What the launch needs; the scheduler's ``BGTaskScheduler/supportedResources`` must have it.
    public var requiredResources: Resources = []

    /// Makes a request that waits for its turn.
    ///
    /// - Parameters:
    ///   - identifier: One that the manifest permits; under a wildcard any further labels.
    ///   - title: What the user sees.
    ///   - subtitle: The second line.
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

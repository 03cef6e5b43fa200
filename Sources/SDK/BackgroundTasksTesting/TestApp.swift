public import BackgroundTasks
public import Foundation
import Synchronization

/// The app under test, with a host that is played: permits, a virtual clock, what was submitted, logged and
/// launched.
///
/// Get one from ``withTestApp(bundle:permitting:at:_:)``. Callable from any thread.
public final class TestApp: Sendable {
    /// A kind of task, as a manifest gives it to an identifier.
    public enum Kind: Sendable {
        /// `appRefresh`.
        case appRefresh
        /// `processing`.
        case processing
        /// `continuedProcessing`.
        case continuedProcessing
        /// `push`.
        case push
        /// `activity`.
        case activity

        var kind: BackgroundTaskKind {
            switch self {
            case .appRefresh: .appRefresh
            case .processing: .processing
            case .continuedProcessing: .continuedProcessing
            case .push: .push
            case .activity: .activity
            }
        }

        /// The host's standard lease; `nil` has no end.
        var lease: TimeInterval? {
            switch self {
            case .appRefresh, .push: 30
            case .processing, .activity: 600
            case .continuedProcessing: nil
            }
        }
    }

    /// What a test can't ask for.
    public struct Failure: Error, CustomStringConvertible {
        /// What was asked, and what to do.
        public let description: String
    }

    let host: TestHost
    private let kinds: [String: Kind]
    private let launches = Mutex<[TestLaunch]>([])

    init(bundle: String, kinds: [String: Kind], date: Date) {
        self.kinds = kinds
        host = TestHost(
            AppPermits(
                bundle: bundle, identifiers: kinds.keys.sorted(), kinds: kinds.mapValues(\.kind), modes: []),
            date: date)
    }

    // MARK: Launching the app

    /// Runs a plugin's launch code: registers its handlers and closes registration.
    ///
    /// - Parameters:
    ///   - plugin: The `@main` type.
    ///   - entersBackground: Whether it then goes to the background, as at an app launch.
    public func start(_ plugin: (some BackgroundPlugin).Type, entersBackground: Bool = false) {
        finishLaunching { plugin.registerHandlers(with: .shared) }
        if entersBackground { plugin.didEnterBackground() }
    }

    /// Runs launch code of any other shape, and closes registration.
    ///
    /// - Parameter register: Registers the handlers.
    public func finishLaunching(_ register: () throws -> Void) rethrows {
        try register()
        _ = App.shared.finishLaunching()
    }

    // MARK: Launches

    /// Launches a task, whatever its begin date: takes its pending request, if there is one.
    ///
    /// - Parameters:
    ///   - identifier: A permitted identifier.
    ///   - payload: A JSON object; `nil` is what the pending request has.
    ///   - checkpoint: What the attempt before saved.
    ///   - attempt: From 1.
    /// - Returns: The launch, whose handler has been called or will be, on its queue.
    /// - Throws: ``Failure`` if the identifier is not permitted or has no handler.
    @discardableResult
    public func launch(
        _ identifier: String, payload: Data? = nil, checkpoint: Data? = nil, attempt: Int = 1
    ) throws -> TestLaunch {
        guard let kind = kind(of: identifier) else {
            throw Failure(
                description:
                    "\(identifier) is not permitted: name it in withTestApp(permitting:), as the manifest does"
            )
        }
        let request = host.take(identifier)
        var facts = LaunchFacts(
            identifier: identifier, kind: kind.kind, attempt: attempt, payload: payload ?? request?.payload,
            checkpoint: checkpoint, title: request?.title ?? "", subtitle: request?.subtitle ?? "",
            leaseEnd: kind.lease.map { host.now + $0 })
        facts.isHealthResearch = request?.isHealthResearch ?? false
        let launch = TestLaunch(facts, host: host)
        guard App.shared.launch(facts, over: launch.channel) != nil else {
            throw Failure(
                description:
                    "no launch handler is registered for \(identifier): register it before the launch")
        }
        launches.withLock { $0.append(launch) }
        return launch
    }

    private func kind(of identifier: String) -> Kind? {
        host.permits?.pattern(for: identifier).flatMap { kinds[$0] }
    }

    // MARK: Time

    /// The virtual date.
    public var now: Date { host.now }

    /// Moves the virtual clock: launches that outlive their lease expire, and pending requests that are due
    /// by then are launched, the earliest first.
    ///
    /// - Parameter seconds: How far; 0 launches what is due now.
    /// - Returns: What was launched.
    /// - Throws: ``Failure`` of a launch.
    @discardableResult
    public func advance(by seconds: TimeInterval) throws -> [TestLaunch] {
        host.advance(by: seconds)
        for launch in launches.withLock({ $0 }) where !launch.hasEnded {
            if let end = launch.facts.leaseEnd, end <= now { launch.expire(.leaseEnded) }
        }
        return try host.due().map { try self.launch($0) }
    }

    // MARK: What the app did

    /// The pending requests, as copies, in the order of their submission.
    public var pending: [BGTaskRequest] { host.pending().map(BGTaskRequest.request(for:)) }

    /// What was logged through `os`, and by the framework.
    public var log: [String] { host.lines }

    /// The advice that the framework would give the author of the plugin.
    public var advice: [String] { host.advice }

    // MARK: The machine

    /// Changes what the machine is like; notifications are posted.
    ///
    /// - Parameters:
    ///   - lowPowerMode: Whether low-power mode is on; `nil` leaves it.
    ///   - thermalState: How hot it is; `nil` leaves it.
    ///   - shouldDefer: Whether activities should stop; `nil` leaves it.
    ///   - offersGPU: Whether ``BackgroundTasks/BGTaskScheduler/supportedResources`` has the GPU; `nil`
    ///     leaves it.
    public func setConditions(
        lowPowerMode: Bool? = nil, thermalState: ProcessInfo.ThermalState? = nil, shouldDefer: Bool? = nil,
        offersGPU: Bool? = nil
    ) {
        host.changeConditions { conditions in
            if let lowPowerMode { conditions.isLowPower = lowPowerMode }
            if let thermalState { conditions.thermal = thermalState.rawValue }
            if let shouldDefer { conditions.shouldDefer = shouldDefer }
            if let offersGPU { conditions.hasGPU = offersGPU }
        }
    }

    /// Refuses every submission from now on, as a host does whose user switched refresh off; `nil` accepts
    /// them again.
    ///
    /// - Parameter code: The error's code.
    public func refuseSubmissions(with code: BGTaskScheduler.Error.Code?) { host.refuse(with: code) }
}

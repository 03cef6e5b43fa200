public import BackgroundTasks
public import Foundation
import Synchronization

/// The app under test, with a simulated host: it has permissions, a virtual clock, and lists of what was
/// submitted, logged and launched.
///
/// Use ``withTestApp(bundle:permitting:at:_:)`` to get one. You can use it from any thread.
public final class TestApp: Sendable {
    /// The kind of a task, as a manifest declares it.
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

        /// The default lease in seconds; `nil` means that run time is not limited.
        var lease: TimeInterval? {
            switch self {
            case .appRefresh, .push: 30
            case .processing, .activity: 600
            case .continuedProcessing: nil
            }
        }
    }

    /// An error of the test: it launched a task that cannot be launched.
    public struct Failure: Error, CustomStringConvertible {
        /// What is wrong, and what to do.
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

    /// Runs the launch code of a plugin: registers its handlers and ends registration.
    ///
    /// - Parameters:
    ///   - plugin: The `@main` type.
    ///   - entersBackground: Whether the plugin then enters the background, as at an app launch.
    public func start(_ plugin: (some BackgroundPlugin).Type, entersBackground: Bool = false) {
        finishLaunching { plugin.registerHandlers(with: .shared) }
        if entersBackground { plugin.didEnterBackground() }
    }

    /// Runs any other launch code, and ends registration.
    ///
    /// - Parameter register: A closure that registers the handlers.
    public func finishLaunching(_ register: () throws -> Void) rethrows {
        try register()
        _ = App.shared.finishLaunching()
    }

    // MARK: Launches

    /// Launches a task with its pending request, if there is one; the earliest begin date is ignored.
    ///
    /// - Parameters:
    ///   - identifier: A permitted identifier.
    ///   - payload: A JSON object; `nil` selects the payload of the pending request.
    ///   - checkpoint: The data that a previous attempt saved; `nil` means that there is none.
    ///   - attempt: The number of the attempt, from 1.
    /// - Returns: The launch; its handler is called on its queue, perhaps after this method returns.
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
            leaseEnd: kind.lease.map { host.now + $0 }, lastSuccess: host.lastSuccess(of: identifier))
        facts.isHealthResearch = request?.isHealthResearch ?? false
        let launch = TestLaunch(facts, host: host)
        launch.channel.whenEnded { [host] in
            if $0 == .completed(success: true) { host.succeed(identifier) }
        }
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

    /// The date on the virtual clock.
    public var now: Date { host.now }

    /// Advances the virtual clock.
    ///
    /// Launches whose lease has ended expire. Then pending requests that are due are launched, the earliest
    /// first.
    ///
    /// - Parameter seconds: How far to advance; 0 launches what is due now.
    /// - Returns: The new launches.
    /// - Throws: ``Failure`` if a task cannot be launched.
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

    /// The lines that were logged through `os` or by the framework.
    public var log: [String] { host.lines }

    /// The advice for the author of the plugin, as `code: message`.
    public var advice: [String] { host.advice }

    // MARK: The machine

    /// Changes the conditions of the machine; the usual notifications are posted.
    ///
    /// - Parameters:
    ///   - lowPowerMode: Whether low-power mode is on; `nil` keeps the old value.
    ///   - thermalState: How hot the machine is; `nil` keeps the old value.
    ///   - shouldDefer: Whether activities should stop early; `nil` keeps the old value.
    ///   - offersGPU: Whether ``BackgroundTasks/BGTaskScheduler/supportedResources`` contains the GPU; `nil`
    ///     keeps the old value.
    ///   - network: What `NWPathMonitor` reports; `nil` keeps the old value.
    ///   - interfaces: What the network is made of; empty means that the host does not know, and `nil` keeps
    ///     the old value.
    public func setConditions(
        lowPowerMode: Bool? = nil, thermalState: ProcessInfo.ThermalState? = nil, shouldDefer: Bool? = nil,
        offersGPU: Bool? = nil, network: NetworkState? = nil,
        interfaces: Set<InterfaceKind>? = nil
    ) {
        host.changeConditions { conditions in
            if let lowPowerMode { conditions.isLowPower = lowPowerMode }
            if let thermalState { conditions.thermal = thermalState.rawValue }
            if let shouldDefer { conditions.shouldDefer = shouldDefer }
            if let offersGPU { conditions.hasGPU = offersGPU }
            if let network { conditions.network = network.condition }
            if let interfaces {
                conditions.interfaces = interfaces.reduce(into: []) { $0.formUnion($1.condition) }
            }
        }
    }

    /// What a way to the network is made of.
    public enum InterfaceKind: Sendable {
        /// A wireless local network.
        case wifi
        /// A network of mobile phones.
        case cellular
        /// A cable.
        case wiredEthernet
        /// A VPN, a virtual device, or an unknown one.
        case other

        var condition: MachineConditions.Interfaces {
            switch self {
            case .wifi: .wifi
            case .cellular: .cellular
            case .wiredEthernet: .wired
            case .other: .other
            }
        }
    }

    /// The network of the machine.
    public enum NetworkState: Sendable {
        /// There is none.
        case none
        /// One in low-data mode.
        case constrained
        /// One for whose data the user pays.
        case metered
        /// One without costs.
        case unmetered
        /// The host does not know it, as at the start of a test.
        case unknown

        var condition: MachineConditions.Network {
            switch self {
            case .none: .none
            case .constrained: .constrained
            case .metered: .metered
            case .unmetered: .unmetered
            case .unknown: .unknown
            }
        }
    }

    /// Refuses all submissions from now on, as a host does when the user has switched background refresh off.
    ///
    /// - Parameter code: The code of the error; `nil` accepts submissions again.
    public func refuseSubmissions(with code: BGTaskScheduler.Error.Code?) { host.refuse(with: code) }
}

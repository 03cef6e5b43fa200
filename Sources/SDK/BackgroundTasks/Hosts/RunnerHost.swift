import CHandlerABI
import Foundation
import Synchronization

/// The connection to the host through the runner of a launch: it calls the functions of `bgtask.h`.
final class RunnerHost: AppHost, TaskChannel, @unchecked Sendable {
    // Unchecked: the runner's function table and task are constant for the life of the process. All functions
    // of the table that are called here may be called from any thread.
    private let task: OpaquePointer
    private let table: bgtask_host
    private let expirationHandler = Mutex<(@Sendable (Expiration) -> Void)?>(nil)
    private let callsInFlight = Mutex(0)
    private let conditionsHandler = Mutex<(@Sendable (MachineConditions) -> Void)?>(nil)

    let launch: LaunchFacts
    /// Whether the manifest has the mode `health-research`.
    private let isStudy: Bool
    let permits: AppPermits?
    var launchedFor: LaunchFacts? { launch }

    init(_ task: OpaquePointer, _ table: bgtask_host) {
        self.task = task
        self.table = table
        guard let launch = table.launch(task)?.pointee else {
            preconditionFailure("bgtask.h promises that the launch is never NULL")
        }
        let modes = Self.strings(launch.modes)
        isStudy = modes.contains(AppPermits.healthResearch)
        var facts = LaunchFacts(launch)
        facts.isHealthResearch = isStudy && facts.kind == .processing
        self.launch = facts
        assertionAllowance = Double(launch.assertion_allowance_milliseconds) / 1000
        let identifiers = Self.strings(launch.permitted_identifiers)
        var kinds: [String: BackgroundTaskKind] = [:]
        for (place, identifier) in identifiers.enumerated() {
            kinds[identifier] = BackgroundTaskKind(rawValue: Int(launch.permitted_kinds[place]))
        }
        permits = AppPermits(
            bundle: String(cString: launch.bundle), identifiers: identifiers, kinds: kinds,
            modes: modes)
    }

    /// The address of a symbol that the plugin's library exports; `nil` if there is none.
    func symbol(_ name: String) -> UnsafeMutableRawPointer? { table.symbol(task, name) }

    private static func strings(_ list: UnsafePointer<UnsafePointer<CChar>?>?) -> [String] {
        guard var next = list else { return [] }
        var strings: [String] = []
        while let text = next.pointee {
            strings.append(String(cString: text))
            next += 1
        }
        return strings
    }

    // MARK: Requests

    var isAsking: Bool { callsInFlight.withLock { $0 > 0 } }

    /// Makes a call that waits for the host, and counts it while it waits.
    private func asking<Answer>(_ call: () -> Answer) -> Answer {
        callsInFlight.withLock { $0 += 1 }
        defer { callsInFlight.withLock { $0 -= 1 } }
        return call()
    }

    func submit(_ facts: RequestFacts) throws(Refusal) {
        var why = [CChar](repeating: 0, count: 1024)
        let error = asking { facts.withRequest { table.submit(task, &$0, &why, why.count) } }
        guard error != BGTASK_OK else { return }
        let end = why.firstIndex(of: 0) ?? why.endIndex
        let text = String(decoding: why[..<end].map(UInt8.init(bitPattern:)), as: UTF8.self)
        throw Refusal(BGTaskScheduler.Error.Code(error), "\(facts.identifier): \(text)")
    }

    func cancel(_ identifier: String?) {
        let error = asking { table.cancel(task, identifier) }
        guard error != BGTASK_OK else { return }
        log(.warning, subsystem: nil, category: nil, "a cancellation was refused: the host is gone")
    }

    func pending() -> [RequestFacts] {
        let found = Found()
        _ = asking {
            table.pending(
                task,
                { request, context in
                    guard let request, let context else { return }
                    Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().take(request.pointee)
                }, Unmanaged.passUnretained(found).toOpaque())
        }
        return found.requests.map { request in
            var request = request
            request.isHealthResearch = isStudy && request.kind == .processing
            return request
        }
    }

    /// Collects the requests that the function `pending` of `bgtask_host` visits.
    private final class Found {
        var requests: [RequestFacts] = []

        func take(_ request: bgtask_pending_request) {
            var facts = RequestFacts(
                identifier: String(cString: request.identifier),
                kind: BackgroundTaskKind(rawValue: Int(request.kind.rawValue)) ?? .appRefresh)
            if request.earliest_begin_milliseconds > 0 {
                facts.earliestBeginDate = Date(milliseconds: request.earliest_begin_milliseconds)
            }
            facts.requiresExternalPower = request.requires_external_power != 0
            facts.requiresNetworkConnectivity = request.requires_network_connectivity != 0
            facts.title = String(cString: request.title)
            facts.subtitle = String(cString: request.subtitle)
            requests.append(facts)
        }
    }

    // MARK: Sessions

    func askAboutSessions(_ question: Data, isPatient: Bool) throws(Refusal) -> Data {
        guard let found = table.extension(task, BGTASK_SESSIONS) else {
            throw Refusal(
                .unavailable, "this host makes no transfers for sessions. Install a newer version of bgtask")
        }
        let sessions = found.assumingMemoryBound(to: bgtask_sessions.self).pointee
        let answer = Answer()
        var why = [CChar](repeating: 0, count: 1024)
        func call() -> bgtask_error {
            question.withUnsafeBytes { bytes in
                sessions.call(
                    task, bytes.baseAddress, bytes.count,
                    { bytes, length, context in
                        guard let bytes, let context else { return }
                        Unmanaged<Answer>.fromOpaque(context).takeUnretainedValue().data =
                            Data(bytes: bytes, count: length)
                    }, Unmanaged.passUnretained(answer).toOpaque(), &why, why.count)
            }
        }
        let error = isPatient ? call() : asking(call)
        guard error != BGTASK_OK else { return answer.data }
        let end = why.firstIndex(of: 0) ?? why.endIndex
        throw Refusal(
            BGTaskScheduler.Error.Code(error),
            String(decoding: why[..<end].map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    /// Takes the answer from the visitor of `bgtask_sessions`.
    private final class Answer {
        var data = Data("{}".utf8)
    }

    // MARK: Words for people

    func log(_ level: LogLevel, subsystem: String?, category: String?, _ message: String) {
        table.log_as(task, bgtask_log_level(UInt32(level.rawValue)), subsystem, category, message)
    }

    func advise(_ code: String, _ message: String) { table.advise(task, code, message) }

    func fault(_ code: String, _ message: String) { table.fault(task, code, message) }

    // MARK: Assertions

    func beginAssertion(_ name: String) -> UInt64? {
        var assertion: UInt64 = 0
        return table.begin_assertion(task, name, &assertion) == BGTASK_OK ? assertion : nil
    }

    func endAssertion(_ assertion: UInt64) { table.end_assertion(task, assertion) }

    let assertionAllowance: TimeInterval

    // MARK: Conditions

    var conditions: MachineConditions {
        var conditions = bgtask_conditions()
        conditions.struct_size = MemoryLayout<bgtask_conditions>.size
        table.conditions(task, &conditions)
        return MachineConditions(conditions)
    }

    func observeConditions(_ handler: @escaping @Sendable (MachineConditions) -> Void) {
        conditionsHandler.withLock { $0 = handler }
        table.set_conditions_handler(
            task,
            { _, conditions, context in
                guard let conditions, let context else { return }
                let host = Unmanaged<RunnerHost>.fromOpaque(context).takeUnretainedValue()
                host.conditionsHandler.withLock { $0 }?(MachineConditions(copying: conditions))
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    // MARK: The launch

    func report(completed: Int64, total: Int64) { _ = table.progress(task, completed, total, nil) }

    func setTitle(_ title: String, subtitle: String) { table.set_title(task, title, subtitle) }

    func save(checkpoint: Data?) -> Bool {
        guard let checkpoint else { return table.checkpoint(task, nil, 0) == BGTASK_OK }
        return checkpoint.withUnsafeBytes {
            table.checkpoint(task, $0.baseAddress, $0.count) != BGTASK_TOO_LARGE
        }
    }

    func complete(success: Bool, message: String?) { table.complete(task, success ? 1 : 0, message) }

    /// Does nothing: the host puts back the request of an expiring process that ends without completing.
    func endUnfinished() {}

    func setExpirationHandler(_ handler: (@Sendable (Expiration) -> Void)?) {
        expirationHandler.withLock { current in
            current = handler
            guard handler != nil else {
                table.set_expiration_handler(task, nil, nil)
                return
            }
            // The runner calls the handler on its control thread, never during this call.
            table.set_expiration_handler(
                task,
                { _, expiration, context in
                    guard let expiration, let context else { return }
                    let host = Unmanaged<RunnerHost>.fromOpaque(context).takeUnretainedValue()
                    host.expirationHandler.withLock { $0 }?(Expiration(expiration.pointee))
                }, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    /// If no expiration handler is set, reports that to the runner.
    ///
    /// An expiration ends a task without a handler at any time. After this report, the host also does not put
    /// the request back then, because the task had its chance to set a handler.
    func handlerReturned() {
        expirationHandler.withLock { current in
            if current == nil { table.set_expiration_handler(task, nil, nil) }
        }
    }

    var expiration: Expiration? {
        var expiration = bgtask_expiration()
        expiration.struct_size = MemoryLayout<bgtask_expiration>.size
        return table.expired(task, &expiration) == 1 ? Expiration(expiration) : nil
    }
}

extension LaunchFacts {
    init(_ launch: bgtask_launch) {
        self.init(
            identifier: String(cString: launch.identifier),
            kind: BackgroundTaskKind(rawValue: Int(launch.kind.rawValue)) ?? .appRefresh,
            attempt: Int(launch.attempt),
            payload: launch.payload.map { Data(bytes: $0, count: launch.payload_length) },
            checkpoint: launch.checkpoint.map { Data(bytes: $0, count: launch.checkpoint_length) },
            title: String(cString: launch.title), subtitle: String(cString: launch.subtitle),
            leaseEnd: launch.lease_end_nanoseconds == .max
                ? nil : Date(nanoseconds: launch.lease_end_nanoseconds, on: CLOCK_BOOTTIME),
            dataDirectory: String(cString: launch.data_directory),
            lastSuccess: launch.last_success_milliseconds < 0
                ? nil : Date(milliseconds: launch.last_success_milliseconds))
    }
}

extension Expiration {
    init(_ expiration: bgtask_expiration) {
        self.init(
            reason: String(cString: expiration.reason),
            deadline: Date(nanoseconds: expiration.deadline_nanoseconds, on: CLOCK_MONOTONIC),
            grace: Double(expiration.grace_milliseconds) / 1000)
    }
}

extension MachineConditions {
    /// Copies the struct of the runner, which may be an older and shorter one.
    init(copying told: UnsafePointer<bgtask_conditions>) {
        var conditions = bgtask_conditions()
        memcpy(&conditions, told, min(told.pointee.struct_size, MemoryLayout<bgtask_conditions>.size))
        self.init(conditions)
    }

    init(_ conditions: bgtask_conditions) {
        self.init()
        isLowPower = conditions.low_power_mode != 0
        thermal = Int(conditions.thermal.rawValue)
        power = Power(rawValue: Int(conditions.power.rawValue)) ?? .unknown
        battery = conditions.battery < 0 ? nil : Int(conditions.battery)
        refresh = Refresh(rawValue: Int(conditions.refresh.rawValue)) ?? .available
        shouldDefer = conditions.should_defer != 0
        hasGPU = conditions.gpu != 0
        network = Network(rawValue: Int(conditions.network.rawValue)) ?? .unknown
        interfaces = Interfaces(rawValue: conditions.interfaces)
    }
}

extension BGTaskScheduler.Error.Code {
    init(_ error: bgtask_error) {
        switch error {
        case BGTASK_TOO_MANY_PENDING: self = .tooManyPendingTaskRequests
        case BGTASK_NOT_PERMITTED, BGTASK_TOO_LARGE, BGTASK_INVALID_ARGUMENT: self = .notPermitted
        case BGTASK_IMMEDIATE_INELIGIBLE: self = .immediateRunIneligible
        default: self = .unavailable
        }
    }
}

extension Date {
    /// The date of a time on another clock, assuming that both clocks run at the same speed until then.
    fileprivate init(nanoseconds: Int64, on clock: clockid_t) {
        var now = timespec()
        clock_gettime(clock, &now)
        let left = Double(nanoseconds) / 1e9 - (Double(now.tv_sec) + Double(now.tv_nsec) / 1e9)
        self.init(timeIntervalSinceNow: left)
    }

    fileprivate init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// Milliseconds since 1970, limited to what the wire can carry; 0 means no delay.
    fileprivate var milliseconds: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded(.up)
        guard milliseconds > 0 else { return 0 }
        return milliseconds < 9e18 ? Int64(milliseconds) : .max
    }
}

extension RequestFacts {
    /// Calls `body` with the request as a C struct, whose strings are valid until `body` returns.
    fileprivate func withRequest<Answer>(_ body: (inout bgtask_request) -> Answer) -> Answer {
        var request = bgtask_request()
        request.struct_size = MemoryLayout<bgtask_request>.size
        request.earliest_begin_milliseconds = earliestBeginDate?.milliseconds ?? 0
        request.requires_external_power = requiresExternalPower ? 1 : 0
        request.requires_network_connectivity = requiresNetworkConnectivity ? 1 : 0
        request.deadline_milliseconds = deadline?.milliseconds ?? 0
        request.fails_unless_immediate = failsUnlessImmediate ? 1 : 0
        request.requires_gpu = requiresGPU ? 1 : 0
        request.kind = bgtask_kind(UInt32(kind.rawValue))
        return identifier.withCString { identifier in
            request.identifier = identifier
            return title.withCString { title in
                request.title = title
                return subtitle.withCString { subtitle in
                    request.subtitle = subtitle
                    return (payload ?? Data()).withUnsafeBytes { bytes in
                        if payload != nil {
                            request.payload = bytes.baseAddress
                            request.payload_length = bytes.count
                        }
                        return body(&request)
                    }
                }
            }
        }
    }
}

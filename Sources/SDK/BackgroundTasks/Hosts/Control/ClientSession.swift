import ControlChannel
import Foundation
import Synchronization

/// A registration of this process with a host, and the launches that the host then sends to it.
///
/// There is one session for each registered identifier for which something was submitted. Each session has a
/// thread that reads the host's messages.
final class ClientSession: Sendable {
    private let connection: ControlConnection
    private let conditions: @Sendable (MachineConditions) -> Void
    private let channels = Mutex<[String: ClientChannel]>([:])

    /// Registers an identifier with the host, and returns when the host has accepted it.
    ///
    /// - Parameters:
    ///   - identifier: The identifier as the app registered it; may be a wildcard.
    ///   - submission: The identifier that will be submitted next; refusals name it.
    ///   - connection: The connection to the host.
    ///   - host: Converts errors of the connection to refusals.
    ///   - conditions: Called with the conditions of the machine, on the session's thread.
    ///   - ended: Called when the connection has ended, on the session's thread.
    /// - Throws: The host's refusal.
    init(
        _ identifier: String, for submission: String, _ connection: ControlConnection, of host: ControlHost,
        conditions: @escaping @Sendable (MachineConditions) -> Void, ended: @escaping @Sendable () -> Void
    ) throws(Refusal) {
        self.connection = connection
        self.conditions = conditions
        let opened = DispatchSemaphore(value: 0)
        let refusal = Mutex<Refusal?>(nil)
        let thread = Thread { [self] in
            do throws(ControlFailure) {
                var stream = try connection.stream("POST", "/v1/clients?identifiers=\(identifier)")
                var isRegistered = false
                // A broken connection means the same as the end of the stream: the host is gone.
                while let event = (try? stream.next()) ?? nil {
                    if event.name == "registered", !isRegistered {
                        isRegistered = true
                        opened.signal()
                    } else {
                        take(event)
                    }
                }
                if !isRegistered {
                    refusal.withLock {
                        $0 = Refusal(.unavailable, "\(submission): the host closed the stream")
                    }
                    opened.signal()
                }
            } catch {
                refusal.withLock { $0 = host.refusal(error, of: submission) }
                opened.signal()
            }
            hostIsGone()
            ended()
        }
        thread.name = "BackgroundTasks.client"
        thread.start()
        opened.wait()
        if let refusal = refusal.withLock({ $0 }) { throw refusal }
    }

    private struct Launch: Decodable {
        var launch: String
        var identifier: String
        var kind: String
        var attempt: Int
        var payload: String?
        var checkpoint: String?
        var title: String
        var subtitle: String
        var leaseSeconds: Double?
    }

    private struct Expire: Decodable {
        var launch: String
        var reason: String
        var graceSeconds: Double
    }

    private struct Conditions: Decodable {
        var lowPowerMode: Bool
        var thermal: String
        var power: String
        var batteryPercent: Int?
        /// Older hosts do not send this key.
        var gpu: Bool?
        /// Older hosts do not send this key.
        var network: String?
        /// Older hosts do not send this key.
        var interfaces: [String]?
    }

    private func take(_ event: EventStreamDecoder.Event) {
        let (decoder, data) = (JSONDecoder(), Data(event.data))
        switch event.name {
        case "launch":
            if let launch = try? decoder.decode(Launch.self, from: data) { start(launch) }
        case "expire":
            guard let expire = try? decoder.decode(Expire.self, from: data) else { return }
            channels.withLock { $0[expire.launch] }?.expire(
                Expiration(
                    reason: expire.reason, deadline: Date(timeIntervalSinceNow: expire.graceSeconds),
                    grace: expire.graceSeconds))
        case "conditions":
            guard let told = try? decoder.decode(Conditions.self, from: data) else { return }
            var new = MachineConditions()
            new.isLowPower = told.lowPowerMode
            new.thermal = MachineConditions.thermalWords.firstIndex(of: told.thermal) ?? 0
            new.battery = told.batteryPercent
            new.power = MachineConditions.powerWords[told.power] ?? .unknown
            new.hasGPU = told.gpu ?? false
            new.network = told.network.flatMap { MachineConditions.networkWords[$0] } ?? .unknown
            for word in told.interfaces ?? [] {
                new.interfaces.formUnion(MachineConditions.interfaceWords[word] ?? .other)
            }
            conditions(new)
        default: break
        }
    }

    private func start(_ launch: Launch) {
        let id = launch.launch
        let channel = ClientChannel(connection, launch: id) { [weak self] in
            self?.channels.withLock { $0[id] = nil }
        }
        channels.withLock { $0[id] = channel }
        let facts = LaunchFacts(
            identifier: launch.identifier, kind: ControlMessages.kind(of: launch.kind),
            attempt: launch.attempt,
            payload: launch.payload.map { Data($0.utf8) },
            checkpoint: launch.checkpoint.flatMap { Data(base64Encoded: $0) }, title: launch.title,
            subtitle: launch.subtitle, leaseEnd: launch.leaseSeconds.map { Date(timeIntervalSinceNow: $0) })
        // There is a handler: it was registered before the request was submitted, and handlers cannot be
        // removed. If there is none all the same, the launch must not stay open.
        if App.shared.launch(facts, over: channel) == nil { channel.complete(success: false, message: nil) }
    }

    /// Expires all launches, as the runner does when its host dies.
    private func hostIsGone() {
        for channel in channels.withLock({ $0.values.map(\.self) }) {
            channel.expire(
                Expiration(
                    reason: "hostGone", deadline: Date(timeIntervalSinceNow: Self.graceWithoutHost),
                    grace: Self.graceWithoutHost))
        }
    }

    /// The grace period, in seconds, of a launch whose host died; the runner uses the same.
    private static let graceWithoutHost: TimeInterval = 2
}

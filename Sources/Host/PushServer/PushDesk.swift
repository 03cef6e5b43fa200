import LinuxSystem
import Logging
import NIOCore
import Pushes
import Synchronization
import TaskModel

/// What all connections share: their places, the rates, the secrets, and the host.
final class PushDesk: Sendable {
    private struct State {
        var places: PushPlaces<ObjectIdentifier>
        var rates: PushRates
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// When a refusal was last logged, on CLOCK_BOOTTIME, and how many came since.
        var refusals: (at: Duration, count: Int)?
    }

    let limits: PushServer.Limits
    private let secrets: PushSecretFiles
    private let receiver: any PushReceiver
    private let logger: Logger
    private let moments: any MomentSource
    private let state: Mutex<State>

    init(
        limits: PushServer.Limits, secrets: PushSecretFiles, receiver: any PushReceiver, logger: Logger,
        moments: any MomentSource
    ) {
        (self.limits, self.secrets, self.receiver) = (limits, secrets, receiver)
        (self.logger, self.moments) = (logger, moments)
        state = Mutex(
            State(
                places: PushPlaces(limits.connections),
                rates: PushRates(limits.rates, at: moments.now().boot)))
    }

    // MARK: Connections

    func open(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        let closed: (any Channel)? = state.withLock { state in
            state.channels[key] = channel
            let leaving = state.places.open(key, from: channel.remoteAddress?.ipAddress ?? "")
            return leaving.flatMap { state.channels[$0] }
        }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { state in
                state.places.close(key)
                state.channels[key] = nil
            }
        }
        closed?.close(promise: nil)
    }

    func begin(_ channel: any Channel) { state.withLock { $0.places.begin(ObjectIdentifier(channel)) } }

    func end(_ channel: any Channel) { state.withLock { $0.places.end(ObjectIdentifier(channel)) } }

    // MARK: Pushes

    /// Checks a whole request; what passes was signed by a sender that has the secret.
    func check(_ head: PushHead, _ body: [UInt8]) throws(PushRefusal) -> ReceivedPush {
        let now = moments.now()
        var known: [PushSecret] = []
        do {
            known = try secrets.secrets(of: head.bundle)
        } catch {
            logger.error("the secret of \(head.bundle) can't be used. \(error)")
        }
        try head.signed.check(body: body, secrets: known, at: now.wall)
        let payload = try PushBody.payload(of: body)
        let refusal: PushRefusal? = state.withLock { state in
            do throws(PushRefusal) {
                try state.rates.take(head.bundle, at: now.boot)
                return nil
            } catch {
                return error
            }
        }
        if let refusal { throw refusal }
        return ReceivedPush(
            bundle: head.bundle, payload: payload, priority: head.priority, key: "webhook \(head.signed.id)")
    }

    /// Gives a push to the host; returns the answer for its sender.
    func deliver(_ push: ReceivedPush) async -> PushAnswer {
        do throws(SubmissionError) {
            let (request, isRepeat) = try await receiver.receive(push)
            return PushAnswer(request, isRepeat: isRepeat)
        } catch {
            logger.notice("a push for \(push.bundle) was refused: \(error)")
            return PushAnswer(PushRefusal(error))
        }
    }

    /// Logs a refusal, at most one a minute: anyone who can connect can cause them.
    func note(_ refusal: PushRefusal, from channel: any Channel) {
        let now = moments.now().boot
        let others: Int? = state.withLock { state in
            if let last = state.refusals, now - last.at < .seconds(60) {
                state.refusals = (last.at, last.count + 1)
                return nil
            }
            defer { state.refusals = (now, 0) }
            return state.refusals?.count ?? 0
        }
        guard let others else { return }
        let more = others > 0 ? "; \(others) more since the last such line" : ""
        logger.notice(
            "a push from \(channel.remoteAddress?.ipAddress ?? "the network") was refused: \(refusal)\(more)")
    }
}

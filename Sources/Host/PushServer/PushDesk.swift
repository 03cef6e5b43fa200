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
        var refusals = RefusalGate()
        /// One for each bundle whose secrets can't be used.
        var secrets: [BundleIdentifier: RefusalGate] = [:]
    }

    let limits: PushServer.Limits
    private let secrets: PushSecretFiles
    let receiver: any PushReceiver
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
            // Anyone who can connect can cause this; only bundles that have a file get here.
            if let more = state.withLock({ $0.secrets[head.bundle, default: .init()].note(at: now.boot) }) {
                logger.error("the secret of \(head.bundle) can't be used. \(error)\(more)")
            }
        }
        try head.signed.check(body: body, secrets: known, at: now.wall)
        return ReceivedPush(
            bundle: head.bundle, payload: try PushBody.payload(of: body), priority: head.priority,
            key: "webhook \(head.signed.id)")
    }

    /// Gives a push to the host; returns the answer for its sender.
    ///
    /// A push that is known takes nothing from the rates: someone who has recorded it can send it any number
    /// of times, but can't sign another one.
    func deliver(_ push: ReceivedPush, from address: String?) async -> PushAnswer {
        do throws(SubmissionError) {
            if let request = try await receiver.earlier(push) { return PushAnswer(request, isRepeat: true) }
            if let refusal = take(push.bundle) {
                note(refusal, from: address)
                return PushAnswer(refusal)
            }
            let (request, isRepeat) = try await receiver.receive(push)
            // It was sent twice at the same time.
            if isRepeat { state.withLock { $0.rates.giveBack(push.bundle) } }
            return PushAnswer(request, isRepeat: isRepeat)
        } catch {
            logger.notice("a push for \(push.bundle) was refused: \(error)")
            return PushAnswer(PushRefusal(error))
        }
    }

    /// Counts a push of a bundle; returns why there may not be one.
    private func take(_ bundle: BundleIdentifier) -> PushRefusal? {
        let now = moments.now().boot
        return state.withLock { state in
            do throws(PushRefusal) {
                try state.rates.take(bundle, at: now)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Logs a refusal, at most one a minute: anyone who can connect can cause them.
    func note(_ refusal: PushRefusal, from address: String?) {
        let now = moments.now().boot
        guard let more = state.withLock({ $0.refusals.note(at: now) }) else { return }
        logger.notice("a push from \(address ?? "the network") was refused: \(refusal)\(more)")
    }
}

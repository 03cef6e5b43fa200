import ControlChannel
import Foundation
import Synchronization

/// A launch that runs in this process, towards the host across its control socket.
final class ClientChannel: TaskChannel {
    /// How often progress is sent at most: as often as the runner does.
    private static let interval = DispatchTimeInterval.milliseconds(50)

    private let connection: ControlConnection
    private let route: String
    /// Sends in order, one after the other.
    private let queue: DispatchQueue
    private let ended: @Sendable () -> Void

    private struct State {
        var news: Progress?
        var isScheduled = false
        var slot = ExpirationSlot()
    }

    private struct Progress: Encodable {
        var completed: Int64
        var total: Int64
    }

    private let state = Mutex(State())

    init(_ connection: ControlConnection, launch: String, ended: @escaping @Sendable () -> Void) {
        self.connection = connection
        route = "/v1/launches/\(launch)/"
        queue = DispatchQueue(label: "BackgroundTasks.client.\(launch)", qos: .utility)
        self.ended = ended
    }

    var expiration: Expiration? { state.withLock { $0.slot.expiration } }

    func report(completed: Int64, total: Int64) {
        let isFirst = state.withLock { state in
            state.news = Progress(completed: completed, total: total)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { queue.asyncAfter(deadline: .now() + Self.interval) { self.sendProgress() } }
    }

    private func sendProgress() {
        let news = state.withLock { state in
            state.isScheduled = false
            defer { state.news = nil }
            return state.news
        }
        if let news { send("progress", news) }
    }

    func setTitle(_ title: String, subtitle: String) {
        queue.async { self.send("title", ["title": title, "subtitle": subtitle]) }
    }

    func save(checkpoint: Data?) -> Bool {
        let text = checkpoint?.base64EncodedString() ?? ""
        queue.async { self.send("checkpoint", ["checkpoint": text]) }
        return true
    }

    func complete(success: Bool, message: String?) {
        guard state.withLock({ $0.slot.finish() }) else { return }
        // When this returns the host knows it: the process may end next.
        queue.sync {
            sendProgress()
            send("complete", Completion(success: success, message: message))
        }
        ended()
    }

    /// The process lives on, so there is nothing that would tell it from a handler that has not come to its
    /// end.
    func endUnfinished() { complete(success: false, message: nil) }

    private struct Completion: Encodable {
        var success: Bool
        var message: String?
    }

    func setExpirationHandler(_ handler: (@Sendable (Expiration) -> Void)?) {
        if let late = state.withLock({ $0.slot.set(handler) }) { handler?(late) }
    }

    /// The host says that the launch must end.
    func expire(_ expiration: Expiration) {
        switch state.withLock({ $0.slot.expire(expiration) }) {
        case .call(let handler): handler(expiration)
        case .end: complete(success: false, message: nil)
        case .nothing: break
        }
    }

    private func send(_ what: String, _ body: some Encodable) {
        guard let data = try? JSONEncoder().encode(body) else { return }
        // A launch that the host has ended meanwhile is not found any more: nothing is left to tell.
        _ = try? connection.send("POST", route + what, body: Array(data))
    }
}

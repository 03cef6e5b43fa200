import ControlChannel
import Foundation
import Synchronization

/// The connection of a launch in this process to the host at the other end of the control socket.
final class ClientChannel: TaskChannel {
    /// The shortest time between two reports of progress; the same as the runner's.
    private static let interval = DispatchTimeInterval.milliseconds(50)

    private let connection: ControlConnection
    private let route: String
    /// A serial queue, on which all messages to the host are sent in order.
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
        // This method returns when the host has received the completion, because the process may end next.
        queue.sync {
            sendProgress()
            send("complete", Completion(success: success, message: message))
        }
        ended()
    }

    /// Completes the launch without success.
    ///
    /// The host puts a launch back only if its process ends, but this process continues.
    func endUnfinished() { complete(success: false, message: nil) }

    private struct Completion: Encodable {
        var success: Bool
        var message: String?
    }

    func setExpirationHandler(_ handler: (@Sendable (Expiration) -> Void)?) {
        if let late = state.withLock({ $0.slot.set(handler) }) { handler?(late) }
    }

    /// Handles the host's request that the launch end.
    func expire(_ expiration: Expiration) {
        switch state.withLock({ $0.slot.expire(expiration) }) {
        case .call(let handler): handler(expiration)
        case .end: complete(success: false, message: nil)
        case .nothing: break
        }
    }

    private func send(_ what: String, _ body: some Encodable) {
        guard let data = try? JSONEncoder().encode(body) else { return }
        // If the host has ended the launch in the meantime, it answers with an error that needs no handling.
        _ = try? connection.send("POST", route + what, body: Array(data))
    }
}

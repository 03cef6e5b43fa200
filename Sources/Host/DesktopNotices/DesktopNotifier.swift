public import LinuxSystem
public import Logging
public import ServiceLifecycle
import Synchronization
public import TaskModel

/// Calls a function with each later line of the host's log, and with `nil` after the last one; returns a
/// function that ends it.
public typealias LogFollowing = @Sendable (@escaping @Sendable (LogLine?) -> Void) -> @Sendable () -> Void

/// Shows the notifications of apps on the user's desktop, by `org.freedesktop.Notifications` on the session
/// bus.
///
/// `run()` does so until a graceful shutdown. It connects to the bus at the first notification, so a host
/// without notifications has no connection.
public struct DesktopNotifier: Service {
    private let follow: LogFollowing
    private let desk: NoticeDesk

    /// Creates the service; nothing happens before `run()`.
    ///
    /// - Parameters:
    ///   - address: The address of the session bus.
    ///   - logger: Gets the log lines.
    ///   - moments: The clocks.
    ///   - follow: Follows the host's log.
    public init(
        address: String, logger: Logger, moments: any MomentSource = SystemClocks(),
        following follow: @escaping LogFollowing
    ) {
        self.follow = follow
        desk = NoticeDesk(address: address, logger: logger, moments: moments)
    }

    /// Serves until a graceful shutdown.
    public func run() async throws {
        let stop = follow { [desk] line in if let line { desk.take(line) } }
        try? await gracefulShutdown()
        stop()
        desk.finish()
    }
}

/// Sends notices to the session bus.
final class NoticeDesk: BusServant {
    private static let service = "org.freedesktop.Notifications"
    private static let object = BusObject(
        path: "/org/freedesktop/Notifications", interface: NoticeDesk.service)
    /// The name of the host on the bus, which has no methods.
    private static let busName = "org.bgtask.Notices"

    private struct State {
        var book: NoticeBook
        var bus: BusService?
        var isOver = false
        /// The notices that wait for the answer about the one before, whose number they may replace.
        ///
        /// The book limits their number.
        var waiting: [DesktopNotice] = []
        var isCalling = false
        /// Whether the log says that no desktop answers.
        var hasComplained = false
    }

    private let address: String
    private let logger: Logger
    private let moments: any MomentSource
    private let state: Mutex<State>

    init(address: String, logger: Logger, moments: any MomentSource) {
        (self.address, self.logger, self.moments) = (address, logger, moments)
        state = Mutex(State(book: NoticeBook(at: moments.now().boot)))
    }

    /// Handles a line of the log; does not block.
    func take(_ line: LogLine) {
        guard line.subsystem == NoticeBook.subsystem else { return }
        let now = moments.now().boot
        let decision = state.withLock { state in
            let decision = state.book.take(line, at: now)
            if case .show(let notice) = decision { state.waiting.append(notice) }
            return decision
        }
        switch decision {
        case .none: break
        case .tooMany(let isFirst):
            guard isFirst else { return }
            logger.notice(
                "too many notifications: a task may show \(NoticeBook.mostPerTask) in a minute, and all tasks \(NoticeBook.most). The others are only in the log"
            )
        case .show: showNext()
        }
    }

    /// Shows the oldest notice that waits, unless the desktop has not answered yet about the one before.
    private func showNext() {
        let next: (notice: DesktopNotice, replaced: UInt32)? = state.withLock { state in
            guard !state.isCalling, !state.waiting.isEmpty else { return nil }
            state.isCalling = true
            let notice = state.waiting.removeFirst()
            return (notice, state.book.replaced(by: notice))
        }
        if let next { show(next.notice, replacing: next.replaced) }
    }

    private func show(_ notice: DesktopNotice, replacing number: UInt32) {
        guard SystemBus.isAvailable, let bus = connection() else { return answered(notice, nil) }
        bus.call(
            Self.service, Self.object, "Notify",
            .values([
                .text(notice.identifier.rawValue), .number(number), .text(""), .text(notice.summary),
                .text(notice.body.withoutMarkup), .noTexts, .noEntries,
                // The desktop chooses how long it shows the notice.
                .signed(-1),
            ])
        ) { [self] answer in answered(notice, answer?.first) }
    }

    private func answered(_ notice: DesktopNotice, _ answer: BusValue?) {
        let isShown = state.withLock { state in
            state.isCalling = false
            guard case .integer(let number)? = answer else { return false }
            state.hasComplained = false
            state.book.remember(notice, number: UInt32(truncatingIfNeeded: number))
            return true
        }
        if !isShown { complain() }
        showNext()
    }

    /// The connection to the bus, which begins with the first notice; `nil` if there is none.
    private func connection() -> BusService? {
        state.withLock { state in
            if state.bus == nil, !state.isOver {
                state.bus = try? BusService(
                    address: address, name: Self.busName, watching: Self.service, servant: self)
            }
            return state.bus
        }
    }

    private func complain() {
        let isFirst = state.withLock { state in
            defer { state.hasComplained = true }
            return !state.hasComplained && !state.isOver
        }
        guard isFirst else { return }
        logger.notice(
            "no desktop shows the notification: \(Self.service) does not answer on \(address). It is only in the log"
        )
    }

    func finish() {
        let bus = state.withLock { state in
            state.isOver = true
            defer { state.bus = nil }
            return state.bus
        }
        bus?.cancel()
    }

    func joined() {}
    func left() {}
    func ownerChanged(of name: String, isOwned: Bool) {}
    func called(_ call: BusCall) -> Bool { false }
}

import BackgroundTasks
public import Foundation
import Synchronization

/// The notifications of the app, for a user who reads them with `bgtask logs --subsystem UserNotifications`.
///
/// A launch in the background has no screen and no session bus, so a notification is a line of the host's
/// log. The host of a user also shows it on the desktop. You can use the center from any thread.
open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    // Unchecked: the only variable state is behind a mutex.

    private static let theCenter = UNUserNotificationCenter()

    private struct State: @unchecked Sendable {
        // Unchecked: the delegate is only stored, because its methods are never called.
        weak var delegate: (any UNUserNotificationCenterDelegate)?
        var categories: Set<UNNotificationCategory> = []
        var advised = false
    }

    private let state = Mutex(State())

    private override init() { super.init() }

    /// The center of the app; delivers what has become due since the last process of the app.
    open class func current() -> UNUserNotificationCenter {
        theCenter.deliverDue()
        return theCenter
    }

    /// An object whose methods Apple's systems call; never called here.
    open weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { state.withLock { $0.delegate } }
        set {
            let box = Unshared(newValue)
            state.withLock { $0.delegate = box.value }
        }
    }

    /// Always false.
    open var supportsContentExtensions: Bool { false }

    // MARK: Permission

    /// Answers that the app may notify, without a question to a user.
    open func requestAuthorization(
        options: UNAuthorizationOptions = [],
        completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) { DispatchQueue.global().async { completionHandler(true, nil) } }

    /// Answers that the app may notify, without a question to a user.
    open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool { true }

    /// Calls a handler with what the app may do.
    open func getNotificationSettings(
        completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void
    ) { DispatchQueue.global().async { completionHandler(UNNotificationSettings()) } }

    /// What the app may do.
    open func notificationSettings() async -> UNNotificationSettings { UNNotificationSettings() }

    // MARK: Categories

    /// Replaces the categories of this process; no actions are shown.
    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        state.withLock { $0.categories = categories }
    }

    /// Calls a handler with the categories of this process.
    open func getNotificationCategories(
        completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void
    ) { DispatchQueue.global().async { [self] in completionHandler(state.withLock { $0.categories }) } }

    /// The categories of this process.
    open func notificationCategories() async -> Set<UNNotificationCategory> {
        state.withLock { $0.categories }
    }

    // MARK: Requests

    /// Delivers a notification at once, or stores it until its trigger is due.
    ///
    /// - Parameters:
    ///   - request: The notification; it replaces a pending one with the same identifier.
    ///   - completionHandler: Called on another thread with the error, or with `nil`.
    open func add(
        _ request: UNNotificationRequest,
        withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let result = Result { try accept(request) }
        guard let completionHandler else { return }
        DispatchQueue.global().async {
            if case .failure(let error) = result { completionHandler(error) } else { completionHandler(nil) }
        }
    }

    /// Delivers a notification at once, or stores it until its trigger is due.
    ///
    /// - Parameter request: The notification; it replaces a pending one with the same identifier.
    /// - Throws: ``UNError`` if the content or the trigger is wrong, or an error of the file system.
    open func add(_ request: UNNotificationRequest) async throws { try accept(request) }

    /// Calls a handler with the requests that are not due yet.
    open func getPendingNotificationRequests(
        completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void
    ) { DispatchQueue.global().async { [self] in completionHandler(requests()) } }

    /// The requests that are not due yet.
    open func pendingNotificationRequests() async -> [UNNotificationRequest] { requests() }

    /// Removes pending requests; unknown identifiers are ignored.
    open func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        for identifier in identifiers { shelf.remove(identifier, from: .pending) }
    }

    /// Removes all pending requests.
    open func removeAllPendingNotificationRequests() { shelf.removeAll(.pending) }

    // MARK: Delivered notifications

    /// Calls a handler with the delivered notifications that the app has not removed.
    open func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
        DispatchQueue.global().async { [self] in completionHandler(notifications()) }
    }

    /// The delivered notifications that the app has not removed.
    open func deliveredNotifications() async -> [UNNotification] { notifications() }

    /// Removes delivered notifications from the list; their lines stay in the log.
    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        for identifier in identifiers { shelf.remove(identifier, from: .delivered) }
    }

    /// Removes all delivered notifications from the list; their lines stay in the log.
    open func removeAllDeliveredNotifications() { shelf.removeAll(.delivered) }

    // MARK: Badge

    /// Does nothing, because there is no icon.
    open func setBadgeCount(
        _ newBadgeCount: Int,
        withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        guard let completionHandler else { return }
        DispatchQueue.global().async { completionHandler(nil) }
    }

    /// Does nothing, because there is no icon.
    open func setBadgeCount(_ newBadgeCount: Int) async throws {}

    // MARK: Delivery

    /// The most delivered notifications that are kept; beyond that, the oldest are removed.
    static let maximumDelivered = 100
    /// The most pending requests that are kept, as on iOS; beyond that, those due last are removed.
    static let maximumPending = 64

    private var shelf: NotificationShelf {
        let host = App.shared.host
        let name = "UserNotifications"
        if let launch = host.launchedFor {
            if let data = launch.dataDirectory {
                return NotificationShelf(
                    directory: URL(fileURLWithPath: data).appendingPathComponent("Library/\(name)"))
            }
            // A test's process.
            let temporary = FileManager.default.temporaryDirectory
            return NotificationShelf(
                directory: temporary.appendingPathComponent(
                    "\(name)-\(ProcessInfo.processInfo.processIdentifier)"))
        }
        let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        let own = support ?? FileManager.default.temporaryDirectory
        return NotificationShelf(
            directory: own.appendingPathComponent(ProcessInfo.processInfo.processName)
                .appendingPathComponent(name))
    }

    private func requests() -> [UNNotificationRequest] {
        deliverDue()
        return shelf.all(.pending).map(\.request)
    }

    private func notifications() -> [UNNotification] {
        deliverDue()
        return shelf.all(.delivered).map(UNNotification.init)
    }

    private func accept(_ request: UNNotificationRequest) throws {
        let name = "the notification '\(request.identifier)'"
        guard !request.content.facts.hasWrongUserInfo else {
            throw UNError(
                .notificationInvalidNoContent,
                "\(name): its userInfo is not a property list. Use only texts, numbers, dates, data, arrays "
                    + "and dictionaries with texts as keys.")
        }
        let now = App.shared.host.now
        let stored = StoredNotification(
            identifier: request.identifier, content: request.content.facts, trigger: request.trigger?.facts,
            date: now)
        guard let trigger = stored.trigger else {
            shelf.remove(request.identifier, from: .pending)
            try deliver(stored, at: now)
            return
        }
        guard let due = trigger.next(after: now) else {
            throw UNError(
                .notificationInvalidNoDate,
                "\(name): no date in the future matches its trigger. Give other components.")
        }
        var pending = stored
        pending.date = due
        try shelf.put(pending, in: .pending)
        for extra in shelf.all(.pending).dropFirst(Self.maximumPending) {
            shelf.remove(extra.identifier, from: .pending)
        }
        adviseOfTriggers()
        wait(until: due, from: now)
    }

    /// Delivers every pending request that is due.
    private func deliverDue() {
        let now = App.shared.host.now
        for request in shelf.all(.pending) where request.date <= now {
            guard shelf.remove(request.identifier, from: .pending) else { continue }
            try? deliver(request, at: now)
            guard let trigger = request.trigger, trigger.repeats, let next = trigger.next(after: now) else {
                continue
            }
            var again = request
            again.date = next
            try? shelf.put(again, in: .pending)
            wait(until: next, from: now)
        }
    }

    private func deliver(_ notification: StoredNotification, at date: Date) throws {
        var delivered = notification
        delivered.date = date
        try shelf.put(delivered, in: .delivered)
        let all = shelf.all(.delivered)
        for extra in all.dropLast(Self.maximumDelivered) { shelf.remove(extra.identifier, from: .delivered) }
        let line = notification.content.line
        guard !line.isEmpty else { return }
        App.shared.host.log(
            .notice, subsystem: "UserNotifications", category: notification.identifier, line)
    }

    /// Delivers in this process, if it is still running then.
    private func wait(until due: Date, from now: Date) {
        DispatchQueue.global().asyncAfter(deadline: .now() + due.timeIntervalSince(now)) {
            self.deliverDue()
        }
    }

    private func adviseOfTriggers() {
        guard App.shared.host.isLaunch else { return }
        let isFirst = state.withLock { state in
            defer { state.advised = true }
            return !state.advised
        }
        guard isFirst else { return }
        App.shared.host.advise(
            "triggerStartsNoProcess",
            "A notification with a trigger starts no process: it is delivered when a process of the bundle "
                + "next calls UNUserNotificationCenter.current(). To deliver it on time, submit a request with "
                + "an earliestBeginDate, and add the notification without a trigger in its handler.")
    }
}

/// Passes a delegate into the mutex.
private struct Unshared: @unchecked Sendable {
    // Unchecked: the center stores the delegate and never calls it.
    let value: (any UNUserNotificationCenterDelegate)?
    init(_ value: (any UNUserNotificationCenterDelegate)?) { self.value = value }
}

import BackgroundTasks
public import Foundation

/// What causes the delivery of a notification.
open class UNNotificationTrigger: NSObject, @unchecked Sendable {
    // Unchecked: the object never changes.

    let facts: TriggerFacts
    /// When a stored request is due; `nil` before it is added.
    let due: Date?

    init(_ facts: TriggerFacts, due: Date?) {
        self.facts = facts
        self.due = due
        super.init()
    }

    /// Whether the notification is delivered again and again.
    open var repeats: Bool { facts.repeats }

    func nextDate() -> Date? { due ?? facts.next(after: App.shared.host.now) }

    static func make(_ facts: TriggerFacts, due: Date) -> UNNotificationTrigger {
        switch facts {
        case .interval: UNTimeIntervalNotificationTrigger(facts, due: due)
        case .calendar: UNCalendarNotificationTrigger(facts, due: due)
        case .push: UNPushNotificationTrigger(facts, due: due)
        }
    }
}

/// Delivers a notification after a number of seconds.
open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// Creates a trigger; ends the process with Apple's message if the interval is too short.
    ///
    /// - Parameters:
    ///   - timeInterval: The number of seconds, more than 0; if the trigger repeats, at least 60.
    ///   - repeats: Whether the notification is delivered again after each interval.
    public init(timeInterval: TimeInterval, repeats: Bool) {
        if !(timeInterval > 0) {
            misuse("NSInternalInconsistencyException", "time interval must be greater than 0")
        }
        if repeats, timeInterval < 60 {
            misuse("NSInternalInconsistencyException", "time interval must be at least 60 if repeating")
        }
        super.init(.interval(seconds: timeInterval, repeats: repeats), due: nil)
    }

    override init(_ facts: TriggerFacts, due: Date?) { super.init(facts, due: due) }

    /// The number of seconds.
    open var timeInterval: TimeInterval {
        if case .interval(let seconds, _) = facts { seconds } else { 0 }
    }

    /// When the notification is delivered next.
    open func nextTriggerDate() -> Date? { nextDate() }
}

/// Delivers a notification at a date of the calendar.
open class UNCalendarNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// Creates a trigger.
    ///
    /// - Parameters:
    ///   - dateComponents: What the date matches, such as the hour 8.
    ///   - repeats: Whether the notification is delivered at every such date.
    public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
        super.init(.calendar(dateComponents, repeats: repeats), due: nil)
    }

    override init(_ facts: TriggerFacts, due: Date?) { super.init(facts, due: due) }

    /// What the date matches.
    open var dateComponents: DateComponents {
        if case .calendar(let components, _) = facts { components } else { DateComponents() }
    }

    /// When the notification is delivered next; `nil` if no date matches.
    open func nextTriggerDate() -> Date? { nextDate() }
}

/// The trigger of a notification that a server sent; never made here, because only silent pushes arrive.
open class UNPushNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    override init(_ facts: TriggerFacts, due: Date?) { super.init(facts, due: due) }
}

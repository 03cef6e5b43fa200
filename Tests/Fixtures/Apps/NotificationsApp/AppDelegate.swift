import BackgroundTasks
import UIKit
import UserNotifications

// Notifies in the ways that Apple documents, with completion handlers and with async functions.
@main
class AppDelegate: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        let open = UNNotificationAction(identifier: "OPEN", title: "Open", options: [.foreground])
        center.setNotificationCategories([
            UNNotificationCategory(
                identifier: "ARTICLE", actions: [open], intentIdentifiers: [], options: .customDismissAction)
        ])
        let names = ["news": news, "remind": remind, "look": look, "wrong": wrong]
        for (name, work) in names {
            BGTaskScheduler.shared.register(
                forTaskWithIdentifier: "org.example.notifications.\(name)", using: nil
            ) { task in
                Task {
                    await work()
                    task.setTaskCompleted(success: true)
                }
            }
        }
        return true
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        completionHandler([.banner, .sound])
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        print("answered: \(response.actionIdentifier)")
    }
}

/// Asks for permission, then tells of new articles; the second notification replaces the first.
private func news() async {
    let center = UNUserNotificationCenter.current()
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        center.requestAuthorization(options: [.alert, .sound, .badge]) { granted, error in
            print("granted: \(granted), error: \(error?.localizedDescription ?? "none")")
            done.resume()
        }
    }
    let settings = await center.notificationSettings()
    guard settings.authorizationStatus == .authorized, settings.alertSetting == .enabled else { return }
    for count in [1, 3] {
        let content = UNMutableNotificationContent()
        content.title = "Feed"
        content.subtitle = "Today"
        content.body = "\(count) new articles,\nthe best of them now"
        content.sound = .default
        content.badge = 3
        content.userInfo = ["count": count, "names": ["a", "b"]]
        content.categoryIdentifier = "ARTICLE"
        content.interruptionLevel = .timeSensitive
        let request = UNNotificationRequest(identifier: "articles", content: content, trigger: nil)
        do {
            try await center.add(request)
        } catch {
            print("not added: \(error)")
        }
    }
}

/// Adds notifications for later: in a moment, tomorrow, and every day at eight.
private func remind() async {
    let center = UNUserNotificationCenter.current()
    func remind(_ identifier: String, _ trigger: UNNotificationTrigger) {
        let content = UNMutableNotificationContent()
        content.title = "Reminder"
        content.body = identifier
        center.add(UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)) {
            error in
            if let error { print("not added: \(error)") }
        }
    }
    remind("soon", UNTimeIntervalNotificationTrigger(timeInterval: 0.05, repeats: false))
    remind("tomorrow", UNTimeIntervalNotificationTrigger(timeInterval: 86_400, repeats: false))
    remind("removed", UNTimeIntervalNotificationTrigger(timeInterval: 86_400, repeats: false))
    var morning = DateComponents()
    morning.hour = 8
    remind("morning", UNCalendarNotificationTrigger(dateMatching: morning, repeats: true))
    center.removePendingNotificationRequests(withIdentifiers: ["removed", "unknown"])
    // The process ends when its task has completed; the next one delivers what has become due by then.
}

/// Prints what earlier launches have left.
private func look() async {
    let center = UNUserNotificationCenter.current()
    let pending = await center.pendingNotificationRequests().map { request in
        "\(request.identifier) (\((request.trigger as? UNCalendarNotificationTrigger)?.dateComponents.hour ?? 0))"
    }
    print("pending: \(pending.sorted().joined(separator: ", "))")
    let delivered = await center.deliveredNotifications()
    for notification in delivered {
        let content = notification.request.content
        print(
            "delivered: \(notification.request.identifier), \(content.title), "
                + "\(content.userInfo["count"] as? Int ?? 0), \(content.badge ?? 0)")
    }
    center.removeAllDeliveredNotifications()
    center.removeAllPendingNotificationRequests()
    let rest = await center.deliveredNotifications().count + center.pendingNotificationRequests().count
    print("left: \(rest)")
}

/// Asks for what no center accepts.
private func wrong() async {
    let center = UNUserNotificationCenter.current()
    let content = UNMutableNotificationContent()
    content.title = "Wrong"
    var past = DateComponents()
    past.year = 2001
    let trigger = UNCalendarNotificationTrigger(dateMatching: past, repeats: false)
    do {
        try await center.add(UNNotificationRequest(identifier: "past", content: content, trigger: trigger))
    } catch UNError.notificationInvalidNoDate {
        print("refused: no date")
    } catch {
        print("refused for another reason: \(error)")
    }
    content.userInfo = ["self": Wrong()]
    center.add(UNNotificationRequest(identifier: "data", content: content, trigger: nil)) { error in
        print("refused: \((error as? UNError)?.code == .notificationInvalidNoContent)")
    }
    do {
        let url = URL(fileURLWithPath: "/nowhere/picture.png")
        content.attachments = [try UNNotificationAttachment(identifier: "picture", url: url)]
    } catch {
        print("no attachment: \(error.localizedDescription)")
    }
}

private final class Wrong {}

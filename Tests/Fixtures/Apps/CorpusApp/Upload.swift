import UIKit.UIApplication

// The end of work that began before the app entered the background, kept alive by an assertion.
final class Upload {
    private var backgroundTaskID: UIBackgroundTaskIdentifier = .invalid

    func sendUnsentChanges() {
        DispatchQueue.global().async {
            // Request the time, and store the identifier for the end of the work.
            self.backgroundTaskID = UIApplication.shared.beginBackgroundTask(withName: "Finish sending") {
                UIApplication.shared.endBackgroundTask(self.backgroundTaskID)
                self.backgroundTaskID = .invalid
            }
            print("sent, identifier: \(self.backgroundTaskID != .invalid)")
            UIApplication.shared.endBackgroundTask(self.backgroundTaskID)
            self.backgroundTaskID = .invalid
        }
    }
}

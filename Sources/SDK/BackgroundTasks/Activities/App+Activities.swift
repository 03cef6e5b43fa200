import Foundation

/// The activities of the app.
extension App {
    /// Keeps a block for its launch, and sees to it that one is pending.
    func schedule(_ activity: Activity) {
        let identifier = activity.scheduler.identifier
        keep(activity)
        // The launch's own end decides what is pending next.
        guard let launch = host.launchedFor, launch.identifier != identifier else { return }
        // Launch code runs in every process of the plugin: one that is pending keeps its window.
        App.callQueue.async { [self] in
            guard !host.pending().contains(where: { $0.identifier == identifier }),
                let request = activity.scheduler.nextRequest(after: nil, now: host.now)
            else { return }
            do {
                try submit(request)
            } catch {
                host.log(
                    .error, subsystem: nil, category: nil,
                    "the activity \(identifier) is not scheduled: \(error.localizedDescription)")
            }
        }
    }

    func unschedule(_ identifier: String) {
        forgetActivity(identifier)
        guard host.isLaunch else { return }
        App.callQueue.async { [self] in host.cancel(identifier) }
    }
}

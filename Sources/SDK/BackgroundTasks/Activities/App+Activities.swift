import Foundation

/// The part of the app that manages activities.
extension App {
    /// Stores a block for its launch.
    ///
    /// In a launch of another task, the method also ensures that a request for the activity is pending.
    /// Outside of a launch, as in tests of an app, there is no host that could have a request.
    func schedule(_ activity: Activity) {
        let identifier = activity.scheduler.identifier
        keep(activity)
        // In the launch of this activity, the end of the block decides about the next request.
        guard let launch = host.launchedFor, launch.identifier != identifier else { return }
        // Launch code runs in every process of the plugin. An existing request keeps its window.
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

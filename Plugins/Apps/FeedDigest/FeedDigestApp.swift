import BackgroundTasks
import SwiftUI
import os

/// Keeps a digest of feeds: it reads new entries every hour, and once a day it makes the digest smaller.
@main
struct FeedDigestApp: App {
    @Environment(\.scenePhase) private var phase

    init() {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: Chain.importing, using: nil) { task in
            Chain.run(task) { try await FolderImport(payload: task.payload).run() }
        }
        BGTaskScheduler.shared.register(forTaskWithIdentifier: Chain.compaction, using: nil) { task in
            Chain.submitCompaction()
            Chain.run(task) { try Compaction().run(now: Date()) }
        }
    }

    var body: some Scene {
        WindowGroup {
            Text("Feeds")
        }
        .onChange(of: phase) { _, phase in
            guard phase == .background else { return }
            Chain.submitRefresh()
            Chain.submitCompaction()
        }
        .backgroundTask(.appRefresh(Chain.refresh)) {
            // The next request comes first, so that refreshes continue even if this launch fails.
            Chain.submitRefresh()
            do {
                try await Refresh().run()
            } catch {
                Chain.logger.error("not refreshed: \(String(describing: error), privacy: .public)")
            }
        }
    }
}

/// Submits the requests of the next launches.
enum Chain {
    static let refresh = "org.bgtask.feeddigest.refresh"
    static let importing = "org.bgtask.feeddigest.import"
    static let compaction = "org.bgtask.feeddigest.compact"

    static let logger = Logger(subsystem: "org.bgtask.feeddigest", category: "tasks")

    /// Requests the next refresh, an hour from now at the earliest.
    static func submitRefresh() {
        let request = BGAppRefreshTaskRequest(identifier: refresh)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 60)
        submit(request)
    }

    /// Requests the next compaction, a day from now at the earliest, on external power.
    static func submitCompaction() {
        let request = BGProcessingTaskRequest(identifier: compaction)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 24 * 60 * 60)
        request.requiresExternalPower = true
        submit(request)
    }

    private static func submit(_ request: BGTaskRequest) {
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            logger.error("not submitted: \(error.localizedDescription, privacy: .public)")
        }
    }

    /// Does the work of a task in a Swift task; expiration cancels that Swift task.
    static func run(_ task: BGTask, _ work: @escaping @Sendable () async throws -> Void) {
        let running = Task {
            do {
                try await work()
                task.setTaskCompleted(success: true)
            } catch {
                logger.error(
                    "\(task.identifier, privacy: .public): \(String(describing: error), privacy: .public)")
                task.setTaskCompleted(success: false)
            }
        }
        task.expirationHandler = { running.cancel() }
    }
}

import BackgroundTasks
import os

/// Keeps a mirror of the files that a catalogue lists.
@main
struct MirrorKeeperPlugin: BackgroundPlugin {
    static let identifier = "org.bgtask.mirrorkeeper.update"
    private static let logger = Logger(subsystem: "org.bgtask.mirrorkeeper", category: "update")

    /// The payload of a request.
    private struct Payload: Decodable {
        /// The URL of the catalogue.
        let catalogue: String
    }

    static func registerHandlers(with scheduler: BGTaskScheduler) {
        scheduler.register(forTaskWithIdentifier: identifier, using: nil) { task in
            submitNext(like: task, with: scheduler)
            let progress = Progress(totalUnitCount: 0)
            let work = Task {
                do {
                    let update = try await run(task.payload, progress)
                    logger.notice("\(update.description, privacy: .public)")
                    task.setTaskCompleted(success: update.failed == 0)
                } catch {
                    logger.error(
                        "not updated, \(Int(progress.fractionCompleted * 100)) % done: \(String(describing: error), privacy: .public)"
                    )
                    task.setTaskCompleted(success: false)
                }
            }
            task.expirationHandler = { work.cancel() }
        }
    }

    private static func run(_ payload: Data?, _ progress: Progress) async throws -> Update {
        guard let payload, let text = try? JSONDecoder().decode(Payload.self, from: payload).catalogue,
            let catalogue = URL(string: text)
        else { throw MirrorProblem(description: "the request names no catalogue") }
        let mirror = Mirror(catalogue: catalogue, folder: URL(fileURLWithPath: "mirror", isDirectory: true))
        return try await mirror.update(progress)
    }

    /// Requests the next update of the same catalogue.
    private static func submitNext(like task: BGTask, with scheduler: BGTaskScheduler) {
        let request = BGProcessingTaskRequest(identifier: task.identifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 24 * 60 * 60)
        request.requiresNetworkConnectivity = true
        request.payload = task.payload
        do {
            try scheduler.submit(request)
        } catch {
            logger.error(
                "tomorrow's update is not submitted: \(error.localizedDescription, privacy: .public)")
        }
    }
}

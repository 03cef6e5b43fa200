import BackgroundTasks
import Synchronization
import os

/// Exports a directory into one archive while the user watches.
@main
struct DirectoryExportPlugin: BackgroundPlugin {
    static let identifier = "org.bgtask.directoryexport.export.*"
    private static let logger = Logger(subsystem: "org.bgtask.directoryexport", category: "export")

    static func registerHandlers(with scheduler: BGTaskScheduler) {
        scheduler.register(forTaskWithIdentifier: identifier, using: nil) { task in
            guard let task = task as? BGContinuedProcessingTask else { return }
            run(task)
        }
    }

    /// The payload of a request.
    private struct Payload: Decodable {
        let directory: String
        let destination: String
    }

    /// Runs on the dispatch queue of the registration; the expiration handler does not wait for that queue.
    private static func run(_ task: BGContinuedProcessingTask) {
        let stop = StopFlag()
        task.expirationHandler = { stop.raise() }
        do {
            let payload = try JSONDecoder().decode(Payload.self, from: task.payload ?? Data())
            let export = try Export(
                of: URL(fileURLWithPath: payload.directory, isDirectory: true),
                into: URL(fileURLWithPath: payload.destination, isDirectory: true))
            let title = task.title.isEmpty ? "Exporting \(payload.directory)" : task.title
            let place = task.checkpoint.flatMap { try? JSONDecoder().decode(Export.Place.self, from: $0) }
            if let place { logger.notice("continues after \(place.path, privacy: .public)") }

            let ending = try export.run(from: place, progress: task.progress, stop: stop) { event in
                switch event {
                case .began(let number, let count):
                    task.updateTitle(title, subtitle: "\(number) of \(count) files")
                case .reached(let place):
                    task.checkpoint = try? JSONEncoder().encode(place)
                }
            }
            switch ending {
            case .finished(let files):
                logger.notice("exported to \(export.archive.path, privacy: .public), files: \(files)")
                task.setTaskCompleted(success: true)
            case .stopped where task.expirationReason == .cancelledByUser:
                export.discard()
                task.setTaskCompleted(success: false)
            case .stopped:
                // The task does not complete. The host puts the request back, and the next attempt gets the
                // checkpoint.
                exit(0)
            }
        } catch {
            logger.error("\(String(describing: error), privacy: .public)")
            task.setTaskCompleted(success: false)
        }
    }
}

/// A flag that the expiration handler raises, and that the export checks.
final class StopFlag: Sendable {
    private let flag = Atomic(false)

    var isRaised: Bool { flag.load(ordering: .relaxed) }
    func raise() { flag.store(true, ordering: .relaxed) }
}

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

    /// What the request says.
    private struct Payload: Decodable {
        let directory: String
        let destination: String
    }

    /// Works on the queue of the registration, which expiration does not wait for.
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
            if let place { logger.notice("goes on after \(place.path, privacy: .public)") }

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
                logger.notice("\(files) files are in \(export.archive.path, privacy: .public)")
                task.setTaskCompleted(success: true)
            case .stopped where task.expirationReason == .cancelledByUser:
                export.discard()
                task.setTaskCompleted(success: false)
            case .stopped:
                // Without completing: the host puts the request back, and the next attempt gets the
                // checkpoint.
                exit(0)
            }
        } catch {
            logger.error("\(String(describing: error), privacy: .public)")
            task.setTaskCompleted(success: false)
        }
    }
}

/// Raised once, by the expiration handler; looked at by the work.
final class StopFlag: Sendable {
    private let flag = Atomic(false)

    var isRaised: Bool { flag.load(ordering: .relaxed) }
    func raise() { flag.store(true, ordering: .relaxed) }
}

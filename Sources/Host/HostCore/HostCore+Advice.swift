import HandlerRegistry
import Scheduling
import TaskModel

/// Advice to the authors of plugins, shown in the log and by `bgtask plugins`.
///
/// The host gives each piece of advice once for each version of the library.
extension HostCore {
    /// Gives a piece of advice, unless it was given before.
    ///
    /// - Parameters:
    ///   - launch: The launch that caused the advice.
    ///   - code: One word that identifies the advice, such as `neverCompleted`.
    ///   - message: The finding and the remedy, for people.
    mutating func advise(_ launch: LaunchRecord, _ code: String, _ message: String) {
        // The launch may have used a version of the library that is not installed any more.
        guard let hash = launch.libraryHash, handlers[launch.bundle]?.libraryHash == hash else { return }
        let piece = PluginAdvice(code: code, message: message, launch: launch.id, at: now.wall)
        guard advice.add(piece, of: launch.bundle, libraryHash: hash) else { return }
        log(
            .warning, "advice for \(launch.bundle): \(message) [\(code)]", launch: launch.id,
            identifier: launch.identifier)
        keepAdvice(of: launch.bundle)
    }

    /// Advises about a handler that completed without ever asking for notice of expirations.
    mutating func adviseToListen(_ id: LaunchID) {
        guard let record = launches[id]?.record, record.kind != .appLaunch else { return }
        advise(
            record, "noExpirationHandler",
            "\(declaredName(of: record)) set no expiration handler and did not ask for the expiration descriptor, so it is ended "
                + "at once when it must stop, and can save nothing. Set a handler before anything else: "
                + "host->set_expiration_handler, or task.expirationHandler")
    }

    /// Gives advice after the end of a launch: the handler never completed, the request got no further for
    /// too many attempts, or a chain ended.
    ///
    /// A chain is a task that submits its own next request each time it runs.
    mutating func advise(after end: LaunchEnd, of launch: OpenLaunch, putBack: TaskRequest?) {
        let record = launch.record
        let task = declaration(for: record.identifier)
        guard record.kind != .appLaunch, let task, !task.hasOwnProgram else { return }
        if end.outcome == .failed, end.reason == .exitedWithoutCompleting {
            advise(
                record, "neverCompleted",
                "\(declaredName(of: record)) returned or exited without completing, which counts as failed. Complete on every "
                    + "path: host->complete, or task.setTaskCompleted(success:)")
        }
        if end.reason == .attemptsWithoutProgress {
            advise(
                record, "attemptsWithoutProgress",
                "\(declaredName(of: record)) was stopped again and again and got no further, so the host gave its request "
                    + "up. When it must stop, save a checkpoint (host->checkpoint, or task.checkpoint) and begin with "
                    + "it in the next attempt, or report progress of the whole request. If the work needs more time, "
                    + "set a longer 'runtime' in the manifest")
        }
        let isRepeating = record.kind == .appRefresh || record.kind == .processing
        // A request of a client or of `bgtask launch` may be meant to run once. Only a request that the
        // plugin submitted is part of a chain.
        guard launch.request.submission.origin == .handler, end.outcome == .succeeded, isRepeating,
            task.schedule == nil, putBack == nil, requests.request(of: record.identifier) == nil,
            // The next request of the chain may already have a launch.
            launches.launch(of: record.identifier) == nil
        else { return }
        advise(
            record, "chainEnds",
            "\(record.identifier) will not run again: the plugin itself submitted its last request, the launch succeeded, no request "
                + "is pending, and the manifest has no schedule. If it should run again, submit the next request before "
                + "completing, or write 'schedule: {every: 15m}' in the manifest")
    }

    /// The identifier of a launch as the manifest declares it, so that a pattern such as `com.example.job.*`
    /// gets each piece of advice once.
    private func declaredName(of record: LaunchRecord) -> String {
        declaration(for: record.identifier).map { "\($0.pattern)" } ?? "\(record.identifier)"
    }

    /// Removes the advice about library versions that were replaced.
    mutating func forgetOldAdvice() {
        let installed = registered.handlers.map { ($0.manifest.bundle, $0.libraryHash) }
        for bundle in advice.forget(besides: Dictionary(installed, uniquingKeysWith: { $1 })) {
            keepAdvice(of: bundle)
        }
    }

    /// Stores that the advice was given; if this fails, the host gives the advice again after a restart.
    private mutating func keepAdvice(of bundle: BundleIdentifier) {
        store(
            .remember(.advice(bundle, advice.entries[bundle])), .fact("that \(bundle) was given advice"))
    }
}

import HandlerRegistry
import Scheduling
import TaskModel

/// What the authors of plugins are advised: once per version of the library, in the log and in `bgtask
/// plugins`.
extension HostCore {
    /// Enters a piece of advice, unless it was given before.
    ///
    /// - Parameters:
    ///   - launch: The launch that shows it.
    ///   - code: One word.
    ///   - message: What was found and what to do.
    mutating func advise(_ launch: LaunchRecord, _ code: String, _ message: String) {
        // A launch of a version that was replaced meanwhile says nothing of the one that is installed.
        guard let hash = launch.libraryHash, handlers[launch.bundle]?.libraryHash == hash else { return }
        let piece = PluginAdvice(code: code, message: message, launch: launch.id, at: now.wall)
        guard advice.add(piece, of: launch.bundle, libraryHash: hash) else { return }
        log(
            .warning, "advice for \(launch.bundle): \(message) [\(code)]", launch: launch.id,
            identifier: launch.identifier)
        keepAdvice(of: launch.bundle)
    }

    /// A handler has completed that never listened for an expiration.
    mutating func adviseToListen(_ id: LaunchID) {
        guard let record = launches[id]?.record, record.kind != .appLaunch else { return }
        advise(
            record, "noExpirationHandler",
            "\(record.identifier) set no expiration handler and did not ask for the expiration descriptor, so it is ended "
                + "at once when it must stop, and can save nothing. Set one before anything else: "
                + "host->set_expiration_handler, or task.expirationHandler")
    }

    /// What the end of a launch shows: a completion that never came, or a chain that is over.
    mutating func advise(after end: LaunchEnd, of launch: OpenLaunch, putBack: TaskRequest?) {
        let record = launch.record
        let task = declaration(for: record.identifier)
        guard record.kind != .appLaunch, let task, task.call == nil else { return }
        if end.outcome == .failed, end.reason == .exitedWithoutCompleting {
            advise(
                record, "neverCompleted",
                "\(record.identifier) returned or exited without completing, which counts as failed. Complete on every "
                    + "path: host->complete, or task.setTaskCompleted(success:)")
        }
        let isRepeating = record.kind == .appRefresh || record.kind == .processing
        // What a client submitted, or a user launched by `bgtask launch`, may well be meant to run once; a
        // request that the plugin's own code made is a link of a chain.
        guard launch.request.submission.origin == .handler, end.outcome == .succeeded, isRepeating,
            task.schedule == nil, putBack == nil, requests.request(of: record.identifier) == nil,
            // The next link may run already.
            launches.launch(of: record.identifier) == nil
        else { return }
        advise(
            record, "chainEnds",
            "\(record.identifier) has nothing to follow: the plugin submitted it itself, its launch succeeded, nothing of "
                + "it is pending and its manifest has no schedule. If it should run again, submit the next request before "
                + "completing, or write 'schedule: {every: 15m}' in the manifest")
    }

    /// Forgets the advice about libraries that were replaced.
    mutating func forgetOldAdvice() {
        let installed = registered.handlers.map { ($0.manifest.bundle, $0.libraryHash) }
        for bundle in advice.forget(besides: Dictionary(installed, uniquingKeysWith: { $1 })) {
            keepAdvice(of: bundle)
        }
    }

    /// It was given; if the store can't keep that, it is given once more after a restart.
    private mutating func keepAdvice(of bundle: BundleIdentifier) {
        store(
            .remember(.advice(bundle, advice.entries[bundle])), .fact("that \(bundle) was given advice"))
    }
}

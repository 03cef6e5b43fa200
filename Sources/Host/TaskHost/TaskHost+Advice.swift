import ControlWire
import HandlerRegistry
import RequestStore
import Scheduling
import TaskModel

/// What the authors of plugins are told: once per version of the library, in the log and in `bgtask plugins`.
extension TaskHost {
    /// Tells a piece of advice, unless it was told before.
    ///
    /// - Parameters:
    ///   - launch: The launch that shows it.
    ///   - code: One word.
    ///   - message: What was found and what to do.
    func advise(_ launch: LaunchRecord, _ code: String, _ message: String) {
        // A launch of a version that was replaced meanwhile says nothing of the one that is installed.
        guard let hash = launch.libraryHash,
            registered.handlers.contains(where: {
                $0.manifest.bundle == launch.bundle && $0.libraryHash == hash
            })
        else { return }
        let piece = PluginAdvice(code: code, message: message, launch: launch.id, at: moments.now().wall)
        guard advice.add(piece, of: launch.bundle, libraryHash: hash) else { return }
        log.append(
            .warning, "advice for \(launch.bundle): \(message) [\(code)]", launch: launch.id,
            identifier: launch.identifier)
        keepAdvice(of: launch.bundle)
    }

    /// A handler has completed that never listened for an expiration.
    func adviseToListen(_ id: LaunchID) {
        guard let record = running[id]?.record, record.kind != .appLaunch else { return }
        advise(
            record, "noExpirationHandler",
            "\(record.identifier) set no expiration handler and asked for no expiration descriptor: told to stop, it is "
                + "ended at once and can save nothing. Set one before anything else: host->set_expiration_handler, or "
                + "task.expirationHandler")
    }

    /// What the end of a launch shows: a completion that never came, or a chain that is over.
    func advise(after end: LaunchEnd, of launch: RunningLaunch, putBack: TaskRequest?) {
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
        // What a client submitted, or somebody launched by hand, may well be meant to run once; a request that the plugin's own
        // code made is a link of a chain.
        guard launch.request.submission.origin == .handler, end.outcome == .succeeded, isRepeating,
            task.schedule == nil, putBack == nil,
            !pending.values.contains(where: { $0.identifier == record.identifier })
        else { return }
        advise(
            record, "chainEnds",
            "\(record.identifier) has nothing to follow: the plugin submitted it itself, its launch succeeded, nothing of it "
                + "is pending and its manifest has no schedule. If it should run again, submit the next request before completing, or "
                + "write 'schedule: {every: 15m}' in the manifest"
        )
    }

    // MARK: The store

    /// Reads what earlier runs of the host told.
    func restoreAdvice() async throws {
        for (key, text) in try await store.settings() where key.hasPrefix(Self.adviceKeyPrefix) {
            guard let bundle = try? BundleIdentifier(String(key.dropFirst(Self.adviceKeyPrefix.count))) else {
                continue
            }
            do {
                advice.restore(try ControlJSON.decode(AdviceBook.Entry.self, from: text), of: bundle)
            } catch {
                log.append(
                    .warning,
                    "the advice that was stored of \(bundle) can't be read, and is told again: "
                        + ControlJSON.sentence(of: error))
            }
        }
        forgetOldAdvice()
    }

    /// Forgets what was told of libraries that were replaced.
    func forgetOldAdvice() {
        let installed = registered.handlers.map { ($0.manifest.bundle, $0.libraryHash) }
        for bundle in advice.forget(besides: Dictionary(installed, uniquingKeysWith: { $1 })) {
            keepAdvice(of: bundle)
        }
    }

    private func keepAdvice(of bundle: BundleIdentifier) {
        unsavedAdvice.insert(bundle)
        // Apart from the launch that showed it: what several show is then written by one task, and nobody waits for it.
        if adviceWrite == nil { adviceWrite = Task { await writeAdvice() } }
    }

    private func writeAdvice() async {
        defer { adviceWrite = nil }
        while let bundle = unsavedAdvice.popFirst() {
            do {
                let text = try advice.entries[bundle].map {
                    String(decoding: try ControlJSON.line($0), as: UTF8.self)
                }
                try await store.setSetting(Self.adviceKeyPrefix + bundle.rawValue, text)
            } catch {
                // It was told; after a restart it is told once more.
                log.append(.warning, "that \(bundle) was given advice is not stored: \(error)")
            }
        }
    }

    /// Waits until what was told is stored.
    func saveAdvice() async { await adviceWrite?.value }

    private static let adviceKeyPrefix = "advice/"
}

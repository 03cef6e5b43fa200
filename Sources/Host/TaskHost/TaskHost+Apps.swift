import HandlerRegistry
import RequestStore
import Scheduling
public import TaskModel

/// Launches of apps: plugins with launch code of their own, which submits their first requests.
extension TaskHost {
    /// Launches the app of a bundle; see `HostControl`.
    public func open(_ bundle: BundleIdentifier) async throws(SubmissionError) -> TaskRequest {
        if app(of: bundle) == nil { await rescan() }
        guard registered.handlers.contains(where: { $0.manifest.bundle == bundle }) else {
            throw SubmissionError(
                code: .notFound, subject: "\(bundle)", finding: "no manifest has it",
                remedy: "See 'bgtask plugins' for those that are installed")
        }
        guard let identifier = app(of: bundle)?.manifest.appLaunch else {
            throw SubmissionError(
                code: .notPermitted, subject: "\(bundle)",
                finding: "it is no app: its library does not export bgtask_app_entry",
                remedy:
                    "Submit one of its tasks: bgtask submit; or tell that it is used: bgtask used \(bundle)")
        }
        _ = try await change(bundle, .used)
        return try await submit(TaskSubmission(identifier: identifier, origin: .client))
    }

    /// Asks for a launch of every app that is new, or has another library than when it was last launched for that.
    ///
    /// The request is stored before the hash: a host that dies in between launches it twice, not never.
    func launchInstalledApps() async {
        guard phase == .serving else { return }
        for handler in registered.handlers {
            let bundle = handler.manifest.bundle
            guard let identifier = handler.manifest.appLaunch, let hash = handler.libraryHash,
                launchedApps[bundle] != hash
            else { continue }
            // At once, so that a second look while the store writes asks for nothing.
            let before = launchedApps.updateValue(hash, forKey: bundle)
            do {
                _ = try await accept(TaskSubmission(identifier: identifier, origin: .installation))
                try await store.setSetting(Self.appKeyPrefix + bundle.rawValue, hash)
            } catch {
                launchedApps[bundle] = before
                log.append(.error, "its app is not launched: \(error)", identifier: identifier)
            }
        }
        for bundle in launchedApps.keys where app(of: bundle) == nil { await forgetApp(bundle) }
    }

    /// What is installed again is launched again.
    private func forgetApp(_ bundle: BundleIdentifier) async {
        launchedApps[bundle] = nil
        do {
            try await store.setSetting(Self.appKeyPrefix + bundle.rawValue, nil)
        } catch {
            log.append(.warning, "that the app of \(bundle) is gone is not stored: \(error)")
        }
    }

    /// Reads which apps were launched for which library.
    func restoreApps() async throws {
        for (key, hash) in try await store.settings() where key.hasPrefix(Self.appKeyPrefix) {
            guard let bundle = try? BundleIdentifier(String(key.dropFirst(Self.appKeyPrefix.count))) else {
                continue
            }
            launchedApps[bundle] = hash
        }
    }

    private func app(of bundle: BundleIdentifier) -> PermittedHandler? {
        registered.handlers.first { $0.manifest.bundle == bundle && $0.manifest.appLaunch != nil }
    }

    private static let appKeyPrefix = "app launch/"
}

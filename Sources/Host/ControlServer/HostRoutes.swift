import ControlWire
import Hummingbird
import LinuxSystem
import TaskModel

/// The routes about the host itself: its plugins, its conditions, its configuration and its report.
struct HostRoutes {
    let host: any HostControl
    let limits: ControlServer.Limits
    /// The user of the host.
    let owner: UInt32

    func add(to routes: RouteTable) {
        routes.get("version") { _, _ in
            try Response.json(VersionMessage(version: host.version))
        }
        routes.get("plugins") { _, _ in try await Response.json(listing()) }
        routes.post("reload") { request, context in
            try await request.requireNoBody(context: context, limits: limits)
            try await host.reload()
            return try await Response.json(listing())
        }
        routes.get("report") { _, _ in
            try await Response.json(ReportMessage(host.report()))
        }
        routes.get("security", query: [.bundle]) { request, _ in
            let bundle = try request.query(.bundle).map(ClientText.bundle)
            let grades = try await grades().filter { bundle == nil || $0.bundle == bundle }
            if let bundle, grades.isEmpty {
                throw SubmissionError(
                    code: .notFound, subject: "\(bundle)", finding: "no manifest has this bundle",
                    remedy: "List the bundles: bgtask security")
            }
            return try Response.json(grades)
        }
        routes.get("configuration") { _, _ in
            try await Response.json(ConfigurationMessage(host.configuration()))
        }
        routes.get("pause") { _, _ in try await Response.json(PauseMessage(host.pause())) }
        routes.post("pause") { request, context in
            let message = try await request.message(
                PauseOrderMessage.self, context: context, limits: limits)
            return try await Response.json(
                PauseMessage(host.pause(until: message.until?.time, letsEnd: message.drain == true)))
        }
        routes.delete("pause") { request, context in
            try await request.requireNoBody(context: context, limits: limits)
            return try await Response.json(PauseMessage(host.resume()))
        }
        routes.get("conditions") { _, _ in
            try await Response.json(host.conditions().map(ConditionMessage.init))
        }
        routes.patch("conditions") { request, context in
            let message = try await request.message(
                ConditionSettingsMessage.self, context: context, limits: limits)
            return try await Response.json(host.setConditions(message.settings).map(ConditionMessage.init))
        }
        routes.delete("conditions") { request, context in
            try await request.requireNoBody(context: context, limits: limits)
            return try await Response.json(host.clearConditions().map(ConditionMessage.init))
        }
    }

    /// The plugins, with a warning for each that this machine can't isolate as its manifest asks.
    private func listing() async throws -> PluginListingMessage {
        var listing = try await host.plugins()
        let isolation = host.isolation
        for handler in listing.handlers {
            // The registry has reported a grant of the host's own files.
            let refusal = handler.manifest.sandbox.refusal(
                by: isolation, isRequired: host.requiresFullIsolation)
            guard let refusal else { continue }
            listing.problems.append(
                ManifestProblem(
                    severity: .warning, file: handler.manifestPath,
                    finding: "the host refuses its launches: \(refusal.finding)",
                    remedy: refusal.remedy))
        }
        return PluginListingMessage(listing)
    }

    /// The grade of each bundle, sorted by bundle.
    private func grades() async throws -> [SecurityMessage] {
        let isolation = host.isolation
        let user: SecurityGrade.Facts.User =
            host.launchedProcesses.users != nil ? .own : owner == 0 ? .root : .hosts
        return try await host.plugins().handlers
            .filter { $0.manifest.library != nil || $0.manifest.tasks.contains(where: \.hasOwnProgram) }
            .sorted { $0.manifest.bundle.rawValue < $1.manifest.bundle.rawValue }
            .map { handler in
                let manifest = handler.manifest
                let refusal = handler.refusal(by: isolation, isRequired: host.requiresFullIsolation)
                return SecurityMessage(
                    manifest.bundle,
                    SecurityGrade(
                        .init(
                            sandbox: manifest.sandbox, isolation: isolation, user: user,
                            hostGrants: handler.hostGrants)),
                    sandbox: manifest.sandbox,
                    refusal: refusal.map { "\($0.finding). \($0.remedy)" })
            }
    }
}

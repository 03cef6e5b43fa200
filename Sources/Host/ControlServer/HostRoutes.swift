import ControlWire
import Hummingbird
import TaskModel

/// The routes about the host itself: its plugins, its conditions, its configuration and its report.
struct HostRoutes {
    let host: any HostControl
    let limits: ControlServer.Limits

    func add(to routes: RouteTable) {
        routes.get("version") { _, _ in
            try Response.json(VersionMessage(version: host.version))
        }
        routes.get("plugins") { _, _ in
            try await Response.json(PluginListingMessage(host.plugins()))
        }
        routes.get("report") { _, _ in
            try await Response.json(ReportMessage(host.report()))
        }
        routes.get("configuration") { _, _ in
            try await Response.json(ConfigurationMessage(host.configuration()))
        }
        routes.get("pause") { _, _ in try await Response.json(PauseMessage(host.pause())) }
        routes.post("pause") { request, context in
            let message = try await request.message(PauseMessage.self, context: context, limits: limits)
            return try await Response.json(PauseMessage(host.pause(until: message.until?.time)))
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
}

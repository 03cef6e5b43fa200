import ControlWire
import Hummingbird
import TaskModel

/// What the host is, has and sees.
struct HostRoutes {
    let host: any HostControl
    let limits: ControlServer.Limits

    func add(to group: RouterGroup<ControlContext>) {
        group.get("version") { _, _ in
            try Response.json(VersionMessage(version: host.version))
        }
        group.get("plugins") { _, _ in
            try await Response.json(PluginListingMessage(host.plugins()))
        }
        group.get("report") { _, _ in
            try await Response.json(ReportMessage(host.report()))
        }
        group.get("configuration") { _, _ in
            try await Response.json(ConfigurationMessage(host.configuration()))
        }
        group.get("conditions") { _, _ in
            try await Response.json(host.conditions().map(ConditionMessage.init))
        }
        group.patch("conditions") { request, context in
            let message = try await request.message(
                ConditionSettingsMessage.self, context: context, limits: limits)
            return try await Response.json(host.setConditions(message.settings).map(ConditionMessage.init))
        }
        group.delete("conditions") { _, _ in
            try await Response.json(host.clearConditions().map(ConditionMessage.init))
        }
    }
}

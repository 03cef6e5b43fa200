import ControlWire
import Hummingbird
import TaskModel

/// The routes of bundles: their background refresh setting and budgets, pushes to them, launches of their
/// apps, and explanations.
struct BundleRoutes {
    let host: any HostControl
    let limits: ControlServer.Limits

    func add(to routes: RouteTable) {
        routes.get("bundles") { _, _ in
            try await Response.json(host.bundles().map(BundleMessage.init))
        }
        routes.patch("bundles/:bundle") { request, context in
            let bundle = try ClientText.bundle(context.parameters.require("bundle"))
            let message = try await request.message(
                BundleChangeMessage.self, context: context, limits: limits)
            guard let change = message.change else {
                throw ClientText.invalid(
                    "\(bundle)", "the body contains no change, several changes or a negative limit",
                    remedy: "Send one of used, foreground, dismissed, refresh, budget, paused and resumed")
            }
            return try await Response.json(BundleMessage(host.change(bundle, change)))
        }
        routes.post("bundles/:bundle/open") { request, context in
            try await request.requireNoBody(context: context, limits: limits)
            let bundle = try ClientText.bundle(context.parameters.require("bundle"))
            return try await Response.json(RequestMessage(host.open(bundle)), status: .created)
        }
        routes.post("bundles/:bundle/push-secret") { request, context in
            let bundle = try ClientText.bundle(context.parameters.require("bundle"))
            let message = try await request.message(
                PushSecretChangeMessage.self, context: context, limits: limits)
            return try await Response.json(
                PushSecretMessage(host.pushes.changeSecret(of: bundle, message.change)))
        }
        routes.get("push-endpoints") { _, _ in
            try await Response.json(host.pushes.endpoints().map(PushEndpointMessage.init))
        }
        routes.post("pushes") { request, context in
            let message = try await request.message(PushMessage.self, context: context, limits: limits)
            let accepted = try await host.pushes.push(
                to: message.bundle, payload: message.payload, priority: message.priority ?? .considerate)
            return try Response.json(AcceptanceMessage(accepted), status: .created)
        }
        routes.get("explain/:identifier") { _, context in
            let identifier = try ClientText.identifier(context.parameters.require("identifier"))
            return try await Response.json(TaskExplanationMessage(host.explain(identifier)))
        }
        routes.get("launches/:launch/explanation") { _, context in
            let id = try ClientText.launch(context.parameters.require("launch"))
            return try await Response.json(LaunchExplanationMessage(host.explain(id)))
        }
        routes.post("launches/:launch/answer") { request, context in
            let id = try ClientText.launch(context.parameters.require("launch"))
            let message = try await request.message(AnswerMessage.self, context: context, limits: limits)
            try await host.naming(theEndOf: .launch(id)) { host in
                try await host.answer(id, keepGoing: message.keepGoing)
            }
            return try Response.json(message)
        }
    }
}

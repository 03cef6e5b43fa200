import ControlWire
import Hummingbird
import TaskModel

/// The routes of requests: submit one, list the pending ones, and cancel.
struct RequestRoutes {
    let host: any HostControl
    let limits: ControlServer.Limits

    func add(to routes: RouteTable) {
        routes.post("requests") { request, context in
            let message = try await request.message(SubmissionMessage.self, context: context, limits: limits)
            let accepted = try await host.accept(message.submission, from: context.peer)
            return try Response.json(AcceptanceMessage(accepted), status: .created)
        }
        routes.get("requests") { _, _ in
            try await Response.json(host.pending().map(PendingRequestMessage.init))
        }
        routes.post("cancel") { request, context in
            let message = try await request.message(CancelMessage.self, context: context, limits: limits)
            let target = try ClientText.target(message.target)
            let cancellation = try await host.naming(theEndOf: target) { host in
                try await host.cancel(target)
            }
            return try Response.json(CancellationMessage(cancellation))
        }
    }
}

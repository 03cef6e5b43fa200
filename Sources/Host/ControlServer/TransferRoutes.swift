import ControlWire
import Hummingbird
import TaskModel

/// The routes of transfers: begin one, list and show them, and cancel one.
struct TransferRoutes {
    let host: any HostControl
    let limits: ControlServer.Limits

    func add(to routes: RouteTable) {
        routes.get("transfers") { _, _ in
            try await Response.json(host.transfers.all().map { TransferMessage($0) })
        }
        routes.get("transfers/:transfer") { _, context in
            let id = try ClientText.transfer(context.parameters.require("transfer"))
            return try await Response.json(TransferMessage(host.transfers.transfer(id)))
        }
        routes.post("transfers") { request, context in
            switch try await request.message(
                TransferRequestsMessage.self, context: context, limits: limits)
            {
            case .one(let message):
                let transfer = try await host.transfers.transfer(message.request())
                return try Response.json(TransferMessage(transfer), status: .created)
            case .several(let messages):
                guard (1...ControlProtocol.maximumTransfers).contains(messages.count) else {
                    throw ClientText.invalid(
                        request.subject, "the array has \(messages.count) requests",
                        remedy: "Send 1 to \(ControlProtocol.maximumTransfers) in one call")
                }
                let transfers = try await host.transfers.transfer(messages.map { try $0.request() })
                return try Response.json(AcceptedTransfersMessage(transfers: transfers), status: .created)
            }
        }
        routes.delete("transfers/:transfer") { request, context in
            try await request.requireNoBody(context: context, limits: limits)
            let id = try ClientText.transfer(context.parameters.require("transfer"))
            return try await Response.json(TransferMessage(host.transfers.cancelTransfer(id)))
        }
    }
}

extension ClientText {
    static func transfer(_ text: String) throws -> TransferID {
        guard let id = TransferID(text) else {
            throw invalid(
                text, "this is not the number of a transfer",
                remedy: "Give a transfer as 'bgtask transfers' shows it, such as T17")
        }
        return id
    }
}

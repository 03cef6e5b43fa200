/// A message from the program that makes transfers.
public enum TransferProgramReport: Sendable {
    case hello(TransferHelloMessage)
    case response(TransferResponseMessage)
    case progress(TransferProgressMessage)
    case ended(TransferEndedMessage)
    case alive(TransferAliveMessage)
    case failed(TransferFailedMessage)
    case began(TransferBeganMessage)

    /// Reads a message; `nil` for an unknown kind that is to be skipped.
    ///
    /// - Throws: ``WireError`` for the first violation.
    public init?(kind: UInt8, body: FieldReader) throws(WireError) {
        switch kind {
        case TransferHelloMessage.kind: self = .hello(try TransferHelloMessage(fields: body))
        case TransferResponseMessage.kind: self = .response(try TransferResponseMessage(fields: body))
        case TransferProgressMessage.kind: self = .progress(try TransferProgressMessage(fields: body))
        case TransferEndedMessage.kind: self = .ended(try TransferEndedMessage(fields: body))
        case TransferAliveMessage.kind: self = .alive(try TransferAliveMessage(fields: body))
        case TransferFailedMessage.kind: self = .failed(try TransferFailedMessage(fields: body))
        case TransferBeganMessage.kind: self = .began(try TransferBeganMessage(fields: body))
        default:
            try refuseUnknown(kind, from: "program that makes transfers")
            return nil
        }
    }
}

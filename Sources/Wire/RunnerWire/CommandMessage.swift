public import TaskModel

/// The `command:` that the task runs instead of a handler.
public struct CommandMessage: WireMessage {
    public static let kind: UInt8 = 0x07
    public static let table = FieldTable(
        .repeated(1, .text), .repeated(2, .text), .required(3, .text), .required(4, .flag),
        .required(5, .bytes, limit: 256), .required(6, .u64), .required(7, .flag),
        .optional(8, .text, limit: 1024))
    /// The command with the values of the payload.
    public var start: CommandStart

    public init(_ start: CommandStart) { self.start = start }

    public init(_ values: FieldValues) throws(WireError) {
        start = CommandStart(
            words: values.texts(1), environment: values.texts(2), directory: values[3],
            readsPayload: values[4], success: values[5], stopSignal: values[6], stopsGroup: values[7])
        start.progressPattern = values[8]
        guard !start.words.isEmpty else { throw WireError(.range, "the command has no words") }
    }

    public func write(to fields: inout FieldWriter) {
        for word in start.words { fields.write(1, word) }
        for line in start.environment { fields.write(2, line) }
        fields.write(3, start.directory)
        fields.write(4, start.readsPayload)
        fields.write(5, start.success)
        fields.write(6, start.stopSignal)
        fields.write(7, start.stopsGroup)
        if let pattern = start.progressPattern { fields.write(8, pattern) }
    }
}

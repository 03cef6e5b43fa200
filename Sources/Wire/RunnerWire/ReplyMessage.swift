public import TaskModel

/// The host's answer to ``SubmitMessage``, ``TaskCancelMessage``, ``PendingMessage`` or
/// ``SessionCallMessage``.
public struct ReplyMessage: WireMessage {
    public static let kind: UInt8 = 0x11
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .u64), .optional(3, .text), .repeated(4, .bytes),
        .optional(5, .bytes, limit: FrameLimits.maximumBlob))
    /// The number from the message that is answered.
    public var call: UInt64
    /// A `bgtask_error`; 0 means success.
    public var error: UInt64
    /// The finding and the remedy of a refusal; `nil` on success.
    public var text: String?
    /// The bundle's pending requests; empty unless the answer is to ``PendingMessage``.
    public var pending: [PendingRequest]
    /// The answer to ``SessionCallMessage``, a JSON object; `nil` to the others.
    public var content: [UInt8]?

    /// One pending request.
    public struct PendingRequest: Sendable, Equatable {
        /// The number of the request.
        public var request: UInt64
        /// The kind of the request.
        public var taskKind: TaskKind
        /// The identifier of the request's task.
        public var identifier: String
        /// The earliest begin date in milliseconds since 1970; `nil` means that there is none.
        public var earliest: Int64?
        /// Whether the submission requires external power.
        public var externalPower: Bool
        /// Whether the submission requires a network connection.
        public var network: Bool
        /// The title that the user sees; `nil` means that it is empty.
        public var title: String?
        /// The second line, below the title; `nil` means that it is empty.
        public var subtitle: String?

        public init(
            request: UInt64, taskKind: TaskKind, identifier: String, earliest: Int64?, externalPower: Bool,
            network: Bool, title: String? = nil, subtitle: String? = nil
        ) {
            self.request = request
            self.taskKind = taskKind
            self.identifier = identifier
            self.earliest = earliest
            self.externalPower = externalPower
            self.network = network
            self.title = title
            self.subtitle = subtitle
        }

        static let table = FieldTable(
            .required(2, .text), .optional(3, .i64), .optional(4, .flag), .optional(5, .flag),
            .optional(6, .bytes), .optional(7, .text), .optional(8, .text), .required(9, .u64),
            .required(10, .u64))

        init(_ values: FieldValues) throws(WireError) {
            let number: UInt64 = values[10]
            guard let taskKind = TaskKind(wireValue: number) else {
                throw WireError(.range, "\(number) is not a task kind")
            }
            self.init(
                request: values[9], taskKind: taskKind, identifier: values[2], earliest: values[3],
                externalPower: values[4], network: values[5], title: values[7], subtitle: values[8])
        }

        var nestedBody: [UInt8] {
            var fields = FieldWriter()
            fields.write(2, identifier)
            fields.write(3, earliest)
            fields.write(4, ifTrue: externalPower)
            fields.write(5, ifTrue: network)
            fields.write(7, title)
            fields.write(8, subtitle)
            fields.write(9, request)
            fields.write(10, taskKind.wireValue)
            return fields.bytes
        }
    }

    public init(
        call: UInt64, error: UInt64, text: String? = nil, pending: [PendingRequest] = [],
        content: [UInt8]? = nil
    ) {
        self.call = call
        self.error = error
        self.text = text
        self.pending = pending
        self.content = content
    }

    public init(_ values: FieldValues) throws(WireError) {
        call = values[1]
        error = values[2]
        text = values[3]
        content = values[5]
        pending = []
        for body in values.each(4) {
            pending.append(
                try PendingRequest(PendingRequest.table.check(FieldReader(body), of: Self.kind)))
        }
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, call)
        fields.write(2, error)
        fields.write(3, text)
        for request in pending { fields.write(4, request.nestedBody) }
        fields.write(5, content)
    }
}

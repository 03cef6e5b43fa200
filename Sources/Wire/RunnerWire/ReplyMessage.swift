public import TaskModel

/// The host's answer to *submit*, *cancel* or *pending*.
public struct ReplyMessage: WireMessage {
    /// 0x11.
    public static let kind: UInt8 = 0x11
    /// The number that the task gave its question.
    public var call: UInt64
    /// A `bgtask_error`; 0 is granted.
    public var error: UInt64
    /// Finding and remedy of a refusal.
    public var text: String?
    /// The bundle's pending requests, where those were asked for.
    public var pending: [PendingRequest]

    /// One pending request.
    public struct PendingRequest: Sendable, Equatable {
        /// Its number.
        public var request: UInt64
        /// Its kind.
        public var taskKind: TaskKind
        /// Its task.
        public var identifier: String
        /// Milliseconds since 1970; `nil`: no delay.
        public var earliest: Int64?
        /// As submitted.
        public var externalPower: Bool
        /// As submitted.
        public var network: Bool
        /// What the user sees; `nil` is empty.
        public var title: String?
        /// The second line; `nil` is empty.
        public var subtitle: String?

        /// Makes an entry.
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

        init(nested fields: FieldReader) throws(WireError) {
            var fields = fields
            var request: UInt64?, kind: UInt64?, identifier: String?, earliest: Int64?, power: Bool?,
                network: Bool?, title: String?, subtitle: String?
            while let field = try fields.next() {
                switch field.tag {
                case 2: try field.read(into: &identifier)
                case 3: try field.read(into: &earliest)
                case 4: try field.read(into: &power)
                case 5: try field.read(into: &network)
                case 7: try field.read(into: &title)
                case 8: try field.read(into: &subtitle)
                case 9: try field.read(into: &request)
                case 10: try field.read(into: &kind)
                default: continue
                }
            }
            let number = try required(kind, 10, of: ReplyMessage.kind)
            guard let taskKind = TaskKind(wireValue: number) else {
                throw WireError(.range, "there is no task kind \(number)")
            }
            self.init(
                request: try required(request, 9, of: ReplyMessage.kind), taskKind: taskKind,
                identifier: try required(identifier, 2, of: ReplyMessage.kind), earliest: earliest,
                externalPower: power ?? false, network: network ?? false, title: title,
                subtitle: subtitle)
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

    /// Makes an answer.
    public init(call: UInt64, error: UInt64, text: String? = nil, pending: [PendingRequest] = []) {
        self.call = call
        self.error = error
        self.text = text
        self.pending = pending
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var call: UInt64?, error: UInt64?, text: String?
        var pending: [PendingRequest] = []
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &call)
            case 2: try field.read(into: &error)
            case 3: try field.read(into: &text)
            case 4: pending.append(try PendingRequest(nested: FieldReader(field.value)))
            default: continue
            }
        }
        self.init(
            call: try required(call, 1, of: Self.kind), error: try required(error, 2, of: Self.kind),
            text: text,
            pending: pending)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, call)
        fields.write(2, error)
        fields.write(3, text)
        for request in pending { fields.write(4, request.nestedBody) }
    }
}

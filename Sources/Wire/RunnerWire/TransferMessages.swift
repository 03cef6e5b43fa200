public import TaskModel

/// Begin an attempt of a transfer; for an upload, the file's descriptor comes with the frame.
public struct TransferBeginMessage: WireMessage {
    public static let kind: UInt8 = 0x60
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .text, limit: 8192), .required(3, .text, limit: 32),
        .repeated(4, .text), .optional(5, .flag), .optional(6, .u64), .required(7, .u64), .required(8, .u64),
        .required(9, .u64), .optional(10, .flag), .required(11, .text, limit: 512),
        .required(12, .text, limit: 8192), .required(13, .u64), .optional(14, .flag), .optional(15, .u64))
    /// The number of the transfer, and the name of its directory.
    public var transfer: UInt64
    /// The address.
    public var url: String
    /// The method.
    public var method: String
    /// Further header lines.
    public var headers: [String]
    /// The length of the file to send; `nil` for a download.
    public var uploadLength: UInt64?
    /// The longest time without a byte, in ms.
    public var stallMilliseconds: UInt64
    /// The shortest time between two reports of progress, in ms.
    public var progressMilliseconds: UInt64
    /// After how many bytes the first resume record is written.
    public var recordStep: UInt64
    /// Whether the downloaded file stays in the transfer's directory, so that its name there must be durable.
    public var keepsFile: Bool
    /// Whose transfer it is, and when it begins.
    public var turn: Turn

    /// How a transfer shares the places of the program with others.
    public struct Turn: Equatable, Sendable {
        /// The bundle.
        public var bundle: String
        /// The server.
        public var server: String
        /// Of the transfers of one bundle, those of a higher rank begin first.
        public var rank: UInt64
        /// Whether the attempt begins only when a place is free.
        public var isReserved: Bool
        /// How many bytes the transfers of the bundle may still move; `nil` if there is no limit.
        public var bytesLeft: UInt64?

        public init(bundle: String, server: String, rank: UInt64, isReserved: Bool, bytesLeft: UInt64?) {
            (self.bundle, self.server, self.rank) = (bundle, server, rank)
            (self.isReserved, self.bytesLeft) = (isReserved, bytesLeft)
        }
    }

    public init(
        transfer: UInt64, url: String, method: String, headers: [String], uploadLength: UInt64?,
        stallMilliseconds: UInt64, progressMilliseconds: UInt64, recordStep: UInt64, keepsFile: Bool = false,
        turn: Turn
    ) {
        self.turn = turn
        self.transfer = transfer
        self.url = url
        self.method = method
        self.headers = headers
        self.uploadLength = uploadLength
        self.stallMilliseconds = stallMilliseconds
        self.progressMilliseconds = progressMilliseconds
        self.recordStep = recordStep
        self.keepsFile = keepsFile
    }

    public init(_ values: FieldValues) throws(WireError) {
        transfer = values[1]
        url = values[2]
        method = values[3]
        headers = values.texts(4)
        let isUpload: Bool = values[5]
        let length: UInt64? = values[6]
        uploadLength = isUpload ? length ?? 0 : nil
        stallMilliseconds = values[7]
        progressMilliseconds = values[8]
        recordStep = values[9]
        keepsFile = values[10]
        turn = Turn(
            bundle: values[11], server: values[12], rank: values[13], isReserved: values[14],
            bytesLeft: values[15])
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, transfer)
        fields.write(2, url)
        fields.write(3, method)
        for header in headers { fields.write(4, header) }
        fields.write(5, ifTrue: uploadLength != nil)
        fields.write(6, uploadLength)
        fields.write(7, stallMilliseconds)
        fields.write(8, progressMilliseconds)
        fields.write(9, recordStep)
        fields.write(10, ifTrue: keepsFile)
        fields.write(11, turn.bundle)
        fields.write(12, turn.server)
        fields.write(13, turn.rank)
        fields.write(14, ifTrue: turn.isReserved)
        fields.write(15, turn.bytesLeft)
    }
}

/// Begin a reserved transfer now, if it has not begun.
public struct TransferPromoteMessage: WireMessage {
    public static let kind: UInt8 = 0x62
    public static let table = FieldTable(.required(1, .u64))
    /// The number of the transfer.
    public var transfer: UInt64

    public init(transfer: UInt64) { self.transfer = transfer }
    public init(_ values: FieldValues) throws(WireError) { transfer = values[1] }
    public func write(to fields: inout FieldWriter) { fields.write(1, transfer) }
}

/// The transfers of a bundle may move so many bytes from now on.
public struct TransferAllowMessage: WireMessage {
    public static let kind: UInt8 = 0x63
    public static let table = FieldTable(.required(1, .text, limit: 512), .optional(2, .u64))
    /// The bundle.
    public var bundle: String
    /// The bytes; `nil` if there is no limit.
    public var bytes: UInt64?

    public init(bundle: String, bytes: UInt64?) { (self.bundle, self.bytes) = (bundle, bytes) }
    public init(_ values: FieldValues) throws(WireError) { (bundle, bytes) = (values[1], values[2]) }
    public func write(to fields: inout FieldWriter) {
        fields.write(1, bundle)
        fields.write(2, bytes)
    }
}

/// A reserved transfer has begun, because a place was free.
public struct TransferBeganMessage: WireMessage {
    public static let kind: UInt8 = 0x6E
    public static let table = FieldTable(.required(1, .u64))
    /// The number of the transfer.
    public var transfer: UInt64

    public init(transfer: UInt64) { self.transfer = transfer }
    public init(_ values: FieldValues) throws(WireError) { transfer = values[1] }
    public func write(to fields: inout FieldWriter) { fields.write(1, transfer) }
}

/// Stop an attempt; it ends as `cancelled`.
public struct TransferCancelMessage: WireMessage {
    public static let kind: UInt8 = 0x61
    public static let table = FieldTable(.required(1, .u64))
    /// The number of the transfer.
    public var transfer: UInt64

    public init(transfer: UInt64) { self.transfer = transfer }
    public init(_ values: FieldValues) throws(WireError) { transfer = values[1] }
    public func write(to fields: inout FieldWriter) { fields.write(1, transfer) }
}

/// The program runs, and its sandbox is in force.
public struct TransferHelloMessage: WireMessage {
    public static let kind: UInt8 = 0x68
    public static let table = FieldTable(.required(1, .u64))
    /// The version of the messages.
    public var protocolVersion: UInt64

    public init(protocolVersion: UInt64) { self.protocolVersion = protocolVersion }
    public init(_ values: FieldValues) throws(WireError) { protocolVersion = values[1] }
    public func write(to fields: inout FieldWriter) { fields.write(1, protocolVersion) }
}

/// The final response of a transfer has arrived.
public struct TransferResponseMessage: WireMessage {
    public static let kind: UInt8 = 0x69
    // The numbers 4 to 6 were fields of version 1.
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .u64), .optional(3, .u64), .optional(7, .text, limit: 49_152),
        .optional(8, .text, limit: 8192), .optional(9, .flag))
    /// The number of the transfer.
    public var transfer: UInt64
    /// The status.
    public var status: UInt64
    /// The length of the file, if it is known.
    public var total: UInt64?
    /// The header lines, each with a final line feed.
    public var headers: String?
    /// The address after all redirects.
    public var url: String?
    /// All bytes of a download are here, and only the disk is waited for.
    public var isWhole: Bool

    public init(
        transfer: UInt64, status: UInt64, total: UInt64?, headers: String?, url: String?,
        isWhole: Bool = false
    ) {
        self.isWhole = isWhole
        self.transfer = transfer
        self.status = status
        self.total = total
        self.headers = headers
        self.url = url
    }

    public init(_ values: FieldValues) throws(WireError) {
        transfer = values[1]
        status = values[2]
        total = values[3]
        headers = values[7]
        url = values[8]
        isWhole = values[9]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, transfer)
        fields.write(2, status)
        fields.write(3, total)
        fields.write(7, headers)
        fields.write(8, url)
        fields.write(9, ifTrue: isWhole)
    }
}

/// How far a transfer is.
public struct TransferProgressMessage: WireMessage {
    public static let kind: UInt8 = 0x6A
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .u64), .optional(3, .u64), .required(4, .u64), .required(5, .u64),
        .required(6, .u64))
    /// The number of the transfer.
    public var transfer: UInt64
    /// The bytes of the file that are here, or that were sent.
    public var completed: UInt64
    /// The length of the file, if it is known.
    public var total: UInt64?
    /// The bytes that this attempt received.
    public var received: UInt64
    /// The bytes that this attempt sent.
    public var sent: UInt64
    /// The CPU time of the whole program, in microseconds.
    public var cpuMicroseconds: UInt64

    public init(
        transfer: UInt64, completed: UInt64, total: UInt64?, received: UInt64, sent: UInt64,
        cpuMicroseconds: UInt64
    ) {
        self.transfer = transfer
        self.completed = completed
        self.total = total
        self.received = received
        self.sent = sent
        self.cpuMicroseconds = cpuMicroseconds
    }

    public init(_ values: FieldValues) throws(WireError) {
        transfer = values[1]
        completed = values[2]
        total = values[3]
        received = values[4]
        sent = values[5]
        cpuMicroseconds = values[6]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, transfer)
        fields.write(2, completed)
        fields.write(3, total)
        fields.write(4, received)
        fields.write(5, sent)
        fields.write(6, cpuMicroseconds)
    }
}

/// An attempt has ended.
public struct TransferEndedMessage: WireMessage {
    public static let kind: UInt8 = 0x6B
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .u64), .required(3, .u64), .required(4, .u64), .required(5, .u64),
        .optional(6, .u64), .optional(7, .u64), .optional(8, .text, limit: 1024), .optional(9, .u64),
        .required(10, .u64), .optional(11, .text, limit: 320), .optional(12, .bytes, limit: 16_384),
        .optional(13, .flag), .optional(14, .flag))
    /// The number of the transfer.
    public var transfer: UInt64
    /// How it ended.
    public var end: TransferAttemptEnd.Kind
    /// The bytes of the file that are here.
    public var completed: UInt64
    /// The bytes that this attempt received.
    public var received: UInt64
    /// The bytes that this attempt sent.
    public var sent: UInt64
    /// The newest status; `nil` if there was no response.
    public var status: UInt64?
    /// libcurl's code; `nil` if it reported no error.
    public var code: UInt64?
    /// Why the attempt failed, as a sentence; `nil` if it did not.
    public var message: String?
    /// How long the server wants to be left alone, in seconds.
    public var retryAfterSeconds: UInt64?
    /// The CPU time of the whole program, in microseconds.
    public var cpuMicroseconds: UInt64
    /// What the newest request cost, as ``TransferMetrics`` reads it; `nil` if none was measured.
    public var metrics: String?
    /// The body of the answer to an upload; `nil` if there was none, or if it was longer.
    public var answer: [UInt8]?
    /// Whether the answer to an upload is in the transfer's file, because it is longer.
    public var hasAnswerFile: Bool
    /// Whether the answer to an upload was not kept, because it is too long, or its file can't be written.
    public var hasLostAnswer: Bool

    public init(
        transfer: UInt64, end: TransferAttemptEnd.Kind, completed: UInt64, received: UInt64, sent: UInt64,
        status: UInt64?, code: UInt64?, message: String?, retryAfterSeconds: UInt64?, cpuMicroseconds: UInt64,
        metrics: String? = nil, answer: [UInt8]? = nil, hasAnswerFile: Bool = false,
        hasLostAnswer: Bool = false
    ) {
        self.transfer = transfer
        self.end = end
        self.completed = completed
        self.received = received
        self.sent = sent
        self.status = status
        self.code = code
        self.message = message
        self.retryAfterSeconds = retryAfterSeconds
        self.cpuMicroseconds = cpuMicroseconds
        self.metrics = metrics
        self.answer = answer
        self.hasAnswerFile = hasAnswerFile
        self.hasLostAnswer = hasLostAnswer
    }

    public init(_ values: FieldValues) throws(WireError) {
        transfer = values[1]
        let number: UInt64 = values[2]
        guard let end = TransferAttemptEnd.Kind(rawValue: number), end != .lost else {
            throw WireError(.range, "an attempt ended in the unknown way \(number)")
        }
        self.end = end
        completed = values[3]
        received = values[4]
        sent = values[5]
        status = values[6]
        code = values[7]
        message = values[8]
        retryAfterSeconds = values[9]
        cpuMicroseconds = values[10]
        metrics = values[11]
        answer = values[12]
        hasAnswerFile = values[13]
        hasLostAnswer = values[14]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, transfer)
        fields.write(2, end.rawValue)
        fields.write(3, completed)
        fields.write(4, received)
        fields.write(5, sent)
        fields.write(6, status)
        fields.write(7, code)
        fields.write(8, message)
        fields.write(9, retryAfterSeconds)
        fields.write(10, cpuMicroseconds)
        fields.write(11, metrics)
        fields.write(12, answer)
        fields.write(13, ifTrue: hasAnswerFile)
        fields.write(14, ifTrue: hasLostAnswer)
    }
}

/// The program is alive; it says so every few seconds, also without transfers.
public struct TransferAliveMessage: WireMessage {
    public static let kind: UInt8 = 0x6C
    public static let table = FieldTable()

    public init() {}
    public init(_ values: FieldValues) throws(WireError) {}
    public func write(to fields: inout FieldWriter) {}
}

/// The program ends, because something failed that is not the fault of one transfer.
public struct TransferFailedMessage: WireMessage {
    public static let kind: UInt8 = 0x6D
    public static let table = FieldTable(.required(1, .text, limit: 1024))
    /// What failed.
    public var message: String

    public init(message: String) { self.message = message }
    public init(_ values: FieldValues) throws(WireError) { message = values[1] }
    public func write(to fields: inout FieldWriter) { fields.write(1, message) }
}

/// A question of a task about the background sessions of its bundle; answered by ``ReplyMessage``.
public struct SessionCallMessage: WireMessage {
    public static let kind: UInt8 = 0x30
    public static let table = FieldTable(
        .required(1, .u64), .required(2, .bytes, limit: FrameLimits.maximumBlob))
    /// The number that the answer repeats.
    public var call: UInt64
    /// The question, a JSON object.
    public var question: [UInt8]

    public init(call: UInt64, question: [UInt8]) {
        self.call = call
        self.question = question
    }

    public init(_ values: FieldValues) throws(WireError) {
        call = values[1]
        question = values[2]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, call)
        fields.write(2, question)
    }
}

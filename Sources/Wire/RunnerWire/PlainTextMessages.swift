/// Advice for the plugin's author.
public struct AdviceMessage: WireMessage {
    public static let kind: UInt8 = 0x29
    public static let table = FieldTable(
        .required(1, .text, limit: maximumCode), .required(2, .text, limit: maximumMessage))
    /// The largest number of bytes in ``code``.
    public static let maximumCode = 128
    /// The largest number of bytes in ``message``.
    public static let maximumMessage = 1024
    /// A word that identifies the advice.
    public var code: String
    /// A sentence that says what was found and what to do.
    public var message: String

    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    public init(_ values: FieldValues) throws(WireError) {
        code = values[1]
        message = values[2]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, code)
        fields.write(2, message)
    }
}

/// Why the task is about to end itself.
public struct FaultMessage: WireMessage {
    public static let kind: UInt8 = 0x2A
    public static let table = FieldTable(
        .required(1, .text, limit: maximumCode), .required(2, .text, limit: maximumMessage))
    /// The largest number of bytes in ``code``.
    public static let maximumCode = 128
    /// The largest number of bytes in ``message``.
    public static let maximumMessage = 4096
    /// Apple's name of the fault, such as `0x8badf00d`.
    public var code: String
    /// What was wrong and what to do; further lines contain details.
    public var message: String

    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    public init(_ values: FieldValues) throws(WireError) {
        code = values[1]
        message = values[2]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, code)
        fields.write(2, message)
    }
}

/// The handler changed the title and subtitle of a continued task.
public struct TitleMessage: WireMessage {
    public static let kind: UInt8 = 0x2B
    public static let table = FieldTable(
        .required(1, .text, limit: maximumText), .optional(2, .text, limit: maximumText))
    /// The largest number of bytes in each of the two texts.
    public static let maximumText = 1024
    /// The title.
    public var title: String
    /// The second line, below the title; `nil` means that it is empty.
    public var subtitle: String?

    public init(title: String, subtitle: String? = nil) {
        self.title = title
        self.subtitle = subtitle
    }

    public init(_ values: FieldValues) throws(WireError) {
        title = values[1]
        subtitle = values[2]
    }

    public func write(to fields: inout FieldWriter) {
        fields.write(1, title)
        fields.write(2, subtitle)
    }
}

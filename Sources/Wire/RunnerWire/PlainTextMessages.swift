/// What the plugin's author should know of the plugin.
public struct AdviceMessage: WireMessage {
    public static let kind: UInt8 = 0x29
    public static let table = FieldTable(
        .required(1, .text, limit: maximumCode), .required(2, .text, limit: maximumMessage))
    /// The most bytes of ``code``.
    public static let maximumCode = 128
    /// The most bytes of ``message``.
    public static let maximumMessage = 1024
    /// One word.
    public var code: String
    /// What was found and what to do.
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
    /// The most bytes of ``code``.
    public static let maximumCode = 128
    /// The most bytes of ``message``.
    public static let maximumMessage = 4096
    /// Apple's word for it, such as `0x8badf00d`.
    public var code: String
    /// What was wrong and what to do.
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

/// What the user sees of a continued task from now on.
public struct TitleMessage: WireMessage {
    public static let kind: UInt8 = 0x2B
    public static let table = FieldTable(
        .required(1, .text, limit: maximumText), .optional(2, .text, limit: maximumText))
    /// The most bytes of each of the two.
    public static let maximumText = 1024
    /// The first line.
    public var title: String
    /// The second line; `nil` is empty.
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

/// What the plugin's author should know of the plugin.
public struct AdviceMessage: WireMessage {
    /// 0x29.
    public static let kind: UInt8 = 0x29
    /// The most bytes of ``code``.
    public static let maximumCode = 128
    /// The most bytes of ``message``.
    public static let maximumMessage = 1024
    /// One word.
    public var code: String
    /// What was found and what to do.
    public var message: String

    /// Makes a message.
    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        (code, message) = try twoTexts(fields, atMost: Self.maximumCode, Self.maximumMessage, of: Self.kind)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, code)
        fields.write(2, message)
    }
}

/// Why the task is about to end itself.
public struct FaultMessage: WireMessage {
    /// 0x2A.
    public static let kind: UInt8 = 0x2A
    /// The most bytes of ``code``.
    public static let maximumCode = 128
    /// The most bytes of ``message``.
    public static let maximumMessage = 4096
    /// Apple's word for it, such as `0x8badf00d`.
    public var code: String
    /// What was wrong and what to do.
    public var message: String

    /// Makes a message.
    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        (code, message) = try twoTexts(fields, atMost: Self.maximumCode, Self.maximumMessage, of: Self.kind)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, code)
        fields.write(2, message)
    }
}

/// What the user sees of a continued task from now on.
public struct TitleMessage: WireMessage {
    /// 0x2B.
    public static let kind: UInt8 = 0x2B
    /// The most bytes of each of the two.
    public static let maximumText = 1024
    /// The first line.
    public var title: String
    /// The second line; `nil` is empty.
    public var subtitle: String?

    /// Makes a message.
    public init(title: String, subtitle: String? = nil) {
        self.title = title
        self.subtitle = subtitle
    }

    /// Reads a body.
    public init(fields: FieldReader) throws(WireError) {
        var fields = fields
        var title: String?, subtitle: String?
        while let field = try fields.next() {
            switch field.tag {
            case 1: try field.read(into: &title, atMost: Self.maximumText)
            case 2: try field.read(into: &subtitle, atMost: Self.maximumText)
            default: continue
            }
        }
        self.init(title: try required(title, 1, of: Self.kind), subtitle: subtitle)
    }

    /// Writes a body.
    public func write(to fields: inout FieldWriter) {
        fields.write(1, title)
        fields.write(2, subtitle)
    }
}

/// The two required texts, tags 1 and 2, of a body.
private func twoTexts(
    _ fields: FieldReader, atMost first: Int, _ second: Int, of kind: UInt8
) throws(WireError) -> (String, String) {
    var fields = fields
    var code: String?, message: String?
    while let field = try fields.next() {
        switch field.tag {
        case 1: try field.read(into: &code, atMost: first)
        case 2: try field.read(into: &message, atMost: second)
        default: continue
        }
    }
    return (try required(code, 1, of: kind), try required(message, 2, of: kind))
}

import NIOHTTP1
import Pushes
import TaskModel

/// The head of a request that sends a push.
struct PushHead: Sendable {
    /// The path before the bundle.
    static let path = "/v1/pushes/"

    let bundle: BundleIdentifier
    let priority: PushPriority
    let signed: SignedPush

    /// Reads a head.
    ///
    /// - Throws: ``PushRefusal`` if it can't be that of a push.
    init(_ head: HTTPRequestHead) throws(PushRefusal) {
        guard head.uri.hasPrefix(Self.path),
            let bundle = try? BundleIdentifier(String(head.uri.dropFirst(Self.path.count)))
        else {
            throw PushRefusal(
                .noSuchRoute, "this host has no such path", remedy: "Send pushes to \(Self.path)BUNDLE")
        }
        guard head.method == .POST else {
            throw PushRefusal(.wrongMethod, "the method is not POST", remedy: "Send pushes with POST")
        }
        if let text = head.headers["content-length"].first, let length = Int(text),
            length > PushBody.greatestSize
        {
            throw PushBody.tooLarge
        }
        self.bundle = bundle
        priority = try Self.priority(head.headers["apns-priority"])
        signed = try SignedPush { head.headers[$0] }
    }

    private static func priority(_ texts: [String]) throws(PushRefusal) -> PushPriority {
        switch texts {
        case []: return .considerate
        case ["5"]: return .considerate
        case ["10"]: return .immediate
        default:
            throw PushRefusal(
                .malformedHeader, "apns-priority has another form",
                remedy: "Send 5 or 10, once, or leave it out")
        }
    }
}

import Pushes
import TaskModel
import Testing

@Suite struct PushBodyTests {
    private func code(_ text: String) -> PushRefusal.Code? { code(Array(text.utf8)) }

    private func code(_ bytes: [UInt8]) -> PushRefusal.Code? {
        do throws(PushRefusal) {
            _ = try PushBody.payload(of: bytes)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a payload with content-available 1 is a silent push`() throws {
        let text = #"{"aps": {"content-available": 1}, "unread": "größer"}"#
        #expect(try PushBody.payload(of: Array(text.utf8)) == text)
    }

    @Test(arguments: [
        "{}", #"{"aps": null}"#, #"{"aps": {}}"#, #"{"aps": {"content-available": 0}}"#,
        #"{"aps": {"content-available": "1"}}"#, #"{"aps": 1}"#, #"{"aps": {"alert": "hello"}}"#,
        #"{"content-available": 1}"#,
    ])
    func `any other payload is not`(text: String) { #expect(code(text) == .notSilent) }

    @Test(arguments: ["", "[]", "1", "{", "null", #"{"aps": {"content-available": 1}"#])
    func `a body that is no JSON object is malformed`(text: String) { #expect(code(text) == .malformedBody) }

    /// A valid payload, and something that a lax reader would overlook.
    @Test(arguments: [
        #"{"aps": {"content-available": 1}, "aps": {"alert": "x"}}"#,
        #"{"aps": {"content-available": 1, "content\u002davailable": 1}}"#,
        #"{"aps": {"content-available": 1}, "list": [{"a": 1, "a": 2}]}"#,
        #"{"aps": {"content-available": 1}} x"#, #"{"aps": {"content-available": 1}}{}"#,
        #"{"aps": {"content-available": 1}, 'x': 1}"#,
        #"{"aps": {"content-available": 1}} // note"#,
        #"{"aps": {"content-available": 1}, "x": NaN}"#,
        "\u{FEFF}" + #"{"aps": {"content-available": 1}}"#,
        #"{"aps": {"content-available": 1}}"# + "\0",
    ])
    func `a lax JSON is malformed, also as a message`(text: String) {
        #expect(code(text) == .malformedBody)
        #expect(UnifiedPushPayload.payload(of: Array(text.utf8))?.hasPrefix(#"{"message":"#) == true)
    }

    @Test func `UTF-16 is malformed`() {
        let text = #"{"aps": {"content-available": 1}}"#
        let little: [UInt8] = text.utf8.flatMap { byte -> [UInt8] in [byte, 0] }
        #expect(code(little) == .malformedBody)
        #expect(code([0] + little.dropLast()) == .malformedBody)
    }

    @Test func `only the host announces endpoints`() {
        let text = #"{"aps": {"content-available": 1}, "unifiedPush": {"endpoint": "https://evil.test"}}"#
        #expect(code(text) == .malformedBody)
        #expect(UnifiedPushPayload.payload(of: Array(text.utf8))?.hasPrefix(#"{"message":"#) == true)
    }

    @Test func `a message of UnifiedPush is a payload if it is an object, and else in base64`() {
        #expect(UnifiedPushPayload.payload(of: Array(#"{"a": 1}"#.utf8)) == #"{"a": 1}"#)
        #expect(UnifiedPushPayload.payload(of: [0xFF, 0x00]) == #"{"message":"/wA="}"#)
        #expect(UnifiedPushPayload.payload(of: []) == #"{"message":""}"#)
        #expect(UnifiedPushPayload.payload(of: [UInt8](repeating: 0x20, count: 4097)) == nil)
        #expect(
            UnifiedPushPayload.announcement(of: "https://push.test/x")
                == #"{"unifiedPush":{"endpoint":"https://push.test/x"}}"#)
        #expect(UnifiedPushPayload.announcement(of: nil) == #"{"unifiedPush":{"endpoint":null}}"#)
    }

    @Test func `bytes that are not UTF-8 are malformed`() {
        #expect(
            code(Array(#"{"aps": {"content-available": 1}, "x": ""#.utf8) + [0xFF, 0x22, 0x7D])
                == .malformedBody)
    }

    @Test func `a body may have 4 KiB and no more`() {
        let frame = #"{"aps":{"content-available":1},"x":""}"#
        let text = frame.dropLast(2) + String(repeating: "a", count: 4096 - frame.utf8.count) + "\"}"
        #expect(text.utf8.count == 4096)
        #expect(code(String(text)) == nil)
        #expect(code(String(text) + " ") == .bodyTooLarge)
    }

    @Test func `deep nesting is refused, and does not overflow the stack`() {
        #expect(code(#"{"aps":"# + String(repeating: "[", count: 4000)) == .malformedBody)
    }
}

@Suite struct PushRatesTests {
    private let (mail, news): (BundleIdentifier, BundleIdentifier)

    init() throws {
        (mail, news) = (try BundleIdentifier("org.example.mail"), try BundleIdentifier("org.example.news"))
    }

    private func wait(
        _ rates: inout PushRates, _ bundle: BundleIdentifier, at seconds: Double
    ) -> Int? {
        do throws(PushRefusal) {
            try rates.take(bundle, at: .seconds(seconds))
            return nil
        } catch {
            #expect(error.status == 429)
            return error.retryAfter
        }
    }

    @Test func `a bundle gets its number at once, and then one after the other`() {
        var rates = PushRates(.init(perBundle: 6, inAll: 100), at: .zero)
        for _ in 1...6 { #expect(wait(&rates, mail, at: 0) == nil) }
        #expect(wait(&rates, mail, at: 0) == 10)
        #expect(wait(&rates, mail, at: 4) == 6)
        #expect(wait(&rates, news, at: 4) == nil)
        #expect(wait(&rates, mail, at: 10) == nil)
        #expect(wait(&rates, mail, at: 10) == 10)
    }

    @Test func `all bundles together get a number, too, and a refusal costs nothing`() {
        var rates = PushRates(.init(perBundle: 3, inAll: 4), at: .zero)
        for _ in 1...3 { #expect(wait(&rates, mail, at: 0) == nil) }
        for _ in 1...5 { #expect(wait(&rates, mail, at: 0) == 20) }
        #expect(wait(&rates, news, at: 0) == nil)
        #expect(wait(&rates, news, at: 0) == 15)
        #expect(wait(&rates, news, at: 15) == nil)
    }
}

@Suite struct PushPlacesTests {
    @Test func `an address that opens many connections loses its own, the oldest first`() {
        var places = PushPlaces<Int>(4)
        #expect(places.open(1, from: "10.0.0.1") == nil)
        #expect(places.open(2, from: "10.0.0.9") == nil)
        #expect(places.open(3, from: "10.0.0.9") == nil)
        #expect(places.open(4, from: "10.0.0.9") == nil)
        #expect(places.open(5, from: "10.0.0.9") == 2)
        #expect(places.open(6, from: "10.0.0.9") == 3)
        #expect(places.open(7, from: "10.0.0.2") == 4)
        #expect(places.taken == 4)
    }

    @Test func `a connection whose push is being stored keeps its place`() {
        var places = PushPlaces<Int>(2)
        _ = places.open(1, from: "10.0.0.9")
        places.begin(1)
        _ = places.open(2, from: "10.0.0.9")
        #expect(places.open(3, from: "10.0.0.9") == 2)
        places.begin(3)
        #expect(places.open(4, from: "10.0.0.9") == 4, "no place can be freed, so the new one has none")
        places.end(1)
        #expect(places.open(5, from: "10.0.0.1") == 1)
        places.close(3)
        #expect(places.open(6, from: "10.0.0.1") == nil)
    }
}

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:8765", true), ("0.0.0.0:1", false), ("[::1]:65535", true), ("[fe80::1]:8080", false),
    ])
    func `an IP address with a port is an address`(text: String, isLoopback: Bool) throws {
        let address = try ListenAddress(text)
        #expect(address.description == text)
        #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", "8765", ":8765", "localhost:8765", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536",
        "127.0.0.256:80", "127.0.0.01:80", "127.0.0:80", "::1:8765", "[::1]", "[localhost]:80", "1.2.3.4:+8",
    ])
    func `another text is not`(text: String) {
        #expect(throws: ListenAddress.Problem.self) { try ListenAddress(text) }
    }
}

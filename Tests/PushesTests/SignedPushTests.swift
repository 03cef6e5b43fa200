import Pushes
import TaskModel
import Testing

/// The headers of Standard Webhooks; the expected signature was computed by Python's `hmac`.
@Suite struct SignedPushTests {
    static let secretText = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    static let body = Array(#"{"aps":{"content-available":1}}"#.utf8)
    static let signature = "v1,NGn/RcWgUve8co/E+q7w2O0qzvrAznbCKc7gesAOmj4="
    static let time = WallTime(sinceEpoch: .seconds(1_735_689_600))

    private func headers(_ changes: [String: [String]] = [:]) -> (String) -> [String] {
        let standard = [
            "webhook-id": ["msg_1"], "webhook-timestamp": ["1735689600"],
            "webhook-signature": [Self.signature],
        ]
        return { changes[$0] ?? standard[$0] ?? [] }
    }

    private func code(_ body: () throws(PushRefusal) -> Void) -> PushRefusal.Code? {
        do {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    /// The code of the refusal of a push with these headers; `nil` if it is accepted.
    private func outcome(
        _ changes: [String: [String]] = [:], body: [UInt8] = body, secrets: [String] = [secretText],
        after: Duration = .zero
    ) -> PushRefusal.Code? {
        code { () throws(PushRefusal) in
            try SignedPush(header: headers(changes)).check(
                body: body, secrets: secrets.compactMap { PushSecret($0) }, at: Self.time + after)
        }
    }

    @Test func `a push that its sender signed is accepted`() { #expect(outcome() == nil) }

    @Test func `the signature covers the id, the time and the body`() {
        #expect(outcome(["webhook-id": ["msg_2"]]) == .notSigned)
        #expect(outcome(["webhook-timestamp": ["1735689601"]]) == .notSigned)
        #expect(outcome(body: Self.body + [0x20]) == .notSigned)
    }

    @Test func `one right signature among several is enough, as when a secret changes`() {
        let wrong = "v1," + String(repeating: "A", count: 43) + "="
        #expect(outcome(["webhook-signature": ["\(wrong) \(Self.signature)"]]) == nil)
        #expect(outcome(["webhook-signature": ["v1a,abc \(Self.signature)"]]) == nil)
        #expect(outcome(["webhook-signature": [wrong]]) == .notSigned)
    }

    @Test func `each secret of the bundle is accepted, and without one nothing is`() {
        #expect(outcome(secrets: [PushSecret.random().text, Self.secretText]) == nil)
        #expect(outcome(secrets: [PushSecret.random().text]) == .notSigned)
        #expect(outcome(secrets: []) == .notSigned)
    }

    @Test func `the time of the signature may be 5 min away from the clock, and no more`() {
        #expect(outcome(after: .seconds(300)) == nil)
        #expect(outcome(after: .seconds(-300)) == nil)
        #expect(outcome(after: .milliseconds(300_001)) == .outsideWindow)
        #expect(outcome(after: .milliseconds(-300_001)) == .outsideWindow)
    }

    @Test(
        arguments: [
            ["webhook-id": []], ["webhook-id": ["a", "b"]], ["webhook-id": [""]],
            ["webhook-id": ["a b"]], ["webhook-id": [String(repeating: "a", count: 129)]],
            ["webhook-timestamp": []], ["webhook-timestamp": ["-5"]], ["webhook-timestamp": ["1e9"]],
            ["webhook-timestamp": ["9999999999999"]], ["webhook-timestamp": ["1735689600", "1735689600"]],
            ["webhook-signature": []], ["webhook-signature": [""]], ["webhook-signature": ["v2,AAAA"]],
            ["webhook-signature": ["v1,%%%"]],
            ["webhook-signature": [String(repeating: "v1,AAAA ", count: 9)]],
        ] as [[String: [String]]])
    func `headers that are missing, given twice or of another form are refused`(
        changes: [String: [String]]
    ) {
        #expect(outcome(changes) == .malformedHeader)
    }
}

@Suite struct PushSecretTests {
    @Test func `a secret has the form of Standard Webhooks and survives its text`() throws {
        let secret = PushSecret.random()
        #expect(secret.text.hasPrefix("whsec_"))
        #expect(PushSecret(secret.text) == secret)
        #expect(secret != PushSecret.random())
    }

    @Test(arguments: [
        "", "whsec_", "whsec_AAAA", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "whsec_!!!!",
    ])
    func `another text is no secret`(text: String) { #expect(PushSecret(text) == nil) }

    @Test func `a change keeps at most one earlier secret`() throws {
        let (first, second, third) = (PushSecret.random(), PushSecret.random(), PushSecret.random())
        #expect(PushSecretChange.create.applied(to: []) { first } == [first])
        #expect(PushSecretChange.create.applied(to: [first]) == nil)
        #expect(PushSecretChange.rotate.applied(to: [second, first]) { third } == [third, second])
        #expect(PushSecretChange.rotate.applied(to: []) == nil)
        #expect(PushSecretChange.settle.applied(to: [second, first]) == [second])
        #expect(PushSecretChange.settle.applied(to: []) == nil)
        #expect(PushSecretChange.replace.applied(to: [second, first]) { third } == [third])
        #expect(PushSecretChange.remove.applied(to: [second, first]) == [])
    }
}

import Pushes
import Synchronization
import TaskModel
import Testing

@Suite struct PushRegistrationTests {
    private let (mail, news): (BundleIdentifier, BundleIdentifier)

    init() throws {
        (mail, news) = (
            try BundleIdentifier("org.example.mail"), try BundleIdentifier("org.example.news")
        )
    }

    private func make(
        _ choice: DistributorChoice = .any, _ rows: [BundleIdentifier: PushRegistration] = [:]
    ) -> PushRegistrations {
        let count = Counter()
        return PushRegistrations(rows, choice: choice) { "t\(count.next())" }
    }

    private final class Counter: Sendable {
        private let last = Mutex(0)
        func next() -> Int {
            last.withLock {
                $0 += 1; return $0
            }
        }
    }

    private let kde = "org.unifiedpush.Distributor.kde"
    private let ntfy = "org.unifiedpush.Distributor.ntfy"

    private func row(
        _ token: String, _ distributor: String, _ endpoint: String? = nil, told: Bool = false
    ) -> PushRegistration {
        PushRegistration(
            token: token, distributor: distributor, endpoint: endpoint, announced: told ? endpoint : nil)
    }

    @Test func `bundles are registered when a distributor is there, stored before it is asked`() {
        var book = make()
        #expect(book.set(bundles: [mail, news]) == [])
        #expect(
            book.set(distributors: [ntfy, kde]) == [
                .save, .register(mail, row("t1", kde)), .register(news, row("t2", kde)),
            ])
        #expect(book.set(distributors: [ntfy, kde]) == [])
        #expect(book.bundle(of: "t2") == news)
        #expect(book.bundle(of: "t3") == nil)
    }

    @Test func `a new endpoint is stored and announced, the same one is not`() {
        var book = make(.any, [mail: row("a", kde)])
        #expect(book.set(endpoint: "https://x", of: "a") == [.save, .announce(mail, endpoint: "https://x")])
        #expect(book.set(endpoint: "https://x", of: "a") == [])
        #expect(book.set(endpoint: "https://y", of: "unknown") == [])
        #expect(book.unregistered("a") == [.save, .announce(mail, endpoint: nil)])
        #expect(book.unregistered("a") == [])
    }

    @Test func `a bundle that was not told its endpoint is told by the next host`() {
        var book = make(.any, [mail: row("a", kde, "https://x"), news: row("b", kde)])
        #expect(book.set(bundles: [mail, news]) == [.announce(mail, endpoint: "https://x")])
        #expect(book.announced("https://x", to: mail) == [.save])
        #expect(book.announced("https://x", to: mail) == [])
        var next = make(.any, book.rows)
        #expect(next.set(bundles: [mail, news]) == [])
    }

    @Test func `a distributor that comes back hears of its registrations again`() {
        var book = make(.any, [mail: row("a", ntfy, "https://x", told: true)])
        #expect(book.set(bundles: [mail]) == [])
        #expect(
            book.set(distributors: [kde, ntfy]) == [.register(mail, row("a", ntfy, "https://x", told: true))])
        #expect(book.set(distributors: []) == [])
        #expect(book.set(distributors: [ntfy]) == [.register(mail, row("a", ntfy, "https://x", told: true))])
        #expect(book.set(distributors: [kde]) == [], "while it is away, no other takes its place")
        #expect(book.started(ntfy) == [.register(mail, row("a", ntfy, "https://x", told: true))])
        #expect(
            book.started(ntfy) == [.register(mail, row("a", ntfy, "https://x", told: true))],
            "it may have forgotten")
    }

    @Test func `a bundle without the task gives its token back`() {
        var book = make(.any, [mail: row("a", kde, "https://x")])
        _ = book.set(bundles: [mail])
        _ = book.set(distributors: [kde])
        #expect(book.set(bundles: []) == [.save, .unregister(row("a", kde, "https://x"))])
        #expect(book.rows.isEmpty)
    }

    @Test func `another choice moves the bundles to that distributor`() {
        var book = make(.named(ntfy), [mail: row("a", kde, "https://x")])
        _ = book.set(bundles: [mail])
        #expect(
            book.set(distributors: [kde, ntfy]) == [
                .save, .unregister(row("a", kde, "https://x")), .register(mail, row("t1", ntfy)),
                .announce(mail, endpoint: nil),
            ])
    }

    @Test(
        arguments: [
            ("none", DistributorChoice.none), ("", DistributorChoice.none), ("any", .any), ("kde", nil),
            ("org.unifiedpush.Distributor", nil),
            ("org.unifiedpush.Distributor.kde", .named("org.unifiedpush.Distributor.kde")),
            ("org.unifiedpush.Distributor.a b", nil),
        ] as [(String, DistributorChoice?)])
    func `a choice is none, any, or a bus name`(text: String, choice: DistributorChoice?) {
        #expect(DistributorChoice(text) == choice)
    }
}

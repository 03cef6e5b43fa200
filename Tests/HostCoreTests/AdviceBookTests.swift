import RequestStore
import TaskModel
import Testing

@testable import HostCore

@Suite struct AdviceBookTests {
    private let bundle: BundleIdentifier
    private let other: BundleIdentifier

    init() throws {
        bundle = try BundleIdentifier("com.example.one")
        other = try BundleIdentifier("com.example.two")
    }

    private func piece(_ code: String, _ message: String = "do it") -> PluginAdvice {
        PluginAdvice(
            code: code, message: message, launch: LaunchID(rawValue: 1), at: WallTime(milliseconds: 0))
    }

    @Test func `the same of the same version is no news, of another version or bundle it is`() {
        var book = AdviceBook()
        let news = [
            book.add(piece("a"), of: bundle, libraryHash: "1"),
            book.add(piece("a"), of: bundle, libraryHash: "1"),
            book.add(piece("a", "do that"), of: bundle, libraryHash: "1"),
            book.add(piece("b"), of: bundle, libraryHash: "1"),
            book.add(piece("a"), of: other, libraryHash: "1"),
        ]
        #expect(news == [true, false, true, true, true])
        #expect(book.entries[bundle]?.advice.map(\.code) == ["a", "a", "b"])
        let isNews = book.add(piece("a"), of: bundle, libraryHash: "2")
        #expect(isNews && book.entries[bundle] == .init(libraryHash: "2", advice: [piece("a")]))
    }

    @Test func `a hundred pieces of one version are kept, and no more told`() {
        var book = AdviceBook()
        let news = (0..<150).filter { book.add(piece("a", "\($0)"), of: bundle, libraryHash: "1") }
        #expect(news == Array(0..<100))
    }

    @Test func `what was told of a replaced library is forgotten, of one that is gone for now not`() {
        var book = AdviceBook()
        _ = book.add(piece("a"), of: bundle, libraryHash: "1")
        _ = book.add(piece("a"), of: other, libraryHash: "1")
        let forgotten = [
            book.forget(besides: [bundle: "1"]), book.forget(besides: [bundle: "2"]),
            book.forget(besides: [other: nil]),
        ]
        #expect(forgotten == [[], [bundle], [other]])
        #expect(book.entries.isEmpty)
    }
}

import DesktopNotices
import TaskModel
import Testing

/// Which lines of the log become notices of a desktop.
struct NoticeBookTests {
    private func line(
        _ message: String, task: String = "org.example.feed.refresh", name: String = "articles",
        source: LogLine.Source = .handler, subsystem: String? = NoticeBook.subsystem
    ) throws -> LogLine {
        var line = LogLine(
            at: WallTime(milliseconds: 0), level: .notice, source: source,
            identifier: try TaskIdentifier(task), message: message
        )
        line.subsystem = subsystem
        line.category = name
        return line
    }

    @Test func `a notification has its title as the summary, and the rest as the body`() throws {
        var book = NoticeBook(at: .zero)
        guard case .show(let notice) = book.take(try line("Feed: Today - 3 new <b>: now"), at: .zero) else {
            Issue.record("not shown")
            return
        }
        #expect(notice.summary == "Feed" && notice.body == "Today - 3 new <b>: now")
        #expect(notice.body.withoutMarkup == "Today - 3 new &lt;b&gt;: now")
        guard case .show(let plain) = book.take(try line("Ready"), at: .zero) else {
            Issue.record("not shown")
            return
        }
        #expect(plain.summary == "Ready" && plain.body == "")
        let long = try line(String(repeating: "x", count: 5000))
        guard case .show(let cut) = book.take(long, at: .zero) else {
            Issue.record("not shown")
            return
        }
        #expect(cut.summary.count == NoticeBook.longestText && cut.summary.hasSuffix("…"))
    }

    @Test func `lines of other subsystems, and those that a handler prints, are no notifications`() throws {
        var book = NoticeBook(at: .zero)
        #expect(book.take(try line("x", subsystem: "org.example"), at: .zero) == .none)
        #expect(book.take(try line("x", source: .standardOutput), at: .zero) == .none)
        #expect(book.take(try line(""), at: .zero) == .none)
    }

    @Test func `a notification replaces the one with the same name of the same task`() throws {
        var book = NoticeBook(at: .zero)
        func show(_ task: String, _ name: String) throws -> DesktopNotice {
            guard case .show(let notice) = book.take(try line("x", task: task, name: name), at: .zero) else {
                throw NotShown()
            }
            return notice
        }
        let first = try show("a.b", "one")
        #expect(book.replaced(by: first) == 0)
        book.remember(first, number: 7)
        #expect(book.replaced(by: try show("a.b", "one")) == 7)
        #expect(book.replaced(by: try show("a.b", "two")) == 0)
        #expect(book.replaced(by: try show("a.c", "one")) == 0)
    }

    @Test func `a task shows ten notices at once and then ten a minute, and says once that it had more`()
        throws
    {
        var book = NoticeBook(at: .zero)
        for _ in 0..<NoticeBook.mostPerTask {
            guard case .show = book.take(try line("x"), at: .zero) else { throw NotShown() }
        }
        #expect(book.take(try line("x"), at: .zero) == .tooMany(isFirst: true))
        #expect(book.take(try line("x"), at: .seconds(1)) == .tooMany(isFirst: false))
        guard case .show = book.take(try line("x", task: "a.b"), at: .seconds(1)) else { throw NotShown() }
        guard case .show = book.take(try line("x"), at: .seconds(7)) else { throw NotShown() }
        #expect(book.take(try line("x"), at: .seconds(7)) == .tooMany(isFirst: true))
    }

    @Test func `all tasks together show thirty notices at once`() throws {
        var book = NoticeBook(at: .zero)
        var shown = 0
        for number in 0..<100 {
            if case .show = book.take(try line("x", task: "a.b\(number)"), at: .zero) { shown += 1 }
        }
        #expect(shown == NoticeBook.most)
    }

    private struct NotShown: Error {}
}

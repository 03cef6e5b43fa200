import CSQLite
import Foundation
import Testing

@Suite(.serialized) struct FeedRefresherTests {
    let plugin: PluginHarness
    let folder = try! ScratchFolder()
    let data = try! ScratchFolder()

    init() throws {
        plugin = try PluginHarness("FeedRefresher")
        try folder.write(
            "news.rss",
            Data(
                """
                <?xml version="1.0"?><rss version="2.0"><channel><title>News &amp; views</title>
                <item><title>First</title><link>https://example.org/1</link><guid>g1</guid>
                <pubDate>Mon, 02 Jan 2006 15:04:05 +0100</pubDate></item>
                <item><title><![CDATA[Second <b>]]></title><link>https://example.org/2</link></item>
                </channel></rss>
                """.utf8))
        try folder.write(
            "log.atom",
            Data(
                """
                <feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title>
                <entry><id>urn:1</id><title>Entry</title><author><title>not this</title></author>
                <link rel="self" href="https://example.org/self"/><link href="https://example.org/e"/>
                <updated>2006-01-02T14:04:05Z</updated></entry></feed>
                """.utf8))
    }

    private var payload: String { #"{"directory": "\#(folder.path)"}"# }

    /// The digest's entries, one line for each.
    private func items() throws -> [String] {
        var database: OpaquePointer?
        var statement: OpaquePointer?
        defer { sqlite3_close_v2(database) }
        let sql =
            "SELECT file || '|' || key || '|' || title || '|' || link || '|' || ifnull(published, '-') FROM item ORDER BY 1"
        guard
            sqlite3_open_v2(data.path + "/digest.sqlite", &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK,
            sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK
        else { throw HarnessError(description: String(cString: sqlite3_errmsg(database))) }
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(String(cString: sqlite3_column_text(statement, 0)))
        }
        return rows
    }

    private let all = [
        "log.atom|urn:1|Entry|https://example.org/e|1136210645",
        "news.rss|g1|First|https://example.org/1|1136210645",
        "news.rss|https://example.org/2|Second <b>|https://example.org/2|-",
    ]

    @Test func `it takes in RSS and Atom, and a second time changes nothing`() throws {
        let first = plugin.run(payload: payload, dataDirectory: data.path)
        #expect(first.completion?.message == "2 feeds read, 0 unchanged, 0 refused, 3 new entries")
        #expect(first.completion?.success == true)
        #expect(first.progress.map(\.completed) == [1, 2])
        #expect(try items() == all)
        let second = plugin.run(payload: payload, dataDirectory: data.path)
        #expect(second.completion?.message == "0 feeds read, 2 unchanged, 0 refused, 0 new entries")
        #expect(try items() == all)
    }

    @Test func `told to stop, it returns without completing, and the next attempt does the rest`() throws {
        let first = plugin.run(payload: payload, dataDirectory: data.path, expiringAfter: 1)
        #expect(first.completion == nil)
        #expect(try items() == [all[0]])
        let second = plugin.run(payload: payload, dataDirectory: data.path)
        #expect(second.completion?.message == "1 feeds read, 1 unchanged, 0 refused, 2 new entries")
        #expect(try items() == all)
    }

    @Test func `a file that is no feed is refused by name and line, the others are taken in`() throws {
        try folder.write("broken.xml", Data("<rss>\n<channel></rss>".utf8))
        try folder.write("other.xml", Data("<html/>".utf8))
        let run = plugin.run(payload: payload, dataDirectory: data.path)
        #expect(run.completion?.success == false)
        #expect(run.completion?.message == "2 feeds read, 0 unchanged, 2 refused, 3 new entries")
        #expect(run.log.contains { $0.hasPrefix("broken.xml: line 2") })
        #expect(run.log.contains("other.xml: neither RSS nor Atom"))
        #expect(try items() == all)
    }

    @Test func `without a payload it makes its own folder and says where to put feeds`() {
        let run = plugin.run(payload: nil, dataDirectory: data.path)
        #expect(run.completion?.success == true)
        #expect(run.log == ["there are no feeds yet; put RSS or Atom files into \(data.path)/feeds"])
    }
}

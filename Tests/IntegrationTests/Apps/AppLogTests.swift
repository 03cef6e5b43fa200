import Foundation
import TaskHostTestSupport
import Testing

/// Messages that apps write with `os` and `OSLog`, as `bgtask logs` shows them.
@Suite(.system) struct AppLogTests {
    private func start() throws -> AppHost {
        try AppHost(
            "LogApp",
            tasks: Dictionary(
                uniqueKeysWithValues: ["levels", "privacy", "formats", "c", "intervals", "store"].map {
                    ($0, "processing")
                }))
    }

    /// The level and message of each line of a category in `bgtask logs --json`.
    private func lines(of category: String, in app: AppHost, _ arguments: String...) throws -> [String] {
        let answer = app.host.run(["logs", "--category", category, "--json"] + arguments)
        return try answer.output.split(separator: "\n").map { line in
            let row = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(row["source"] as? String == "handler" && row["launch"] is String, "\(row)")
            return "\(row["level"] as? String ?? "none") \(row["message"] as? String ?? "none")"
        }
    }

    @Test func `every level of a logger arrives as one of the host's, and readers filter by it`() throws {
        let app = try start()
        #expect(try app.launch("levels").outcome == "succeeded")
        #expect(
            try lines(of: "levels", in: app) == [
                "debug traced", "debug debugged", "info informed", "notice noticed", "notice logged",
                "warning warned", "error erred", "error critical", "error faulty", "info logged as info",
                "error logged as fault",
            ])
        #expect(
            try lines(of: "levels", in: app, "--level", "warning") == [
                "warning warned", "error erred", "error critical", "error faulty", "error logged as fault",
            ])
        let text = app.host.run("logs", "--subsystem", "org.example.log", "--level", "notice").output
        #expect(text.contains("[org.example.log:levels] noticed"), "\(text)")
        #expect(text.contains("[org.example.log:handed] by a handed log"), "\(text)")
        #expect(!text.contains("informed") && !text.contains("without names"), "\(text)")
        #expect(app.host.run("logs", "--subsystem", "org.example.other").output == "")
        let all = app.host.run("logs").output
        #expect(all.contains("without names") && !all.contains("never written"), "\(all)")
        #expect(app.host.stop() == 0)
    }

    @Test func `a task reads its own messages from a log store, and no others`() throws {
        let app = try start()
        #expect(try app.launch("levels").outcome == "succeeded")
        let ended = try app.launch("store")
        #expect(ended.outcome == "succeeded", "\(ended)")
        for line in [
            "exported: [kept] 5 faulty <private>", "exported: [kept] 4 warned somebody", "later: 0",
            #"matching: ["of another"]"#,
        ] {
            #expect(ended.lines.contains { $0.hasSuffix(line) }, "\(line) in \(ended.lines)")
        }
        #expect(ended.lines.filter { $0.contains("exported: ") }.count == 2, "\(ended.lines)")
        #expect(
            ended.lines.contains { $0.contains("refused: ") && $0.contains("'bgtask logs'") },
            "\(ended.lines)")
        #expect(app.host.stop() == 0)
    }

    @Test func `texts and objects are private unless said otherwise, and equal values have equal hashes`()
        throws
    {
        let app = try start()
        #expect(try app.launch("privacy").outcome == "succeeded")
        let all = try lines(of: "privacy", in: app)
        #expect(
            all.prefix(6) == [
                "notice text <private>, number 12, flag true, literal a file",
                "notice public somebody, hidden number <private>",
                "notice sensitive <private>, public number 12",
                "notice object <private>, public object account 7",
                "notice object <private>, 4",
                "notice error <private>",
            ])
        let hashes = all.dropFirst(6).map { $0.split(separator: " ", maxSplits: 2).last ?? "" }
        try #require(hashes.count == 4, "\(all)")
        #expect(hashes[0].hasPrefix("<mask.hash: '") && hashes[0] == hashes[1], "\(hashes)")
        #expect(hashes[2] != hashes[0] && hashes[2].hasPrefix("<mask.hash: '"), "\(hashes)")
        #expect(hashes[3] == "\(hashes[0]), number 12", "\(hashes)")
        let secrets = app.lines(of: "L2").filter { $0.contains("somebody") }
        #expect(secrets.count == 1, "nothing but what was made public has left the process: \(secrets)")

        #expect(try app.launch("privacy").outcome == "succeeded")
        let again = try lines(of: "privacy", in: app)
        #expect(again.count == 2 * all.count && again.suffix(all.count) == all[...], "in every launch")
        #expect(app.host.stop() == 0)
    }

    @Test func `values stand in their columns and formats`() throws {
        let app = try start()
        #expect(try app.launch("formats").outcome == "succeeded")
        #expect(
            try lines(of: "formats", in: app) == [
                "info [abc  ]", "info [  abc]", "info [007] [ff] [10]", "info [+7]", "info [  0xFF]",
                "info [0o10]", "info [1.500000] [1.2] [1.25]", "info [+1.50]", "info [5.00e-01]",
                "info [yes] [false]", "info [3] [-9223372036854775808]",
            ])
        #expect(app.host.stop() == 0)
    }

    @Test func `a format of C keeps the same privacy`() throws {
        let app = try start()
        #expect(try app.launch("c").outcome == "succeeded")
        var all = try lines(of: "c", in: app)
        let place = try #require(all.firstIndex { $0.hasPrefix("notice hash ") }, "\(all)")
        let hash = all.remove(at: place)
        #expect(hash.hasPrefix("notice hash <mask.hash: '") && !hash.contains("somebody"), "\(hash)")
        #expect(
            all == [
                "notice public somebody, private <private>", "info count 3 of 4, rate 0.12, 100 %",
                "debug hidden <private>", "error first somebody, then 6",
                "info C somebody, <private>, <private>", "error object 9",
                "info interpolated <private> and somebody", "info padded     1|2   |003|ff",
            ])
        let text = app.host.run("logs").output
        #expect(text.contains(" plain") && text.contains("interpolated by default somebody"), "\(text)")
        #expect(app.host.stop() == 0)
    }

    @Test func `signposts are intervals with their times`() throws {
        let app = try start()
        #expect(try app.launch("intervals").outcome == "succeeded")
        let timeless = { (lines: [String]) in
            lines.map { $0.replacing(/\d+\.\d{3} ms/, with: "N ms") }
        }
        #expect(
            timeless(try lines(of: "intervals", in: app)) == [
                "debug interval decode begins: of 3 files", "debug event page: number 1",
                "debug interval decode: N ms: done", "debug interval sum: N ms", "debug summed to 2",
            ])
        #expect(
            timeless(try lines(of: "PointsOfInterest", in: app)) == [
                "debug event retry: attempt 2 of photos", "debug interval upload: N ms: 512 bytes",
            ])
        #expect(try lines(of: "of a logger", in: app) == ["debug event here"])
        #expect(app.host.stop() == 0)
    }
}

import Foundation
import Testing

/// Documentation/Rules.md names a test for each of Apple's rules.
@Suite struct RulesDocumentTests {
    private static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    @Test func `every test that the table of rules names is there`() throws {
        let folder = Self.repository.appendingPathComponent("Tests/IntegrationTests")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }
        let code = try files.map {
            try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
        }.joined()
        let table = try String(
            contentsOf: Self.repository.appendingPathComponent("Documentation/Rules.md"), encoding: .utf8)
        let rows = table.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| rule") }
        #expect(rows.count > 40, "\(rows.count)")
        for row in rows {
            let cell = row.split(separator: "|").last ?? ""
            // Between backticks: every second piece.
            let names = cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map(\.element)
            #expect(!names.isEmpty, "no test: \(row)")
            for name in names where !name.hasPrefix("Tests/") {
                #expect(code.contains("func `\(name)`"), "no such test: \(name)")
            }
        }
    }
}

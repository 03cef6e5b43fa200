import Foundation
import Testing

/// Documentation/Rules.md names a test for each of Apple's rules.
@Suite struct RulesDocumentTests {
    private static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: repository.appendingPathComponent(path), encoding: .utf8)
    }

    /// The texts between backticks: every second piece.
    private static func names(in text: some StringProtocol) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    @Test func `every test that the table of rules names is there, in the file that its row names`() throws {
        let folder = "Tests/IntegrationTests"
        let files = try FileManager.default
            .subpathsOfDirectory(atPath: Self.repository.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(".swift") }
        let integration = try files.map { try Self.text("\(folder)/\($0)") }.joined()
        let rows = try Self.text("Documentation/Rules.md").split(separator: "\n")
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| rule") }
        #expect(rows.count > 40, "\(rows.count)")
        for row in rows {
            let names = Self.names(in: row.split(separator: "|").last ?? "")
            let tests = names.filter { !$0.hasPrefix("Tests/") }
            #expect(!tests.isEmpty, "no test: \(row)")
            let code = try names.first { $0.hasPrefix("Tests/") }.map(Self.text) ?? integration
            for test in tests where !code.contains("func `\(test)`") {
                Issue.record("no such test there: \(test)")
            }
        }
    }

    @Test func `every file and heading that the rules lead to is there`() throws {
        let rules = try Self.text("Documentation/Rules.md")
        for path in Self.names(in: rules) where path.hasPrefix("Tests/") {
            let place = Self.repository.appendingPathComponent(path).path
            #expect(FileManager.default.fileExists(atPath: place), "\(path)")
        }
        let links = rules.matches(of: /\]\(([A-Za-z\/.]+)(?:#([a-z0-9-]+))?\)/)
        #expect(links.count >= 3)
        for link in links {
            let document = try Self.text("Documentation/\(link.1)")
            guard let heading = link.2 else { continue }
            let headings = document.split(separator: "\n").filter { $0.hasPrefix("#") }.map {
                $0.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
            }
            #expect(headings.contains(String(heading)), "\(link.0)")
        }
    }
}

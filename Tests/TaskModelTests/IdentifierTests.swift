import TaskModel
import Testing

@Suite struct IdentifierTests {
    @Test(arguments: ["a", "com.example.A_b-c", String(repeating: "x", count: 128)])
    func `what fits the grammar is taken as it is`(text: String) throws {
        #expect(try TaskIdentifier(text).rawValue == text)
    }

    @Test(arguments: [
        "", "../../etc", "a b", "a\n", "a\u{0}", "\u{1B}[31m", "é", "а", String(repeating: "x", count: 129),
    ])
    func `what does not fit is refused, and the refusal is printable`(text: String) {
        let error = #expect(throws: IdentifierError.self) { try TaskIdentifier(text) }
        let isPrintable = error?.description.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) }
        #expect(isPrintable == true, "\(String(describing: error))")
    }

    @Test func `a wildcard needs a further label and matches any number of them`() throws {
        let pattern = try IdentifierPattern("com.example.export.*")
        #expect(pattern.matches(try TaskIdentifier("com.example.export.a")))
        #expect(pattern.matches(try TaskIdentifier("com.example.export.a.b")))
        #expect(!pattern.matches(try TaskIdentifier("com.example.export")))
        #expect(!pattern.matches(try TaskIdentifier("com.example.export.")))
        #expect(!pattern.matches(try TaskIdentifier("com.example.exports.a")))
    }

    @Test func `the exact declaration wins over a wildcard, the longer wildcard over the shorter`() throws {
        let tasks = try ["a.*", "a.b.*", "a.b.c"].map {
            TaskDeclaration(pattern: try IdentifierPattern($0), kind: .continuedProcessing)
        }
        let manifest = Manifest(
            bundle: try BundleIdentifier("a"), library: nil, modes: [], tasks: tasks,
            sandbox: SandboxDeclaration())
        func pattern(_ text: String) throws -> String? {
            manifest.declaration(for: try TaskIdentifier(text))?.pattern.description
        }
        #expect(try pattern("a.b.c") == "a.b.c")
        #expect(try pattern("a.b.d") == "a.b.*")
        #expect(try pattern("a.d") == "a.*")
        #expect(try pattern("b") == nil)
    }
}

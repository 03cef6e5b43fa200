import TaskModel
import Testing

struct ShortNameTests {
    private let names = [
        "com.example.treehash.hash", "com.example.photos.cleanup", "com.example.photos.hashes",
        "com.example.backup.nightly", "com.example.backup",
    ]

    @Test(
        arguments: [
            // The identifier itself, even if it begins others.
            ("com.example.backup", ["com.example.backup"]),
            // Its last labels, even if another's last label begins with the word.
            ("hash", ["com.example.treehash.hash"]), ("photos.cleanup", ["com.example.photos.cleanup"]),
            // The beginnings of its last labels.
            ("treeh.h", ["com.example.treehash.hash"]), ("clean", ["com.example.photos.cleanup"]),
            ("backup", ["com.example.backup"]), ("back.night", ["com.example.backup.nightly"]),
            // The beginnings of other labels.
            ("tree", ["com.example.treehash.hash"]), ("example.tree", ["com.example.treehash.hash"]),
            // More than one.
            ("has", ["com.example.photos.hashes", "com.example.treehash.hash"]),
            ("photos", ["com.example.photos.cleanup", "com.example.photos.hashes"]),
            // A short form leaves out the beginning.
            ("com.example.photos", []), ("com", []), ("com.example.photos.clean", []), ("com.ex.backup", []),
            // None.
            ("lean", []), ("cleanup.photos", []), ("", []), (".", []), ("photos.", []), (".cleanup", []),
            ("com.example.backup.nightly.more", []),
        ] as [(String, [String])])
    func `a short form means the names that fit it best`(word: String, expected: [String]) {
        #expect(ShortName.meanings(of: word, in: names) == expected)
    }

    @Test func `a name that is there twice is one meaning`() {
        #expect(ShortName.meanings(of: "a", in: ["x.a", "x.a"]) == ["x.a"])
    }

    @Test func `a short form of a wildcard ends with what the user adds`() throws {
        let pattern = try IdentifierPattern("com.example.export.*")
        func expansion(_ word: String) -> String? { ShortName.expansion(of: word, by: pattern) }
        #expect(expansion("export.42") == "com.example.export.42")
        #expect(expansion("com.example.export.42.a") == "com.example.export.42.a")
        // One label would be the end of every wildcard.
        #expect(expansion("42") == nil)
        #expect(ShortName.expansion(of: "b.a", by: try IdentifierPattern("x.b.a")) == nil)
        #expect(ShortName.meanings(of: "photos.42", in: ["com.example.export.42"]) == [])
    }
}

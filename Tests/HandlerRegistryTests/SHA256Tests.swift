import Foundation
import Testing

import Digests

/// SHA-256, compared with results of NIST and of `sha256sum`.
@Suite struct SHA256Tests {
    private func hash(_ text: String) -> String { SHA256.hexadecimal(of: Array(text.utf8)) }

    /// The messages of FIPS 180-4's examples, and one of NIST's long messages.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func `NIST's messages have NIST's digests`(message: String, digest: String) {
        #expect(hash(message) == digest)
    }

    /// Lengths at which the padding just fits the last block, just does not fit, or needs a block of its own.
    @Test(arguments: [
        (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
        (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
        (120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
    ])
    func `the lengths at which padding turns over are right`(count: Int, digest: String) {
        #expect(hash(String(repeating: "a", count: count)) == digest)
    }

    @Test func `every length through three blocks agrees with sha256sum`() throws {
        let folder = try TemporaryFolder()
        var names: [String] = []
        for count in 0...193 {
            names.append(folder.path + "/data/\(count)")
            try Data(repeating: UInt8(ascii: "a"), count: count).write(to: URL(filePath: names[count]))
        }
        let sums = try folder.run("sha256sum", names).split(separator: "\n").map { $0.prefix(64) }
        try #require(sums.count == names.count)
        for (count, sum) in sums.enumerated() {
            #expect(hash(String(repeating: "a", count: count)) == sum, "\(count) bytes")
        }
    }
}

import ArgumentParser
import LinuxSystem

/// One line of the input of `bgtask transfer --input`: an address and, after white space, optionally a file.
struct TransferLine: Equatable {
    /// The longest input: 64 MiB, which is far more than a host's transfers.
    private static let maximumSize = 64 << 20

    let url: String
    var file: String?

    init(url: String, file: String? = nil) {
        self.url = url
        self.file = file
    }

    /// Reads the lines of a text; empty ones and those that begin with `#` are skipped.
    static func lines(of text: String) -> [TransferLine] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            let parts = line.split(maxSplits: 1, whereSeparator: { $0 == " " || $0 == "\t" })
            guard let url = parts.first, !url.hasPrefix("#") else { return nil }
            var file = parts.count > 1 ? parts[1] : ""
            while let last = file.last, last == " " || last == "\t" { file.removeLast() }
            while let first = file.first, first == " " || first == "\t" { file.removeFirst() }
            return TransferLine(url: String(url), file: file.isEmpty ? nil : String(file))
        }
    }

    /// Reads the lines of a file.
    ///
    /// - Parameter path: The file; `-` is the standard input.
    /// - Returns: The lines.
    /// - Throws: `ValidationError` if the file can't be read.
    static func read(_ path: String) throws -> [TransferLine] {
        do {
            let bytes =
                try path == "-"
                ? Surroundings.current.input() : FileContents.read(path, limit: Self.maximumSize)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw ValidationError("\(path) is not UTF-8. Give a file of UTF-8 text.")
            }
            return lines(of: text)
        } catch let error as ValidationError {
            throw error
        } catch {
            throw ValidationError("\(path) can't be read: \(error)")
        }
    }
}

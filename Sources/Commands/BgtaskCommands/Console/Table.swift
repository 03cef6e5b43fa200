import ControlWire

/// Rows under headings; each column is as wide as its widest cell.
struct Table {
    /// The headings of the columns.
    let columns: [String]
    private(set) var rows: [[String]] = []
    /// The width of each column so far.
    private var widths: [Int]
    /// Whether the headings have been printed.
    private var isBegun = false

    init(_ columns: String...) {
        self.columns = columns
        widths = columns.map(\.count)
    }

    /// Adds a row.
    ///
    /// It escapes characters that a terminal must not receive, and shows an empty cell as `-`.
    mutating func add(_ cells: String...) {
        rows.append(cells.map { $0.isEmpty ? "-" : Printable.text($0) })
    }

    /// The lines of the table, headings first.
    ///
    /// If there is a width, longer lines are cut to it.
    func lines(width: Int?, style: Style) -> [String] {
        var whole = self
        return whole.takeLines(width: width, style: style)
    }

    /// Removes the rows that were added since the last call, and returns their lines.
    ///
    /// The first call also returns the headings. A column never becomes narrower than in earlier calls.
    mutating func takeLines(width: Int?, style: Style) -> [String] {
        for index in columns.indices {
            for row in rows { widths[index] = max(widths[index], row[index].count) }
        }
        var lines = isBegun ? [] : [style.bold(line(columns, width))]
        isBegun = true
        lines.reserveCapacity(rows.count + 1)
        for row in rows { lines.append(line(row, width)) }
        rows = []
        return lines
    }

    private func line(_ cells: [String], _ width: Int?) -> String {
        var text = ""
        for (index, cell) in cells.enumerated() {
            text += cell
            if index < cells.count - 1 {
                text += String(repeating: " ", count: widths[index] - cell.count + 2)
            }
        }
        return Self.cut(text, to: width)
    }

    /// The first `width` characters of the text; if any were cut off, the last one is an ellipsis.
    static func cut(_ text: String, to width: Int?) -> String {
        guard let width, width > 1, text.count > width else { return text }
        return text.prefix(width - 1) + "…"
    }
}

extension Console {
    /// Writes a table, or a sentence if it has no rows.
    func print(_ table: Table, ifEmpty sentence: String) throws {
        guard !table.rows.isEmpty else { return try line(sentence) }
        for text in table.lines(width: width, style: style) { try line(text) }
    }

    /// Writes a table page by page, as the pages come, or a sentence if it has no rows.
    ///
    /// - Parameters:
    ///   - table: The table, without rows.
    ///   - sentence: The sentence.
    ///   - read: Adds the rows of the page after a row to the table, and returns the last of them if there
    ///     are more; it is called with `nil` for the first page.
    /// - Throws: ``Closed``, or the error of `read`.
    func print<Cursor>(
        _ table: inout Table, ifEmpty sentence: String,
        reading read: (inout Table, Cursor?) async throws -> Cursor?
    ) async throws {
        var next: Cursor?
        var isEmpty = true
        repeat {
            next = try await read(&table, next)
            if isEmpty, table.rows.isEmpty { return try line(sentence) }
            isEmpty = false
            try write(table.takeLines(width: width, style: style).joined(separator: "\n") + "\n")
        } while next != nil
    }

    /// Writes one array as indented JSON, page by page, as the pages come.
    ///
    /// - Parameter read: Returns the rows after a row, and the last of them if there are more; it is called
    ///   with `nil` for the first page.
    /// - Throws: ``Closed``, or the error of `read`.
    func printJSON<Row: Encodable, Cursor>(
        reading read: (Cursor?) async throws -> (rows: [Row], next: Cursor?)
    ) async throws {
        var next: Cursor?
        var isEmpty = true
        repeat {
            let page = try await read(next)
            next = page.next
            if page.rows.isEmpty { continue }
            // The brackets of this page's array belong to the whole array.
            let text = String(decoding: try ControlJSON.pretty(page.rows), as: UTF8.self)
            try write((isEmpty ? "[" : ",") + text.dropFirst().dropLast(2))
            isEmpty = false
        } while next != nil
        try write(isEmpty ? "[]\n" : "\n]\n")
    }
}

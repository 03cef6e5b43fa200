import ControlWire

/// Rows under headings; each column is as wide as its widest cell.
struct Table {
    /// The headings of the columns.
    let columns: [String]
    private(set) var rows: [[String]] = []

    init(_ columns: String...) {
        self.columns = columns
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
        let widths = columns.indices.map { index in
            ([columns[index]] + rows.map { $0[index] }).map(\.count).max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            var text = ""
            for (index, cell) in cells.enumerated() {
                text += cell
                if index < cells.count - 1 {
                    text += String(repeating: " ", count: widths[index] - cell.count + 2)
                }
            }
            return Self.cut(text, to: width)
        }
        return [style.bold(line(columns))] + rows.map(line)
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
}

import ControlWire

/// Rows under headings, in columns as wide as their widest cell.
struct Table {
    /// Headings.
    let columns: [String]
    private(set) var rows: [[String]] = []

    init(_ columns: String...) {
        self.columns = columns
    }

    /// Adds a row; cells are made printable, and empty ones shown as `-`.
    mutating func add(_ cells: String...) {
        rows.append(cells.map { $0.isEmpty ? "-" : Printable.text($0) })
    }

    /// The lines, headings first; with a width the last column is cut to fit.
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

    /// The text, cut to that many characters; the last is an ellipsis if any were cut off.
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

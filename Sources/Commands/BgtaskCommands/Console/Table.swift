import ControlWire
import Synchronization

/// Rows under headings; each column is as wide as its widest cell, if the terminal has room for all.
struct Table {
    /// The columns; see ``TableColumn/Fit`` for what happens on a narrow terminal.
    let columns: [TableColumn]
    private(set) var rows: [[String]] = []
    /// The width of each column so far.
    private var widths: [Int]
    /// Whether the headings have been printed.
    private var isBegun = false
    /// What the terminal shows; `nil` before the first rows.
    private var layout: TableLayout?

    init(_ columns: String...) { self.init(columns.map(TableColumn.whole)) }

    init(_ columns: TableColumn...) { self.init(columns) }

    init(_ columns: [TableColumn]) {
        self.columns = columns
        widths = columns.map(\.name.count)
    }

    /// Adds a row.
    ///
    /// It escapes characters that a terminal must not receive, and shows an empty cell as `-`.
    mutating func add(_ cells: String...) { add(cells) }

    /// Adds a row; see ``add(_:)``.
    mutating func add(_ cells: [String]) {
        rows.append(cells.map { $0.isEmpty ? "-" : Printable.text($0) })
    }

    /// The lines of the table, headings first.
    ///
    /// If there is a width, the table is fitted into it; see ``TableLayout``.
    func lines(width: Int?, style: Style) -> [String] {
        var whole = self
        return whole.takeLines(width: width, style: style)
    }

    /// Removes the rows that were added since the last call, and returns their lines.
    ///
    /// The first call also returns the headings. A column never becomes narrower than in earlier calls, and
    /// on a terminal, the first call decides which columns are shown, and how wide.
    mutating func takeLines(width: Int?, style: Style) -> [String] {
        for index in columns.indices {
            for row in rows { widths[index] = max(widths[index], row[index].columns) }
        }
        let layout = fitted(into: width)
        var lines = isBegun ? [] : [style.bold(self.lines(columns.map(\.name), layout, width)[0])]
        isBegun = true
        lines.reserveCapacity(rows.count + 1)
        for row in rows { lines += self.lines(row, layout, width) }
        rows = []
        return lines
    }

    private mutating func fitted(into width: Int?) -> TableLayout {
        if let layout { return layout }
        guard let width else { return TableLayout(whole: widths) }
        let isEmpty = columns.indices.map { index in rows.allSatisfy { $0[index] == "-" } }
        let fitted = TableLayout(columns, widths, isEmpty: isEmpty, width: width)
        // The headings are printed once, so later rows have the same columns.
        layout = fitted
        return fitted
    }

    /// More spaces than most columns are wide.
    private static let blanks = String(repeating: " ", count: 100)

    private func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }

    /// The greatest number of lines of a sentence: 3, our choice; a long one is what `bgtask explain` and
    /// `bgtask show` are for.
    private static let mostLines = 3

    /// The lines of one row; only a sentence has more than one.
    private func lines(_ cells: [String], _ layout: TableLayout, _ width: Int?) -> [String] {
        var text = ""
        var further: [String] = []
        for index in layout.shown {
            var cell = cells[index]
            if width != nil, cell.columns > layout.widths[index] {
                switch columns[index].fit {
                case .identifier: cell = NarrowText.shortened(cell, to: layout.widths[index])
                case .sentence:
                    let parts = NarrowText.lines(
                        of: cell, width: layout.widths[index], most: Self.mostLines)
                    let start = blanks(text.columns)
                    further = parts.dropFirst().map { Self.cut(start + $0, to: width) }
                    cell = parts[0]
                case .whole, .spare, .filled: break
                }
            }
            text += cell
            if index != layout.shown.last {
                let gap = max(0, layout.widths[index] - cell.columns) + TableLayout.gap
                // A part of a text is copied at once; repeated characters are added one by one.
                text += gap <= Self.blanks.utf8.count ? Self.blanks.prefix(gap) : blanks(gap)[...]
            }
        }
        return [Self.cut(text, to: width)] + further
    }

    /// The first `width` characters of the text; if any were cut off, the last one is an ellipsis.
    static func cut(_ text: String, to width: Int?) -> String {
        guard let width, width > 1, text.columns > width else { return text }
        return text.prefix(width - 1) + "…"
    }
}

/// A table whose rows come from another thread.
final class SharedTable: Sendable {
    private let table: Mutex<(table: Table, isEmpty: Bool)>

    init(_ columns: TableColumn...) { table = Mutex((Table(columns), true)) }

    /// Whether no rows have come yet.
    var isEmpty: Bool { table.withLock { $0.isEmpty } }

    /// Adds rows, and returns their lines; see ``Table/takeLines(width:style:)``.
    func takeLines<Row>(of rows: [Row], width: Int?, style: Style, cells: (Row) -> [String]) -> [String] {
        table.withLock { state in
            state.isEmpty = state.isEmpty && rows.isEmpty
            for row in rows { state.table.add(cells(row)) }
            return state.table.takeLines(width: width, style: style)
        }
    }
}

extension String {
    /// The number of characters, which is counted fast for ASCII, because tables consist of it.
    ///
    /// In ASCII, only a carriage return and a line feed together are one character, and no cell has them.
    fileprivate var columns: Int { utf8.allSatisfy { $0 < 0x80 && $0 != 0x0D } ? utf8.count : count }
}

extension Console {
    /// Writes a table, or a sentence if it has no rows.
    func print(_ table: Table, ifEmpty sentence: String) throws {
        guard !table.rows.isEmpty else { return try line(sentence) }
        for text in table.lines(width: width, style: style) { try line(text) }
    }

    /// Writes the next rows of a table that comes in parts.
    ///
    /// - Parameters:
    ///   - rows: The rows; the first call writes the headings, too.
    ///   - table: The table.
    ///   - cells: The cells of a row.
    /// - Throws: ``Closed``.
    func print<Row>(_ rows: [Row], in table: SharedTable, cells: (Row) -> [String]) throws {
        let lines = table.takeLines(of: rows, width: width, style: style, cells: cells)
        try write(lines.joined(separator: "\n") + "\n")
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

/// Which columns of a table a terminal shows, and how wide each is.
struct TableLayout: Equatable {
    /// The columns that are shown, as indices, in their order.
    let shown: [Int]
    /// The widths of all columns.
    let widths: [Int]

    /// The space between two columns.
    static let gap = 2
    /// The widths that an identifier and a sentence keep as long as other columns can be left out instead.
    private static let (goodIdentifier, goodSentence) = (18, 30)
    /// The smallest widths of both.
    private static let (leastIdentifier, leastSentence) = (10, 20)

    /// Every column, as wide as its widest cell.
    init(whole widths: [Int]) { (shown, self.widths) = (Array(widths.indices), widths) }

    /// Fits columns into a width.
    ///
    /// If nothing else helps, the lines are longer than the terminal, and the table cuts them.
    ///
    /// - Parameters:
    ///   - columns: The columns.
    ///   - widths: The widths of their widest cells.
    ///   - isEmpty: For each column, whether no row has a value in it.
    ///   - width: The width of the terminal.
    init(_ columns: [TableColumn], _ widths: [Int], isEmpty: [Bool], width: Int) {
        var shown = Array(columns.indices)
        func total(_ identifier: Int, _ sentence: Int) -> Int {
            shown.map { index in
                switch columns[index].fit {
                case .whole, .spare, .filled: widths[index]
                case .identifier: min(widths[index], identifier)
                case .sentence: min(widths[index], sentence)
                }
            }.reduce(Self.gap * (shown.count - 1), +)
        }
        let spare = columns.indices.compactMap { index -> (order: (Int, Int), index: Int)? in
            switch columns[index].fit {
            case .spare(let rank): return ((isEmpty[index] ? 0 : 1, rank), index)
            case .filled where isEmpty[index]: return ((0, 0), index)
            case .whole, .filled, .identifier, .sentence: return nil
            }
        }.sorted { $0.order < $1.order }.map(\.index)
        for index in spare where total(Self.goodIdentifier, Self.goodSentence) > width {
            shown.removeAll { $0 == index }
        }
        var fitted = widths
        // First the identifier gets what is left beside a short sentence, then the sentence gets the rest.
        let hasSentence = columns.contains { $0.fit == .sentence }
        for index in shown where columns[index].fit == .identifier {
            let others = total(0, hasSentence ? Self.goodSentence : 0)
            let least = min(widths[index], Self.leastIdentifier)
            fitted[index] = max(least, min(widths[index], width - others))
        }
        for index in shown where columns[index].fit == .sentence {
            let others = shown.dropLast().reduce(0) { $0 + fitted[$1] + Self.gap }
            fitted[index] = max(Self.leastSentence, min(widths[index], width - others))
        }
        (self.shown, self.widths) = (shown, fitted)
    }
}

/// Texts that are too wide for their column.
enum NarrowText {
    /// A name that loses its middle, and keeps its end: `com…ups.nightly`.
    static func shortened(_ name: String, to width: Int) -> String {
        guard width > 1, name.count > width else { return name }
        let last = name.split(whereSeparator: { $0 == "." || $0 == "/" }).last ?? ""
        // The first label says whose it is; it is left out if the last one needs the room.
        let first = min(name.prefix { $0 != "." && $0 != ":" }.count, (width - 1) / 4)
        let head = width - 1 - first > last.count ? first : 0
        return name.prefix(head) + "…" + name.suffix(width - 1 - head)
    }

    /// The lines of a sentence, broken between words; at most `most`, of which the last one is cut.
    static func lines(of sentence: String, width: Int, most: Int) -> [String] {
        guard width > 1, sentence.count > width else { return [sentence] }
        var lines: [String] = []
        var rest = sentence[...]
        while rest.count > width, lines.count < most - 1 {
            let start = rest.prefix(width + 1)
            let space = start.lastIndex(of: " ") ?? rest.index(rest.startIndex, offsetBy: width)
            lines.append(String(rest[..<space]))
            rest = rest[space...].drop { $0 == " " }
        }
        lines.append(Table.cut(String(rest), to: width))
        return lines
    }
}

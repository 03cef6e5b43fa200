import TaskModel

extension DayPlot {
    private static let left = 230, width = 960, rowHeight = 22, top = 56

    /// The plot as a self-contained SVG document; each bar has a tooltip.
    ///
    /// - Parameter offset: Local time minus UTC, for the axis.
    /// - Returns: The document.
    public func svg(offset: Duration = .zero) -> String {
        let height = Self.top + rows.count * Self.rowHeight + 16
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.left + Self.width + 20) \(height)" \
            font-family="system-ui, sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="#fff"/>
            <text x="12" y="20" font-size="15" font-weight="600" fill="#222">\(Self.escaped(title))</text>
            """
        ]
        for time in hours(every: hourStep(16), offset) {
            let x = Self.text(x(time))
            parts.append(
                "<path d=\"M\(x) \(Self.top - 8)V\(height - 12)\" stroke=\"#e4e4e4\"/>"
                    + "<text x=\"\(x)\" y=\"\(Self.top - 14)\" text-anchor=\"middle\" fill=\"#777\">"
                    + "\(hourLabel(time, offset))</text>")
        }
        for (index, row) in rows.enumerated() {
            let y = Self.top + index * Self.rowHeight
            parts.append(
                "<text x=\"\(Self.left - 10)\" y=\"\(y + 14)\" text-anchor=\"end\" fill=\"#444\">"
                    + "\(Self.escaped(row.name))</text>")
            for span in row.spans where span.level > 0 { parts.append(bar(span, row.sort, y)) }
            if row.sort == .power { parts.append(batteryLine(y)) }
        }
        parts.append("</svg>")
        return parts.joined(separator: "\n") + "\n"
    }

    private func bar(_ span: Span, _ sort: Row.Sort, _ y: Int) -> String {
        let from = x(span.start)
        // A launch of one second must be visible, although a day is about a thousand points wide.
        let width = max(sort == .launches ? 2 : 0.1, x(span.end) - from)
        return
            "<rect x=\"\(Self.text(from))\" y=\"\(y + 3)\" width=\"\(Self.text(width))\" height=\"\(Self.rowHeight - 7)\""
            + " fill=\"\(Self.color(sort, span.level))\"><title>\(Self.escaped(span.label))</title></rect>"
    }

    private func batteryLine(_ y: Int) -> String {
        guard battery.count > 1 else { return "" }
        let points = battery.map { point in
            let height = Double(Self.rowHeight - 7)
            return
                "\(Self.text(x(point.at))),\(Self.text(Double(y + 3) + height * (1 - Double(point.percent) / 100)))"
        }
        return "<polyline points=\"\(points.joined(separator: " "))\" fill=\"none\" stroke=\"#333\"/>"
    }

    private static func color(_ sort: Row.Sort, _ level: Int) -> String {
        switch sort {
        case .power: level == 3 ? "#9fd8a4" : "#f3d9a0"
        case .network: ["#fff", "#f3d9a0", "#f0c674", "#a9cdf0"][level]
        case .heat: ["#fff", "#f6d0b0", "#ee9a66", "#d9534f"][level]
        case .user: "#c9b8e8"
        case .launches: level == 3 ? "#c0392b" : "#2e6da4"
        }
    }

    private func x(_ time: WallTime) -> Double {
        Double(Self.left) + Double(Self.width) * min(1, max(0, (time - start) / (end - start)))
    }

    /// A number with at most one decimal.
    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    private static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: String(character)
            }
        }.joined()
    }
}

import TaskModel

extension DayPlot {
    /// The plot as lines for a terminal.
    ///
    /// A fuller block means a higher level. A launch is `=`, or `x` if it did not succeed.
    ///
    /// - Parameters:
    ///   - width: The number of columns of the time axis, without the names; at least 24.
    ///   - offset: Local time minus UTC, for the axis.
    /// - Returns: The title, the axis, and one line for each row.
    public func text(width: Int, offset: Duration = .zero) -> [String] {
        let columns = max(24, width)
        let names = min(40, rows.map(\.name.count).max() ?? 0)
        func padded(_ name: String) -> String {
            let short = name.count > names ? "…" + name.suffix(names - 1) : name
            return short + String(repeating: " ", count: names - short.count)
        }
        var lines = [title, padded("") + " " + axis(columns, offset)]
        for row in rows { lines.append(padded(row.name) + " " + cells(of: row, columns)) }
        return lines
    }

    private func cells(of row: Row, _ columns: Int) -> String {
        var cells = [Character](repeating: row.sort == .launches ? "·" : " ", count: columns)
        for span in row.spans {
            let first = column(of: span.start, columns)
            // A span that is shorter than a column fills one column.
            let last = max(first, column(of: span.end, columns) - 1)
            for index in first...min(last, columns - 1) where index < columns {
                if row.sort == .launches {
                    cells[index] = span.level == 3 ? "x" : "="
                } else {
                    cells[index] = [" ", "░", "▒", "█"][span.level]
                }
            }
        }
        return String(cells)
    }

    private func column(of time: WallTime, _ columns: Int) -> Int {
        let share = (time - start) / (end - start)
        return min(columns - 1, max(0, Int(share * Double(columns))))
    }

    /// The axis: hours at their columns.
    private func axis(_ columns: Int, _ offset: Duration) -> String {
        var cells = [Character](repeating: " ", count: columns)
        let step = hourStep(columns / 6)
        for time in hours(every: step, offset) {
            let label = hourLabel(time, offset)
            let at = column(of: time, columns)
            guard at + label.count <= columns else { continue }
            for (index, character) in label.enumerated() { cells[at + index] = character }
        }
        return String(cells)
    }

    /// The number of hours between two labels, so that there are at most `labels` of them.
    func hourStep(_ labels: Int) -> Int {
        let hours = (end - start) / .seconds(3600)
        return [1, 2, 3, 6, 12, 24, 48, 168].first { hours / Double($0) <= Double(max(1, labels)) } ?? 720
    }

    /// The times of the labels: all multiples of `step` hours in the period.
    func hours(every step: Int, _ offset: Duration) -> [WallTime] {
        let length = Int64(step) * 3600
        let local = Int64((start + offset).sinceEpoch.inSeconds.rounded(.up))
        var seconds = (local + length - 1) / length * length
        var times: [WallTime] = []
        while WallTime(sinceEpoch: .seconds(seconds)) + (.zero - offset) < end {
            times.append(WallTime(sinceEpoch: .seconds(seconds)) + (.zero - offset))
            seconds += length
        }
        return times
    }

    func hourLabel(_ time: WallTime, _ offset: Duration) -> String {
        let hour = Int64((time + offset).sinceEpoch.inSeconds) / 3600 % 24
        return (hour < 10 ? "0" : "") + "\(hour):00"
    }
}

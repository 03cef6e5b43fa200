/// The times of repeated measurements, in nanoseconds.
struct Samples {
    private(set) var nanoseconds: [Int64] = []

    mutating func add(_ value: Int64) { nanoseconds.append(value) }

    mutating func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        nanoseconds.append(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// The value that this share of the samples does not exceed; 0 if there are no samples.
    func percentile(_ share: Double) -> Double {
        guard !nanoseconds.isEmpty else { return 0 }
        let sorted = nanoseconds.sorted()
        return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
    }

    var median: Double { percentile(0.5) }
}

/// Pads a table cell to a width, with the text at its right or left edge.
func cell(_ text: String, _ width: Int, right: Bool = true) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return right ? space + text : text + space
}

/// A number with this many decimal places, without Foundation's formatting.
func decimal(_ value: Double, _ digits: Int = 1) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let whole = Int64((abs(value) * scale).rounded())
    let text = String(whole)
    let sign = value < 0 && whole != 0 ? "-" : ""
    guard digits > 0 else { return sign + text }
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
    return sign + padded.dropLast(digits) + "." + padded.suffix(digits)
}

/// A table row of times: the median, the 99th percentile, and the median as a multiple of the floor.
func row(_ name: String, _ samples: Samples, floor: Double) -> String {
    let ratio = floor > 0 ? decimal(samples.median / floor, 2) : "-"
    return cell(name, 44, right: false) + cell(decimal(samples.median / 1000), 12)
        + cell(decimal(samples.percentile(0.99) / 1000), 12) + cell(ratio, 12)
}

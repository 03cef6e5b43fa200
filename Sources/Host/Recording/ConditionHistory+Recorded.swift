import ControlWire
import LinuxSystem
public import Scheduling
public import TaskModel

extension ConditionHistory {
    /// Reads the conditions out of files of a log, without its other events; what can't be read is left out.
    ///
    /// - Parameters:
    ///   - files: The log's files, oldest first, without one that is being written.
    ///   - start: What ended before is left out.
    public init(recordedIn files: [String], since start: WallTime) {
        self.init()
        // The name is the segment's first instant: what lies wholly before the span is not even opened.
        let first = files.lastIndex { RecordedLog.start(of: $0) <= start } ?? 0
        var lastSeen: WallTime?
        for file in files.dropFirst(first) { take(file, &lastSeen) }
        // The host that reads this began later. No host ran since the last line.
        if let lastSeen { note(nil, at: lastSeen) }
    }

    private mutating func take(_ file: String, _ lastSeen: inout WallTime?) {
        guard let bytes = try? FileContents.read(file) else { return }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        guard let first = lines.first,
            let header = try? ControlJSON.decode(RecordedSegment.Header.self, from: Self.text(first)),
            header.format == RecordedSegment.Header.currentFormat
        else { return }
        if !header.isContinued, let lastSeen { note(nil, at: lastSeen) }
        for line in lines.dropFirst() {
            // Most lines are of no use here, and decoding is what costs.
            guard Self.isOfUse(line),
                let entry = try? ControlJSON.decode(RecordedEntry.self, from: Self.text(line))
            else { continue }
            switch entry.occurrence {
            case .willSleep: note(nil, at: entry.at.wall)
            case .hasWoken: note(entries.last { $0.conditions != nil }?.conditions, at: entry.at.wall)
            case .event(.conditionsChanged(let conditions)): note(conditions, at: entry.at.wall)
            case .event: break
            }
        }
        // The last line may be cut.
        for line in lines.suffix(2) {
            if let entry = try? ControlJSON.decode(RecordedEntry.self, from: Self.text(line)) {
                lastSeen = entry.at.wall
            }
        }
    }

    private static func text(_ line: ArraySlice<UInt8>) -> String { String(decoding: line, as: UTF8.self) }

    /// Whether a line is of conditions or of the machine's sleep, by the key after its clocks.
    ///
    /// A line begins with `{"at":[1,2,3],`: no bracket but those of the clocks comes before that key.
    private static func isOfUse(_ line: ArraySlice<UInt8>) -> Bool {
        guard let end = line.firstIndex(of: UInt8(ascii: "]")) else { return false }
        let rest = line[(end + 1)...]
        return rest.starts(with: conditionsChanged) || rest.starts(with: machine)
    }

    private static let conditionsChanged = Array(#","event":{"conditionsChanged":"#.utf8)
    private static let machine = Array(#","machine":"#.utf8)
}

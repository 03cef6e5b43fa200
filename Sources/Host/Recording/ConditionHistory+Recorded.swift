import ControlWire
import LinuxSystem
public import Scheduling
public import TaskModel

extension ConditionHistory {
    /// Reads the conditions out of a log, without its other events; what can't be read is left out.
    ///
    /// - Parameters:
    ///   - directory: The log.
    ///   - start: What ended before is left out.
    public init(recordedIn directory: String, since start: WallTime) {
        self.init()
        let files = (try? RecordedLog.files(in: directory)) ?? []
        // The name is the segment's first instant: what lies wholly before the span is not even opened.
        let first = files.lastIndex { RecordedLog.start(of: $0) <= start } ?? 0
        var lastSeen: WallTime?
        for file in files.dropFirst(first) { take(file, &lastSeen) }
        // The host that reads this begins now. No host ran since the last line.
        if let lastSeen { note(nil, at: lastSeen) }
    }

    private mutating func take(_ file: String, _ lastSeen: inout WallTime?) {
        guard let bytes = try? FileContents.read(file) else { return }
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        guard let first = lines.first,
            let header = try? ControlJSON.decode(RecordedSegment.Header.self, from: first),
            header.format == RecordedSegment.Header.currentFormat
        else { return }
        if !header.isContinued, let lastSeen { note(nil, at: lastSeen) }
        for line in lines.dropFirst() {
            // Most lines are of no use here, and decoding is what costs.
            guard line.contains("\"conditionsChanged\"") || line.contains("\"machine\""),
                let entry = try? ControlJSON.decode(RecordedEntry.self, from: line)
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
            if let entry = try? ControlJSON.decode(RecordedEntry.self, from: line) {
                lastSeen = entry.at.wall
            }
        }
    }
}

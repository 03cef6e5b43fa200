import ControlWire
import LinuxSystem
public import Scheduling
public import TaskModel

extension ConditionHistory {
    /// Reads the history of conditions from files of a log; files and lines that can't be read are skipped.
    ///
    /// - Parameters:
    ///   - files: The files of the log, oldest first, without the one that is being written.
    ///   - start: The beginning of the history; files that end before it are not read.
    public init(recordedIn files: [String], since start: WallTime) {
        self.init()
        // A file's name contains the time of its first line, so earlier files need not be opened.
        let first = files.lastIndex { RecordedLog.start(of: $0) <= start } ?? 0
        var lastSeen: WallTime?
        for file in files.dropFirst(first) { take(file, &lastSeen) }
        // The present host started after the last line. In between, no host ran, which `nil` records.
        if let lastSeen { note(nil, at: lastSeen) }
    }

    private mutating func take(_ file: String, _ lastSeen: inout WallTime?) {
        guard let bytes = try? FileContents.read(file) else { return }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        guard let first = lines.first,
            let header = try? ControlJSON.decode(RecordedSegment.Header.self, from: Self.text(first)),
            RecordedSegment.Header.knownFormats.contains(header.format)
        else { return }
        if !header.isContinued, let lastSeen { note(nil, at: lastSeen) }
        for line in lines.dropFirst() {
            // Most lines are not needed here, and decoding takes most of the time.
            guard Self.isOfUse(line), header.format == 1 || LineSeal.open(line).isSound,
                NumberLimits.excess(in: line) == nil,
                let entry = try? ControlJSON.decode(RecordedEntry.self, from: Self.text(line))
            else { continue }
            switch entry.occurrence {
            case .willSleep: note(nil, at: entry.at.wall)
            case .hasWoken: note(entries.last { $0.conditions != nil }?.conditions, at: entry.at.wall)
            case .event(.conditionsChanged(let conditions)): note(conditions, at: entry.at.wall)
            case .event: break
            }
        }
        // The last line may be incomplete, so the line before it counts, too.
        for line in lines.suffix(2) {
            if let entry = try? ControlJSON.decode(RecordedEntry.self, from: Self.text(line)) {
                lastSeen = entry.at.wall
            }
        }
    }

    private static func text(_ line: ArraySlice<UInt8>) -> String { String(decoding: line, as: UTF8.self) }

    /// Whether a line is about conditions or the machine's sleep, which the key after the clocks shows.
    ///
    /// A line begins with `{"at":[1,2,3],`, so the first closing bracket is the end of the clocks.
    private static func isOfUse(_ line: ArraySlice<UInt8>) -> Bool {
        guard let end = line.firstIndex(of: UInt8(ascii: "]")) else { return false }
        let rest = line[(end + 1)...]
        return rest.starts(with: conditionsChanged) || rest.starts(with: machine)
    }

    private static let conditionsChanged = Array(#","event":{"conditionsChanged":"#.utf8)
    private static let machine = Array(#","machine":"#.utf8)
}

import ControlWire
import LinuxSystem
import Scheduling
import TaskModel

/// One file of a log, or several that continue each other.
///
/// The first file begins with all facts that a scheduler needs, so that a segment can be replayed alone.
public struct RecordedSegment: Sendable {
    /// The first line of a file.
    public struct Header: Equatable, Sendable, Codable {
        /// The present format of the lines.
        ///
        /// Format 1 had no numbers and checksums, and every file began with all facts. Format 2 lacked
        /// some events, such as those of pauses. Both can still be read.
        public static let currentFormat = 3
        /// The formats that can be read.
        public static let knownFormats = 1...currentFormat

        /// The format of the file's lines.
        public var format: Int
        /// The version of bgtask that wrote the file.
        public var product: String
        /// Whether the same host wrote the file before this one; false for the first file of a host.
        public var isContinued: Bool
        /// Whether the file begins with all facts that a scheduler needs; if not, it only continues the file
        /// before it.
        public var hasRecap: Bool
        /// The number of the first event; `nil` in format 1.
        public var first: Int64?

        init(isContinued: Bool, hasRecap: Bool = true, first: Int64 = 1) {
            format = Self.currentFormat
            product = ProductVersion.current
            self.isContinued = isContinued
            self.hasRecap = hasRecap
            self.first = first
        }

        /// Decodes a header of any known format.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            format = try values.decode(Int.self, forKey: .format)
            product = try values.decode(String.self, forKey: .product)
            isContinued = try values.decode(Bool.self, forKey: .isContinued)
            hasRecap = try values.decodeIfPresent(Bool.self, forKey: .hasRecap) ?? true
            first = try values.decodeIfPresent(Int64.self, forKey: .first)
        }
    }

    /// The path of the segment's file, or of the first one if it has several.
    public let path: String
    /// The first line of the file.
    public let header: Header
    /// The other lines of the file that could be read.
    public private(set) var entries: [RecordedEntry]
    /// Whether the last line is incomplete, because the host was killed or is writing it now.
    public private(set) var isCut: Bool
    /// The damaged lines, which were left out, and the gaps in the numbers of events.
    public private(set) var problems: [RecordingError] = []
    /// The index of the first entry before which a line is damaged or missing; `nil` if none is.
    public private(set) var firstGap: Int?
    /// The place of the last entry, for problems.
    private var lastPlace = ""
    /// A line whose clocks do not agree with the last entry; the next line decides which of the two is wrong.
    private var doubtful: (entry: RecordedEntry, place: String)?
    /// The number of the last event; `nil` in format 1.
    private(set) var last: Int64?
    /// The numbers of all events that were read, as ranges in the order of the lines.
    private var numbers: [ClosedRange<Int64>] = []

    /// The number of launches that began in this segment.
    public var launchCount: Int { entries.count(where: \.isLaunch) }

    /// Creates a segment from lines that are not in a file.
    public init(path: String, entries: [RecordedEntry], firstGap: Int? = nil) {
        self.path = path
        self.entries = entries
        self.firstGap = firstGap
        header = Header(isContinued: false)
        isCut = false
    }

    /// Reads a segment from a file, and leaves damaged lines out.
    ///
    /// - Throws: ``RecordingError`` if nothing of the file can be read.
    public init(reading path: String) throws(RecordingError) {
        self.path = path
        let bytes: [UInt8]
        do {
            bytes = try FileContents.read(path)
        } catch {
            throw RecordingError(
                subject: path, finding: "it can't be read: \(error)",
                remedy:
                    "Run the command as the user of the host, and give the path of a host's recording, or of a file in it. To list the files: bgtask record --state DIR"
            )
        }
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let rest = lines.popLast() ?? []
        isCut = !rest.isEmpty
        guard let first = lines.first else {
            throw RecordingError(
                subject: path, finding: "it is empty",
                remedy:
                    "Give the path of a host's recording, or of a file in it. To list the files: bgtask record --state DIR"
            )
        }
        try Self.checkNumbers(
            of: first, "\(path):1", remedy: "Only replay a recording whose origin you know")
        header = try Self.decode(Header.self, first, "\(path):1")
        guard Header.knownFormats.contains(header.format) else {
            throw RecordingError(
                subject: path,
                finding:
                    "its format is \(header.format) (\(header.product)), and this program reads formats up to \(Header.currentFormat)",
                remedy: "Replay it with the version that recorded it")
        }
        entries = []
        entries.reserveCapacity(lines.count)
        last = header.first.map { $0 - 1 }
        for (index, line) in lines.enumerated().dropFirst() {
            do throws(RecordingError) {
                try add(line, "\(path):\(index + 1)")
            } catch {
                note(error)
            }
        }
        if let doubtful { note(Self.wrongClocks(doubtful.place)) }
        replaceMissingStart()
    }

    private mutating func note(_ problem: RecordingError) {
        problems.append(problem)
        firstGap = firstGap ?? entries.count
    }

    /// Adds the event `started` if its line is damaged; without it, nothing of the segment could be replayed.
    private mutating func replaceMissingStart() {
        guard header.hasRecap, firstGap != nil, !entries.contains(where: { $0.event == .started }),
            let index = entries.firstIndex(where: { !$0.isOfRecap }), index > 0
        else { return }
        entries.insert(RecordedEntry(at: entries[index - 1].at, .event(.started)), at: index)
    }

    private mutating func add(_ line: ArraySlice<UInt8>, _ place: String) throws(RecordingError) {
        let (isSound, number) = header.format > 1 ? LineSeal.open(line) : (true, nil)
        guard isSound, number != nil || header.format == 1 else {
            throw RecordingError(
                subject: place, finding: "the line is damaged: its checksum does not match",
                remedy: "The line is left out. Check the disk if this happens again")
        }
        try Self.checkNumbers(
            of: line, place, remedy: "The line is left out. Only trust a recording whose origin you know")
        if let number {
            guard isNew(number, place) else { return }
            noteNumber(number, place)
        }
        let entry = try Self.decode(RecordedEntry.self, line, place)
        if case .progressed(_, _, let changedAt) = entry.event, let changedAt, changedAt > entry.at.monotonic
        {
            throw RecordingError(
                subject: place, finding: "the progress changed after the event that reports it",
                remedy: "The line is left out. Only trust a recording whose origin you know")
        }
        try settleClocks(of: entry, place)
    }

    /// Adds an entry, unless its clocks or those of the entry before it are wrong.
    ///
    /// Of two lines that do not agree, the one that the line after them does not agree with either is left
    /// out. Otherwise, one line with a date in the future would cost all lines after it.
    private mutating func settleClocks(of entry: RecordedEntry, _ place: String) throws(RecordingError) {
        func append() {
            entries.append(entry)
            lastPlace = place
        }
        guard let before = entries.last else { return append() }
        if let other = doubtful {
            doubtful = nil
            if !entry.at.canFollow(before.at), entry.at.canFollow(other.entry.at) {
                let wrong = Self.wrongClocks(lastPlace)
                entries.removeLast()
                note(wrong)
                entries.append(other.entry)
                return append()
            }
            note(Self.wrongClocks(other.place))
        }
        if entry.at.canFollow(before.at) { return append() }
        if let earlier = entries.dropLast().last, !entry.at.canFollow(earlier.at) {
            throw Self.wrongClocks(place)
        }
        doubtful = (entry, place)
    }

    private static func wrongClocks(_ place: String) -> RecordingError {
        RecordingError(
            subject: place, finding: "its clocks can't be those of an event between the lines beside it",
            remedy: "The line is left out. Only trust a recording whose origin you know")
    }

    private static func checkNumbers(
        of line: ArraySlice<UInt8>, _ place: String, remedy: String
    ) throws(RecordingError) {
        guard let number = NumberLimits.excess(in: line) else { return }
        throw RecordingError(
            subject: place, finding: "the line has a number that no host records: \(number)", remedy: remedy)
    }

    /// Whether a line is the first one with its number.
    ///
    /// A further one says nothing new, so nothing is missing without it. It is a problem all the same,
    /// because no host writes it.
    private mutating func isNew(_ number: Int64, _ place: String) -> Bool {
        if let range = numbers.last, range.upperBound == number - 1 {
            numbers[numbers.count - 1] = range.lowerBound...number
            return true
        }
        // In a file whose lines are in great disorder, the search would take too long.
        if numbers.count < 1000, numbers.contains(where: { $0.contains(number) }) {
            problems.append(
                RecordingError(
                    subject: place, finding: "the event of this line occurs twice",
                    remedy: "The line is left out, and nothing is missing"))
            return false
        }
        numbers.append(number...number)
        return true
    }

    /// Notes the number of the next event, and a problem if events are missing before it.
    private mutating func noteNumber(_ number: Int64, _ place: String) {
        if let last, number > last + 1 {
            let count = number - last - 1
            note(
                RecordingError(
                    subject: place,
                    finding: count == 1
                        ? "1 event before this line is missing"
                        : "\(count) events before this line are missing",
                    remedy:
                        "Up to the next segment, a replay takes the recorded launches, and does not compare them"
                ))
        }
        last = number
    }

    /// Adds the lines of the file after this one.
    mutating func join(_ next: RecordedSegment) {
        if let first = next.header.first { noteNumber(first, "\(next.path):1") }
        firstGap = firstGap ?? next.firstGap.map { $0 + entries.count }
        entries += next.entries
        problems += next.problems
        last = next.last ?? last
        isCut = next.isCut
    }

    private static func decode<Line: Decodable>(
        _ type: Line.Type, _ bytes: ArraySlice<UInt8>, _ place: String
    ) throws(RecordingError) -> Line {
        do {
            return try ControlJSON.decode(type, from: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw RecordingError(
                subject: place,
                finding: "it is not a line of a recording: \(ControlJSON.sentence(of: error))",
                remedy:
                    "Give the path of a host's recording, or of a file in it, and use the same version of bgtask"
            )
        }
    }
}

extension RecordedEntry {
    /// Whether the recap at the beginning of a segment can contain the event before `started`.
    fileprivate var isOfRecap: Bool {
        switch event {
        case .settingsChanged, .localTimeChanged, .handlersChanged, .conditionsChanged, .outlookChanged,
            .localTimeChanges, .pressureBegan, .pauseChanged, .preparingForSleep, .foregroundChanged,
            .bundleRestored, .lastLaunched, .submitted, .withdrawn:
            true
        default: false
        }
    }
}

extension Moment {
    /// Whether an event of the same host can have this moment after an event with another one.
    ///
    /// Clocks that count from the boot never run backwards. A machine that sleeps for more than a year does
    /// not occur, and a replay would take as long as the alarms of that time.
    fileprivate func canFollow(_ other: Moment) -> Bool {
        let year = Duration.seconds(366 * 86_400)
        return boot >= other.boot && monotonic >= other.monotonic && boot - other.boot <= year
            && monotonic - other.monotonic <= year
    }
}

import TaskModel

/// Real and simulated readings side by side, and who listens.
struct ConditionState {
    private(set) var conditions = Conditions.simulatedStart
    private var cells: [ConditionKey: ConditionCell] = [:]
    private var listeners: [Int: AsyncStream<Conditions>.Continuation] = [:]
    private var nextListener = 0
    /// Next looks that sensors asked for, by sensor, on the boot clock.
    private var looks: [Int: Duration] = [:]

    /// Makes all conditions; of each the sources' names, the best first.
    init(mode: ConditionSensors.Mode, sources: [ConditionKey: [String]], at now: WallTime) {
        for key in ConditionKey.allCases {
            let start =
                mode == .simulated
                ? ConditionCell.Finding(reading: ConditionValue.simulatedStart(key), source: "simulated")
                : ConditionCell.Finding(reading: ConditionValue.absent(key), source: "none")
            cells[key] = ConditionCell(key, sources: sources[key] ?? [], start: start, at: now)
            conditions.replace(key, with: start.reading)
        }
    }

    var rows: [ConditionRow] {
        ConditionKey.allCases.compactMap { key in
            cells[key].map {
                ConditionRow(
                    key: key.rawValue, value: ConditionGrammar.text($0.current.reading),
                    source: $0.current.source, since: $0.since)
            }
        }
    }

    /// When something is to be done though nobody says so; `nil` for never.
    var due: Duration? { (cells.values.compactMap(\.due) + looks.values).min() }

    /// The sensors that wanted to look by now.
    func looksDue(at now: Moment) -> [Int] { looks.filter { $0.value <= now.boot }.map(\.key).sorted() }

    mutating func record(
        _ answer: SensorAnswer, of key: ConditionKey, source: Int, mayStandIn: Bool, dwell: Duration,
        at now: Moment
    ) {
        cells[key]?.record(answer, of: source, mayStandIn: mayStandIn, dwell: dwell, at: now)
        announce()
    }

    mutating func planLook(of sensor: Int, at time: Duration?) { looks[sensor] = time }

    /// Tells the changes that have lasted long enough.
    mutating func settle(at now: Moment) {
        for key in ConditionKey.allCases { cells[key]?.settle(at: now) }
        announce()
    }

    mutating func simulate(_ settings: [(ConditionKey, Reading<ConditionValue>)], at now: Moment) {
        for (key, reading) in settings { cells[key]?.simulate(reading, at: now) }
        announce()
    }

    mutating func clear(at now: Moment) {
        for key in ConditionKey.allCases { cells[key]?.simulate(nil, at: now) }
        announce()
    }

    mutating func add(_ listener: AsyncStream<Conditions>.Continuation) -> Int {
        nextListener += 1
        listeners[nextListener] = listener
        listener.yield(conditions)
        return nextListener
    }

    mutating func remove(_ listener: Int) { listeners[listener] = nil }

    mutating func finish() {
        let all = listeners.values
        listeners = [:]
        for listener in all { listener.finish() }
    }

    /// Tells the listeners if anything that they can see changed.
    private mutating func announce() {
        var newest = conditions
        for (key, cell) in cells { newest.replace(key, with: cell.current.reading) }
        guard newest != conditions else { return }
        conditions = newest
        for listener in listeners.values { listener.yield(newest) }
    }
}

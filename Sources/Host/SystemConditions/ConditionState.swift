import TaskModel

/// Real and simulated readings side by side, and who listens.
struct ConditionState {
    private struct Cell {
        var real: Reading<ConditionValue>
        var realSource: String
        /// Whether its source ever answered: one that is absent later has vanished.
        var wasPresent = false
        var simulated: Reading<ConditionValue>?
        var since: WallTime

        var current: Reading<ConditionValue> { simulated ?? real }
        var source: String { simulated == nil ? realSource : "simulated" }
    }

    private(set) var conditions = Conditions.simulatedStart
    private var cells: [ConditionKey: Cell] = [:]
    private var listeners: [Int: AsyncStream<Conditions>.Continuation] = [:]
    private var nextListener = 0

    init(mode: ConditionSensors.Mode, at now: WallTime) {
        for key in ConditionKey.allCases {
            let start = mode == .simulated ? ConditionValue.simulatedStart(key) : ConditionValue.absent(key)
            cells[key] = Cell(real: start, realSource: mode == .simulated ? "simulated" : "none", since: now)
            conditions.replace(key, with: start)
        }
    }

    var rows: [ConditionRow] {
        ConditionKey.allCases.compactMap { key in
            cells[key].map {
                ConditionRow(
                    key: key.rawValue, value: ConditionGrammar.text($0.current), source: $0.source,
                    since: $0.since)
            }
        }
    }

    mutating func record(_ answer: SensorAnswer, of key: ConditionKey, source: String, at now: WallTime) {
        change(key, at: now) { cell in
            switch answer {
            case .value(let value):
                cell.real = .known(value)
                cell.realSource = source
                cell.wasPresent = true
            case .absent where !cell.wasPresent:
                cell.real = ConditionValue.absent(key)
                cell.realSource = "none"
            case .absent, .failed:
                cell.real = .unknown
                cell.realSource = source
                cell.wasPresent = true
            }
        }
        announce()
    }

    mutating func simulate(_ settings: [(ConditionKey, Reading<ConditionValue>)], at now: WallTime) {
        for (key, reading) in settings { change(key, at: now) { $0.simulated = reading } }
        announce()
    }

    mutating func clear(at now: WallTime) {
        for key in ConditionKey.allCases { change(key, at: now) { $0.simulated = nil } }
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

    private mutating func change(_ key: ConditionKey, at now: WallTime, _ edit: (inout Cell) -> Void) {
        guard var cell = cells[key] else { return }
        let before = cell.current
        edit(&cell)
        if cell.current != before { cell.since = now }
        cells[key] = cell
    }

    /// Tells the listeners if anything that they can see changed.
    private mutating func announce() {
        var newest = conditions
        for (key, cell) in cells { newest.replace(key, with: cell.current) }
        guard newest != conditions else { return }
        conditions = newest
        for listener in listeners.values { listener.yield(newest) }
    }
}

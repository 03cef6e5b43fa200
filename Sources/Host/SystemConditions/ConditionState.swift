import TaskModel

/// The real and simulated readings of all conditions, and the listeners to their changes.
struct ConditionState {
    /// A sensor and its rank among the sources of its condition: 0 is the best.
    struct Entry {
        let sensor: any Sensor
        let rank: Int
    }

    private(set) var conditions = Conditions.simulatedStart
    private let mode: ConditionSensors.Mode
    /// The sensors by number; a number is never used again.
    private var sensors: [Int: Entry] = [:]
    private var nextSensor = 0
    /// The conditions, in the order of listings.
    private(set) var keys = ConditionKey.machine
    private var cells: [ConditionKey: ConditionCell] = [:]
    private var interfaces: Set<NetworkInterface> = []
    private var listeners: [Int: AsyncStream<Conditions>.Continuation] = [:]
    private var nextListener = 0
    /// When sensors must be read again without a report of a change: by sensor number, on CLOCK_BOOTTIME.
    private var looks: [Int: Duration] = [:]

    /// Creates the machine's conditions; of several sensors for one condition, the best must come first.
    init(mode: ConditionSensors.Mode, sensors: [any Sensor], at now: WallTime) {
        self.mode = mode
        keys += Set(sensors.map(\.key)).subtracting(ConditionKey.machine).sorted()
        for key in keys { makeCell(key, sensors.filter { $0.key == key }, at: now) }
        announce()
    }

    /// The numbers of all sensors, in the order in which they were added.
    var sensorNumbers: [Int] { sensors.keys.sorted() }

    subscript(sensor: Int) -> Entry? { sensors[sensor] }

    /// Adds a custom condition, or replaces its source; a simulated value is kept.
    ///
    /// - Returns: The number of the sensor; `nil` if there is no sensor.
    mutating func define(_ name: String, _ sensor: (any Sensor)?, at now: WallTime) -> Int? {
        let key = ConditionKey.custom(name)
        let simulated = cells[key]?.simulated
        forget(key)
        makeCell(key, sensor.map { [$0] } ?? [], at: now)
        cells[key]?.simulated = simulated
        keys = ConditionKey.machine + (keys.dropFirst(ConditionKey.machine.count) + [key]).sorted()
        announce()
        return sensor == nil ? nil : nextSensor - 1
    }

    /// Removes a custom condition.
    mutating func undefine(_ name: String) {
        forget(.custom(name))
        announce()
    }

    private mutating func forget(_ key: ConditionKey) {
        for (number, entry) in sensors where entry.sensor.key == key {
            sensors[number] = nil
            looks[number] = nil
        }
        cells[key] = nil
        keys.removeAll { $0 == key }
    }

    private mutating func makeCell(_ key: ConditionKey, _ own: [any Sensor], at now: WallTime) {
        for (rank, sensor) in own.enumerated() {
            sensors[nextSensor] = Entry(sensor: sensor, rank: rank)
            nextSensor += 1
        }
        let start =
            mode == .simulated
            ? ConditionCell.Finding(reading: ConditionValue.simulatedStart(key), source: "simulated")
            : ConditionCell.Finding(reading: ConditionValue.absent(key), source: own.first?.source ?? "none")
        cells[key] = ConditionCell(key, sources: own.map(\.source), start: start, at: now)
    }

    /// Every condition with its value, source and time of change, in the order of listings.
    func rows(at now: Moment) -> [ConditionRow] {
        keys.compactMap { key in
            cells[key].map {
                ConditionRow(
                    key: key.name, value: ConditionGrammar.text($0.current.reading),
                    source: $0.source(at: now), since: $0.since)
            }
        }
    }

    /// The next time at which ``settle(at:)`` or a sensor has something to do, on CLOCK_BOOTTIME; `nil` for
    /// never.
    var due: Duration? { (cells.values.compactMap(\.due) + looks.values).min() }

    /// The numbers of the sensors whose next read is due.
    func looksDue(at now: Moment) -> [Int] { looks.filter { $0.value <= now.boot }.map(\.key).sorted() }

    /// Stores what the ways to the network are made of; the next call of
    /// ``record(_:of:source:mayStandIn:dwell:at:)`` tells it.
    mutating func note(_ interfaces: Set<NetworkInterface>) { self.interfaces = interfaces }

    mutating func record(
        _ answer: SensorAnswer, of key: ConditionKey, source: Int, mayStandIn: Bool, dwell: Duration,
        at now: Moment
    ) {
        cells[key]?.record(answer, of: source, mayStandIn: mayStandIn, dwell: dwell, at: now)
        announce()
    }

    mutating func planLook(of sensor: Int, at time: Duration?) { looks[sensor] = time }

    /// Reports the improvements that have lasted long enough.
    mutating func settle(at now: Moment) {
        for key in keys { cells[key]?.settle(at: now) }
        announce()
    }

    mutating func simulate(_ settings: [(ConditionKey, Reading<ConditionValue>)], at now: Moment) {
        for (key, reading) in settings { cells[key]?.simulate(reading, at: now) }
        announce()
    }

    mutating func clear(at now: Moment) {
        for key in keys { cells[key]?.simulate(nil, at: now) }
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

    /// Recomputes the conditions, and notifies the listeners if a value has changed.
    private mutating func announce() {
        var newest = conditions
        newest.custom = [:]
        newest.interfaces = interfaces
        for (key, cell) in cells { newest.replace(key, with: cell.current.reading) }
        guard newest != conditions else { return }
        conditions = newest
        for listener in listeners.values { listener.yield(newest) }
    }
}

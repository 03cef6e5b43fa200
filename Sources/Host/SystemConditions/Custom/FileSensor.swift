import LinuxSystem
import TaskModel

/// Reads a custom condition from the first line of a file.
final class FileSensor: Sensor {
    /// How many bytes of the line are read: 4 KiB, which is also the limit of sysfs attributes.
    static let longestLine = 4096

    let key: ConditionKey
    let source: String
    private let path: String
    private let definition: CustomCondition
    private let problems: ProblemTeller

    init(_ definition: CustomCondition, path: String, _ problems: ProblemTeller) {
        key = .custom(definition.name)
        source = path
        self.path = path
        self.definition = definition
        self.problems = problems
    }

    /// Reads and compares the first line; a missing file is a failure, because nothing has written a value
    /// yet.
    func read(at now: Moment) -> SensorAnswer {
        do {
            let bytes = try FileContents.read(path, limit: Self.longestLine).prefix(Self.longestLine)
            return CustomSensors.answer(FirstLine.of(bytes), definition, problems)
        } catch {
            problems.note("\(error)")
            return .failed
        }
    }

    func watch(_ onNotice: @escaping @Sendable (KernelNotice) -> Void) -> (any SensorWatch)? {
        do {
            // The sensor may be read before the thread watches the file, so the watch reports once when it
            // starts.
            let watch = try PathWatch(tellsStart: true) { event in
                switch event {
                case .changed: onNotice(.changed)
                case .unwatchable(_, let error): onNotice(.failed(error))
                }
            }
            watch.watch([path])
            return watch
        } catch {
            problems.note("\(error)")
            return nil
        }
    }
}

extension PathWatch: SensorWatch {
    func cancel() { stop() }
}

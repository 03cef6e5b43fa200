import LinuxSystem
import TaskModel

/// A condition whose value is the first line of a file.
final class FileSensor: Sensor {
    /// More of a line is not looked at: 4 KiB, as of the kernel's own attributes.
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

    /// A missing file is not a value: its writer has not written one yet.
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
            // The first look may come before the thread watches: what changed in between is seen by one more.
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

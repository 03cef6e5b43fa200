import Dispatch
import LinuxSystem
import NIOCore
import TaskModel

/// Limits the memory of templates: code that a constructor left behind, such as a handler of a timer's
/// signal, could use memory without end while no launch runs.
///
/// The limit is the greatest of the bundle's tasks, because each of them has the library's memory, too.
extension LauncherCore {
    /// Where templates are measured.
    private static let templateSurveys = DispatchQueue(label: "bgtask.templates", qos: .userInitiated)

    /// Lets the kernel limit the memory of a template, if it has the controller for that.
    func limitMemory(ofTemplate id: UInt64, _ group: ControlGroup) {
        guard let limit = book.templates[id]?.key.memory else { return }
        if groups?.countsMemory == true {
            group.limitMemory(to: limit.bytes)
        } else {
            watchTemplateMemory()
        }
    }

    /// Measures a template that has no group.
    func templateStarted(_ id: UInt64, process: Int32) {
        guard book.templates[id] != nil, templateGroups[id] == nil else { return }
        templateProcesses[id] = process
        watchTemplateMemory()
    }

    /// Starts to measure the memory of templates, while there is one whose memory the kernel does not limit.
    private func watchTemplateMemory() {
        guard templateMemoryTimer == nil, !templateGroups.isEmpty || !templateProcesses.isEmpty else {
            return
        }
        templateMemoryTimer = after(Self.memoryInterval) { [self] in lookAtTemplateMemory() }
    }

    private func lookAtTemplateMemory() {
        let (groups, processes) = (templateGroups, templateProcesses)
        Self.templateSurveys.async { [self] in
            let measured = groups.mapValues { ProcessUsage.residentBytes(of: $0.processes) }
                .merging(
                    processes.mapValues {
                        ProcessUsage.residentBytes(of: ProcessUsage.processes(below: $0))
                    }
                ) { $1 }
            loop.execute { [self] in
                templateMemoryTimer = nil
                for (id, bytes) in measured
                where templateGroups[id] == groups[id] && templateProcesses[id] == processes[id] {
                    guard let limit = book.templates[id]?.key.memory, bytes > limit.bytes else { continue }
                    endTemplate(id, because: Self.memoryFinding(ByteCount(bytes: bytes), limit))
                }
                watchTemplateMemory()
            }
        }
    }

    /// Why the kernel killed a template: `nil` if its memory was not the reason.
    func memoryFinding(ofTemplate id: UInt64) -> String? {
        guard let limit = book.templates[id]?.key.memory, let events = templateGroups[id]?.memoryEvents,
            events.kills > 0
        else { return nil }
        return Self.memoryFinding(events.peakBytes.map { ByteCount(bytes: $0) }, limit)
    }

    private static func memoryFinding(_ used: ByteCount?, _ limit: ByteCount) -> String {
        (used.map { "it used \($0) of memory" } ?? "it used too much memory")
            + " without a launch; the limit is \(limit), the greatest of the bundle's tasks"
    }

    /// Kills a template and everything that its constructors started.
    ///
    /// The launches that wait for it fail.
    func endTemplate(_ id: UInt64, because finding: String) {
        guard let bundle = book.templates[id]?.key.bundle else { return }
        try? templateGroups[id]?.kill()
        guard let timer = templateTimers.removeValue(forKey: id) else {
            // It is loaded, so only launches to come need another one.
            tell(.templateEnded(bundle, message: finding))
            return retireTemplate(id)
        }
        timer.cancel()
        killTemplate(
            id, because: .templateFailed(finding: "the constructors of its library: \(finding)", status: nil))
    }
}

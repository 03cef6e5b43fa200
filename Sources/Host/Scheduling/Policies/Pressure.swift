import TaskModel

/// Holds deferrable requests while CPU, memory or disks are under pressure.
///
/// Pressure on CPU or disks holds them for at most ``SchedulerSettings/pressureLimit`` (30 min) without a
/// break. Then they start one at a time, at the priority ``LaunchPriority/idle``. Memory pressure has no such
/// limit, because a low priority does not reduce the use of memory.
///
/// While memory is short, continued tasks that were put back wait, too: the host would soon end them
/// again, because they have the least progress. Unknown pressure holds no request; it only has a lower score.
struct Pressure: Policy {
    let name = "Pressure"
    let deferralReason: Reason? = .pressure

    func weight(_ weights: PolicyWeights) -> Double { weights.pressure }

    func answer(for subject: Subject, in situation: Situation, at now: Moment) -> Answer {
        let since = situation.since.pressure
        guard subject.isDiscretionary else {
            guard subject.request.kind == .continuedProcessing, subject.request.attempt > 1,
                !subject.isRunning, situation.conditions.isShortOfMemory
            else { return subject.proceed() }
            return subject.wait(
                for: .memoryPressure, since: since,
                Rationale(
                    quantity: "pressure",
                    required: "free of memory pressure before a further attempt of a continued task",
                    observed: "under pressure (memory)", remedy: "Close what uses the memory, or wait"))
        }
        func rationale(_ observed: String, until end: WallTime? = nil, _ remedy: String? = nil) -> Rationale {
            Rationale(
                quantity: "pressure", required: "free of pressure", observed: observed, earliestChange: end,
                remedy: remedy)
        }
        guard let pressure = situation.conditions.pressure.value else {
            return subject.proceed(
                score: situation.settings.scores.pressureUnknown, since: since,
                rationale("in an unknown state (the source of pressure does not answer)"))
        }
        if pressure == .none { return subject.proceed(score: 1, since: since, rationale("free of pressure")) }
        let observed = "under pressure (\(pressure.text))"
        let closes = "Close what uses \(pressure.resources)"
        guard situation.isTrickling(at: now.wall) else {
            let end = situation.pressureEnd
            return subject.wait(
                for: .lane, until: end, since: since,
                rationale(
                    observed, until: end,
                    end.map { "\(closes). Otherwise, the request waits for this until \($0.text) at most" }
                        ?? "\(closes), or wait"))
        }
        let running = situation.occupancy.discretionary
        if running > 0 && !subject.isRunning {
            return subject.wait(
                for: .slot, since: since,
                Rationale(
                    quantity: "deferrableLaunches",
                    required: "less than 1 while the machine is under pressure",
                    observed: "\(running), and the machine is \(observed)",
                    remedy: "\(closes), or wait until a launch ends"))
        }
        return subject.proceed(score: 0, since: since, rationale(observed, closes))
    }
}

extension PressureCondition {
    /// The resources under pressure, for people: `cpu, io`.
    var text: String {
        [(cpu, "cpu"), (memory, "memory"), (io, "io")].filter(\.0).map(\.1).joined(separator: ", ")
    }

    /// The resources under pressure, as a part of a sentence: `the processor and the disks`.
    var resources: String {
        [(memory, "the memory"), (cpu, "the processor"), (io, "the disks")].filter(\.0).map(\.1).inSentence
    }
}

import TaskModel

extension Scheduler {
    /// Whether memory is known to be under pressure.
    ///
    /// Pressure on CPU and disks ends no launches, because the kernel shares both by priority.
    public var isUnderMemoryPressure: Bool { situation.conditions.isShortOfMemory }

    /// The launch that memory pressure ends next; `nil` if there is none.
    ///
    /// Deferrable launches come first, then those with the least progress, and then the newest.
    var pressureVictim: LaunchID? {
        let running = requestOfLaunch.compactMap { id, request in
            launches[request].flatMap { $0.isExpiring ? nil : (id: id, launch: $0) }
        }
        return running.min { left, right in
            let (one, other) = (left.launch, right.launch)
            if one.request.isDiscretionary != other.request.isDiscretionary {
                return one.request.isDiscretionary
            }
            let (done, otherDone) = (one.progress.fraction, other.progress.fraction)
            return done != otherDone ? done < otherDone : left.id > right.id
        }?.id
    }

    /// Ends one launch after another under memory pressure, with a pause in between to observe the effect.
    mutating func relievePressure(at now: Moment, _ actions: inout [SchedulerAction]) {
        guard isUnderMemoryPressure else { return nextPressureEnd = nil }
        if let next = nextPressureEnd, now.boot < next { return }
        nextPressureEnd = now.boot + settings.pressurePeriod
        guard let victim = pressureVictim, let request = requestOfLaunch[victim],
            let fraction = launches[request]?.progress.fraction
        else { return }
        let rationale = Rationale(
            quantity: "pressure", required: "free of memory pressure",
            observed: "short of memory, and this launch has the least progress (\(Int(fraction * 100)) %)",
            remedy: "Close what uses the memory")
        expire(
            victim, .pressure, .stop("Pressure", rationale, since: situation.since.pressure), at: now,
            &actions)
    }
}

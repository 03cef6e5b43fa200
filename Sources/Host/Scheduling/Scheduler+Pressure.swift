import TaskModel

extension Scheduler {
    /// Whether memory is known to be short.
    ///
    /// CPU and disks are shared by priority; a launch need not end for them.
    var isUnderMemoryPressure: Bool { situation.conditions.pressure.value?.memory == true }

    /// What memory pressure ends next: deferrable work before a user's, least progress first, then the
    /// youngest.
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

    /// While memory is short, ends one launch after another, with time between to see whether it helped.
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

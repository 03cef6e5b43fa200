import TaskModel

extension SchedulerEvent: CustomStringConvertible {
    private static func text(of pause: Pause?) -> String {
        pause.map { $0.until?.text ?? "until resumed" } ?? "ended"
    }

    /// The event in one line for people, such as `launchStarted L3 R7`.
    ///
    /// Replays use the encoded form, which contains all values.
    public var description: String {
        switch self {
        case .started: "started"
        case .settingsChanged: "settingsChanged"
        case .handlersChanged(let manifests): "handlersChanged \(manifests.map(\.bundle).sorted())"
        case .conditionsChanged(let conditions): "conditionsChanged \(conditions.text)"
        case .outlookChanged(let outlook):
            "outlookChanged \(outlook.map { "from \($0.start.text)" } ?? "none")"
        case .preparingForSleep(let isPreparing): "preparingForSleep \(isPreparing ? "yes" : "no")"
        case .pressureBegan(let time): "pressureBegan \(time.text)"
        case .localTimeChanged(let offset): "localTimeChanged \(offset)"
        case .localTimeChanges(let changes):
            "localTimeChanges \(changes.map { "\($0.at.text) by \($0.after - $0.before)" })"
        case .lastLaunched(let identifier, let time): "lastLaunched \(identifier) \(time.text)"
        case .bundleRestored(let bundle, _): "bundleRestored \(bundle)"
        case .used(let bundle): "used \(bundle)"
        case .dismissed(let bundle): "dismissed \(bundle)"
        case .refreshSwitched(let bundle, let permission): "refreshSwitched \(bundle) \(permission.rawValue)"
        case .budgetChanged(let bundle, let launches, let cpu, let burst):
            "budgetChanged \(bundle) launches \(launches.map { "\($0)" } ?? "standard") cpu \(cpu?.text ?? "standard")"
                + (burst.map { " burst \($0)" } ?? "")
        case .bundlePaused(let bundle, let pause): "bundlePaused \(bundle) \(Self.text(of: pause))"
        case .crashPauseEnded(let bundle): "crashPauseEnded \(bundle)"
        case .pauseChanged(let pause): "pauseChanged \(Self.text(of: pause))"
        case .foregroundChanged(let bundle, let isForeground):
            "foregroundChanged \(bundle) \(isForeground ? "foreground" : "background")"
        case .submitted(let request): "submitted \(request.id) \(request.identifier) \(request.kind.rawValue)"
        case .withdrawn(let id): "withdrawn \(id)"
        case .scheduleNotStored(let identifier): "scheduleNotStored \(identifier)"
        case .scheduleDated(let identifier, let after, let next):
            "scheduleDated \(identifier) after \(after.text) \(next?.text ?? "never")"
        case .scheduleTriggered(let identifier): "scheduleTriggered \(identifier)"
        case .simulate(let id): "simulate \(id)"
        case .launchStarted(let id, let request): "launchStarted \(id) \(request)"
        case .launchNotStarted(let request, let retry): "launchNotStarted \(request) retry \(retry.text)"
        case .launchReady(let id): "launchReady \(id)"
        case .progressed(let id, let progress, _):
            "progressed \(id) \(progress.completed) of \(progress.total)"
        case .launchActive(let id): "launchActive \(id)"
        case .cpuMeasured(let id, let time): "cpuMeasured \(id) \(time)"
        case .answered(let id, let keepGoing): "answered \(id) \(keepGoing ? "keepGoing" : "stop")"
        case .tracingChanged(let id, let isTraced): "tracingChanged \(id) \(isTraced ? "traced" : "free")"
        case .expireRequested(let id, let reason): "expireRequested \(id) \(reason.rawValue)"
        case .launchExpiring(let id): "launchExpiring \(id)"
        case .launchEnded(let id, let putBack, let ending):
            "launchEnded \(id) \(ending.outcome?.rawValue ?? "unknown")"
                + (putBack.map { ", \($0.id) put back" } ?? "")
        case .timePassed: "timePassed"
        case .shutdown: "shutdown"
        }
    }
}

extension SchedulerAction: CustomStringConvertible {
    /// The action in one line for people, such as `expire L3 externalPowerLost`.
    public var description: String {
        switch self {
        case .launch(let id, let isSimulated, let priority, let explanation):
            "launch \(id)\(isSimulated ? " simulated" : "") nice \(priority.nice)"
                + (explanation.score.map { " score \($0.text)" } ?? "")
        case .expire(let id, let reason, let explanation):
            "expire \(id) \(reason.rawValue)" + (explanation?.verdicts.first.map { " by \($0.policy)" } ?? "")
        case .setCPULimitRelaxed(let id, let isRelaxed):
            "setCPULimit \(id) \(isRelaxed ? "relaxed" : "in force")"
        case .setPriority(let id, let priority): "setPriority \(id) nice \(priority.nice)"
        case .setShouldDefer(let id, let isDeferred): "setShouldDefer \(id) \(isDeferred)"
        case .measureCPU(let id): "measureCPU \(id)"
        case .ask(let id, let rationale): "ask \(id) \(rationale.quantity)"
        case .submitScheduled(let identifier, _, let earliest, let deadline):
            "submitScheduled \(identifier) \(earliest.text) to \(deadline.text)"
        case .findDate(let identifier, let expression, let zone, let after):
            "findDate \(identifier) '\(expression)' \(zone ?? "local") after \(after.text)"
        case .cancelRequest(let id, let reason): "cancelRequest \(id) \(reason.rawValue)"
        case .saveBundleState(let bundle, _): "saveBundleState \(bundle)"
        case .wake(let wake):
            "wake boot \(wake.boot.map { "\($0)" } ?? "never") wall \(wake.wall?.text ?? "never")"
                + (wake.machine.map { " machine \($0.text)" } ?? "")
        }
    }
}

extension Conditions {
    /// The conditions in the form of `bgtask conditions set`: `power=external lowPower=off network=unmetered
    /// …`.
    fileprivate var text: String {
        let power = power.value.map { power in
            power.externalPower ? "external" : power.batteryPercent.map { "battery:\($0)%" } ?? "battery"
        }
        let lowPower = lowPowerMode.value.map { $0 ? "on" : "off" }
        let pressure = pressure.value.map { $0 == .none ? "none" : $0.text }
        let gpu = gpu.value.map { $0 ? "on" : "off" }
        return [
            ("power", power), ("lowPower", lowPower), ("network", network.value?.rawValue),
            ("thermal", thermal.value?.rawValue), ("user", user.value?.rawValue), ("pressure", pressure),
            ("gpu", gpu),
        ].map { "\($0)=\($1 ?? "unknown")" }.joined(separator: " ")
            + custom.sorted { $0.key < $1.key }.map { " \($0)=\($1.text)" }.joined()
    }
}

extension Rationale {
    /// What the policy found, as a sentence without a full stop: `External power is not connected`.
    public var statement: String {
        let subject = phrase.subject
        return subject.isEmpty ? observed.withCapital : "\(subject) \(observed)"
    }

    /// What the policy found and what it requires, without a full stop: `External power is not connected; it
    /// must be connected`.
    public var sentence: String { "\(statement); \(phrase.obligation) \(required)" }

    /// The words around ``observed`` and ``required`` in a sentence for people.
    ///
    /// The names of quantities never change, because programs read them.
    private var phrase: (subject: String, obligation: String) {
        func number(_ counted: String) -> (String, String) {
            ("The number of \(counted) is", "it must be")
        }
        return switch quantity {
        case "appLaunches": number("running app launches")
        case "backOff": ("It is", "the next attempt may begin at")
        case "backgroundRefresh": ("Background refresh is", "it must be")
        case "batteryLevel": ("The battery charge is", "it must be")
        case "clause": ("The fact", "the clause needs")
        case "conditions": ("The custom conditions are", "they must be")
        case "conflict": ("The conflicting task", "it must")
        case "conduct": ("The bundle's conduct is", "it must be")
        case "continuedLaunches": number("running continued launches")
        case "cpuTime": ("The CPU time that the bundle used today is", "it must be")
        case "deadline": ("", "it must start by")
        case "deviceActivity": ("The device is", "it must be")
        case "deferrableLaunches": number("running deferrable launches")
        case "discretionaryLaunches": number("running processing launches and activities")
        case "dismissed": ("The bundle was", "it must be")
        case "earliestBeginDate": ("It is", "the request may begin at")
        case "expectedUse": ("The next use of the bundle is", "the task starts at")
        case "externalPower": ("External power is", "it must be")
        case "gpu": ("A GPU is", "it must be")
        case "host": ("The host is", "it must be")
        case "launchesOfIdentifier": ("The last launch of this task is", "it must be")
        case "launchesUnderWay": number("running launches")
        case "launchesWithinHour": number("launches of this kind and bundle in the last hour")
        case "lowPowerMode": ("Low-power mode is", "it must be")
        case "manifest": ("", "the task needs")
        case "network": ("The network is", "it must be")
        case "pause": ("", "it must be")
        case "predecessor": ("", "it must be")
        case "predecessors": ("", "they must be")
        case "pressure": ("The machine is", "it must be")
        case "progressRate": ("The progress is", "it must be")
        case "refreshLaunches": number("the bundle's refresh launches today")
        case "runTime": ("The run time is", "it must be")
        case "score": ("The score is", "it must be")
        case "freeSpace": ("The free space is", "it must be")
        case "localTime": ("The local time is", "it must be")
        case "when": ("The expression in 'when' is", "it must be true:")
        case "shortLaunches": number("running refreshes and pushes")
        case "store": ("", "the host must be")
        case "systemSleep": ("The machine is", "it must be")
        case "thermal": ("The thermal state is", "it must be")
        case "timeSinceLaunch": ("The time since the last launch of this task is", "it must be")
        case "timeSinceProgress": ("The time since the last progress is", "it must be")
        case "timeSincePush": ("The time since the bundle's last push is", "it must be")
        case "timeSinceRefresh": ("The time since the bundle's last refresh is", "it must be")
        case "urgentLaunches": number("running urgent launches")
        case "wakeUp": ("It waits for", "the host wakes for it by")
        case "usage": ("At this time of day, the bundle was used", "it should be")
        default: ("\(quantity.inWords) is", "it must be")
        }
    }
}

extension String {
    /// The text with its first letter in upper case.
    fileprivate var withCapital: String { prefix(1).uppercased() + dropFirst() }

    /// Converts `fuelLevel` to `Fuel level`, for quantities that only newer hosts know.
    fileprivate var inWords: String {
        reduce(into: "") { $0 += $1.isUppercase && !$0.isEmpty ? " " + $1.lowercased() : String($1) }
            .withCapital
    }
}

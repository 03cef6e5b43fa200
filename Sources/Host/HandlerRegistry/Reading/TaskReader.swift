import Calendars
import StrictFiles
import TaskModel

/// A task of a manifest, with the positions of its parts.
struct ReadTask {
    var declaration: TaskDeclaration
    var place: Place
    var callPlaces: CallPlaces?
    var commandPlaces: CommandPlaces?
    var conditionPlaces: [Place] = []
    var constraintPlaces = ConstraintPlaces()
    /// The position of `schedule:`; `nil` if there is none.
    var schedulePlace: Place?
    /// The position of `onFailure:`; `nil` if there is none.
    var onFailurePlace: Place?
    /// The position of the requirement of a network; `nil` if there is none.
    var networkPlace: Place?
}

/// The values of `delivery:`.
private enum Delivery: String, CaseIterable {
    case atLeastOnce, atMostOnce
}

/// The values of `deviceActivity:`.
private enum DeviceActivity: String, CaseIterable {
    case heed, ignore
}

/// Reads the entries of `tasks:`.
struct TaskReader {
    /// The bundle's identifier; `nil` if it is invalid.
    let bundle: BundleIdentifier?
    /// The modes of the manifest; `nil` if they are invalid.
    let modes: Set<BackgroundMode>?
    let hasLibrary: Bool
    /// Whether client processes run the tasks that have no library, because the manifest has `client: true`.
    let isClient: Bool
    let problems: ProblemList

    private static let keys =
        [
            "identifier", "kind", "requiresExternalPower", "requiresNetworkConnectivity", "network",
            "requiresConditions", "limits", "schedule", "payload", "retry", "delivery", "deviceActivity",
            "prefetch", "call", "command", "queue", "onFailure",
        ] + ConstraintsReader.keys

    /// Reads one task; returns `nil` if it can't be used at all, after a problem has been reported.
    func task(_ node: YAMLNode) -> ReadTask? {
        guard let fields = Fields(node, "a task", keys: Self.keys, problems) else { return nil }
        let identifierNode = fields.required("identifier", "a task", problems)
        let pattern = identifierNode.flatMap(pattern)
        let kind = fields.required("kind", "a task", problems).flatMap(kind)
        let payloadReader = PayloadReader(
            isFilledIn: fields["call"] != nil || fields["command"] != nil, problems: problems)
        let payloadKeys = fields["payload"].map { payloadReader.keys($0) } ?? PayloadReader.Keys()
        let payload = payloadKeys.types
        let call = fields["call"].flatMap { CallReader(payload: payload, problems: problems).program($0) }
        let command = fields["command"].flatMap {
            CommandReader(payload: payload, problems: problems).command($0)
        }
        if fields["call"] != nil, let node = fields["command"] {
            problems.error(node.place, "'command' can't be used with 'call'", "Remove one of them")
        }
        if !hasLibrary, fields["call"] == nil, fields["command"] == nil {
            if !isClient {
                problems.error(
                    node.place, "nothing runs this task: it has no 'library', no 'call' and no 'command'",
                    "Add one of them, or 'client: true' if a process registers its own handlers")
            } else if let schedule = fields["schedule"] {
                problems.error(
                    schedule.place, "a task that runs only in clients can't have a schedule",
                    "Remove it, because a client runs only what it submits itself; or add a 'library'")
            }
        }
        guard let pattern, let kind, let identifierNode else { return nil }
        check(pattern, kind, at: identifierNode.place)
        checkMode(kind, at: fields["kind"]?.place)

        var declaration = TaskDeclaration(pattern: pattern, kind: kind)
        let power = fields["requiresExternalPower"]
        declaration.requiresExternalPower = power?.bool("requiresExternalPower", problems) ?? false
        readNetwork(fields, &declaration)
        let conditions =
            fields["requiresConditions"].map { RequiredConditionsReader(problems: problems).conditions($0) }
            ?? []
        declaration.requiredConditions = conditions.map(\.name)
        let (constraints, constraintPlaces) =
            ConstraintsReader(pattern: pattern, payload: payloadKeys.required, problems: problems)
            .constraints(fields)
        declaration.constraints = constraints
        declaration.limits = LimitsReader(kind: kind, problems: problems).limits(fields["limits"])
        declaration.schedule = fields["schedule"].flatMap {
            ScheduleReader(pattern: pattern, kind: kind, payload: payloadKeys.required, problems: problems)
                .schedule($0)
        }
        checkTimes(fields, declaration)
        declaration.payload = payload
        if kind == .push {
            for key in SilentPush.reserved where payload[key] != nil {
                problems.warning(
                    fields["payload"]?.place, "no push from outside can have a value for '\(key)'",
                    "Remove the key. A push may have an 'aps', which is not declared")
            }
        }
        declaration.payloadDefaults = payloadKeys.defaults.isEmpty ? nil : payloadKeys.defaults
        declaration.isAtMostOnce =
            fields["delivery"]?.word("delivery", as: Delivery.self, problems) == .atMostOnce
        declaration.ignoresDeviceActivity =
            fields["deviceActivity"]?.word("deviceActivity", as: DeviceActivity.self, problems) == .ignore
        if declaration.ignoresDeviceActivity, kind != .processing {
            problems.warning(
                fields["deviceActivity"]?.place, "deviceActivity has no effect on kind \(kind.rawValue)",
                "Remove it; only processing waits until the user is idle")
        }
        checkContradictions(fields, declaration)
        declaration.isPrefetch = readPrefetch(fields, declaration)
        declaration.retry = fields["retry"].flatMap {
            RetryReader(isAtMostOnce: declaration.isAtMostOnce, problems: problems).retry($0)
        }
        declaration.queue = fields["queue"].flatMap { QueueReader(kind: kind, problems: problems).queue($0) }
        if declaration.queue != nil, let schedule = fields["schedule"] {
            problems.error(
                schedule.place, "'schedule' can't be used with 'queue'",
                "Remove one of them. A task of its own can have the schedule, and submit to the queue")
        }
        if declaration.queue != nil, pattern.isWildcard {
            // The limit counts the requests of an identifier, and a wildcard stands for any number of them.
            problems.error(
                identifierNode.place, "a wildcard can't have a queue",
                "Name one identifier; each submission to a queue is a request of its own anyway")
        }
        if let node = fields["onFailure"] { declaration.onFailure = identifier(node) }
        declaration.call = call?.program
        declaration.command = command?.program
        return ReadTask(
            declaration: declaration, place: identifierNode.place, callPlaces: call?.places,
            commandPlaces: command?.places,
            conditionPlaces: conditions.map(\.place), constraintPlaces: constraintPlaces,
            schedulePlace: fields["schedule"]?.place, onFailurePlace: fields["onFailure"]?.place,
            networkPlace: declaration.requiresNetworkConnectivity
                ? (fields["network"] ?? fields["requiresNetworkConnectivity"])?.place : nil)
    }

    /// Warns of dates that are always outside `between:`.
    private func checkTimes(_ fields: Fields, _ declaration: TaskDeclaration) {
        guard let window = declaration.constraints?.between, let schedule = declaration.schedule,
            case .calendar(let text, nil) = schedule.timing, let expression = try? CalendarExpression(text)
        else { return }
        let slack = schedule.tolerance + (schedule.jitter?.spread ?? .zero)
        guard !expression.meets(from: window.start, to: window.end, within: slack) else { return }
        problems.warning(
            fields["between"]?.place,
            "between: all dates of 'at: \(text)' are outside \(window.text), so each waits until "
                + DailyWindow.text(of: window.start),
            "Choose a time of day in the window, or remove one of the two")
    }

    /// Warns of a `when:` that can't be true together with another requirement of the task.
    private func checkContradictions(_ fields: Fields, _ declaration: TaskDeclaration) {
        guard let expression = declaration.constraints?.when, let node = fields["when"] else { return }
        let found = expression.contradictions(
            with: WhenRequirement.all(
                externalPower: declaration.requiresExternalPower, network: declaration.requiredNetwork,
                gpu: false, idle: declaration.kind == .processing && !declaration.ignoresDeviceActivity,
                isDeferrable: declaration.kind.isDiscretionary && declaration.kind != .push,
                conditions: declaration.requiredConditions, constraints: declaration.constraints))
        if found.isEmpty { return }
        let others = found.map { requirement in
            if let field = fields[requirement.key] {
                return requirement.text + " in line \(field.place.line)"
            }
            let key = "requiresNetworkConnectivity"
            return "'\(key)'" + (fields[key].map { " in line \($0.place.line)" } ?? "")
        }
        let isOfIdle = found.contains { $0.expression.tests.map(\.fact) == [.machine(.idle)] }
        problems.warning(
            node.place,
            "when: '\(expression.text.shortened)' can't be true together with "
                + others.joined(separator: " and ") + ", so the task never starts",
            isOfIdle
                ? "Correct 'when', or add 'deviceActivity: ignore'"
                : found.contains { $0.key != "kind" } ? "Correct one of them" : "Correct 'when'")
    }

    private func readNetwork(_ fields: Fields, _ declaration: inout TaskDeclaration) {
        let isRequired = fields["requiresNetworkConnectivity"]
            .flatMap { $0.bool("requiresNetworkConnectivity", problems) }
        declaration.network = fields["network"]?.word("network", as: NetworkRequirement.self, problems)
        declaration.requiresNetworkConnectivity = isRequired ?? false || declaration.network != nil
        if isRequired == false, let network = declaration.network, let place = fields["network"]?.place {
            problems.error(
                place,
                "network: \(network.rawValue) requires a network, and requiresNetworkConnectivity is false",
                "Remove one of them")
        }
    }

    /// Reads `prefetch:`, which needs a kind of task that may wait, and a window in which the host can choose
    /// the moment.
    private func readPrefetch(_ fields: Fields, _ declaration: TaskDeclaration) -> Bool {
        guard let node = fields["prefetch"], node.bool("prefetch", problems) == true else { return false }
        guard [.appRefresh, .processing, .activity].contains(declaration.kind) else {
            problems.error(
                node.place, "prefetch has no effect on kind \(declaration.kind.rawValue)",
                "Remove it. Only appRefresh, processing and activity can wait for a use")
            return false
        }
        if let schedule = declaration.schedule, schedule.tolerance < .seconds(1800) {
            problems.warning(
                node.place,
                "prefetch has little effect: the schedule's tolerance of \(DurationText.format(schedule.tolerance)) "
                    + "leaves hardly a choice",
                "Set a tolerance of 30m or more, for example half of the period")
        }
        return true
    }

    private func kind(_ node: YAMLNode) -> TaskKind? {
        if case .scalar(TaskKind.appLaunch.rawValue, _) = node.value {
            problems.error(
                node.place, "a task can't have the kind appLaunch: the host launches apps by itself",
                "Remove the task; a library that exports bgtask_app_entry is launched when it is installed or "
                    + "changed, and by 'bgtask open'")
            return nil
        }
        return node.word("kind", among: TaskKind.declarable.map(\.rawValue), problems)
            .flatMap(TaskKind.init(rawValue:))
    }

    private func identifier(_ node: YAMLNode) -> TaskIdentifier? {
        guard let text = node.text("onFailure", problems) else { return nil }
        do {
            return try TaskIdentifier(text)
        } catch {
            problems.error(
                node.place, "onFailure '\(text.shortened)': \(error.finding)",
                "Name another task of this manifest by its identifier")
            return nil
        }
    }

    private func pattern(_ node: YAMLNode) -> IdentifierPattern? {
        guard let text = node.text("identifier", problems) else { return nil }
        do {
            return try IdentifierPattern(text)
        } catch {
            let remedy =
                text.contains("*")
                ? "A wildcard must be '.*' at the end" : "Use 1 to 128 characters of A-Z a-z 0-9 . _ -"
            problems.error(node.place, "identifier '\(text.shortened)': \(error.finding)", remedy)
            return nil
        }
    }

    private func check(_ pattern: IdentifierPattern, _ kind: TaskKind, at place: Place) {
        if pattern.isWildcard, kind != .continuedProcessing {
            problems.error(
                place, "kind \(kind.rawValue) can't have a wildcard: '\(pattern)'",
                "Only continuedProcessing can")
        }
        guard let bundle else { return }
        let isInside =
            pattern.base.rawValue.hasPrefix(bundle.rawValue + ".")
            || (pattern.isWildcard && pattern.base.rawValue == bundle.rawValue)
        guard !isInside else { return }
        if kind == .continuedProcessing {
            problems.error(
                place, "the continued identifier '\(pattern)' does not begin with '\(bundle).'",
                "Begin it with the bundle's id and a dot")
        } else if pattern.base.rawValue != bundle.rawValue {
            problems.warning(
                place, "the identifier '\(pattern)' does not begin with '\(bundle).'",
                "Begin it with the bundle's id, so that no other bundle claims it")
        }
    }

    private func checkMode(_ kind: TaskKind, at place: Place?) {
        guard let modes, let required = kind.requiredMode, !modes.contains(required) else { return }
        problems.error(
            place, "kind \(kind.rawValue) needs the mode '\(required.rawValue)'",
            "Add it: modes: [\(required.rawValue)]")
    }
}

import TaskModel

/// Something that a person can do about a policy's veto or low score.
///
/// A policy returns its acts from ``Policy/acts(for:in:at:)``. The scheduler then tries each of them on a
/// copy of itself, so a policy never promises what would follow: it only says which fact changes.
struct PossibleAct: Sendable {
    /// The fact that the act changes.
    enum Effect: Sendable {
        /// Conditions of the machine.
        case conditions(@Sendable (inout Conditions) -> Void)
        /// Anything else that the scheduler learns by an event.
        case event(SchedulerEvent)
        /// Not known in advance, as after the repair of a sensor. The headline, the first line of `explain`,
        /// then does not say what follows.
        case unknown
    }

    /// What to do, as the beginning of a sentence without a full stop: `Plug in`.
    let text: String
    /// A shorter text for a headline that has just named the subject: `Connect to one` after `a network`;
    /// `nil` if there is none.
    var short: String?
    /// The arguments of the `bgtask` command that does it; `nil` if no command does.
    var command: [String]?
    /// Whether the act itself takes a while, so that nothing starts at once.
    var takesTime = false
    /// Whether people do the act before the others: it changes the charge, and another act may end the power
    /// supply that it needs.
    var comesFirst = false
    /// What must hold if the request can only start much later: `the device is idle`; `nil` if the act can be
    /// done before.
    var state: String?
    /// Whether the policy can need more than this act, and gives the next one after it.
    var isStep = false
    /// The acts of which this one consists, if they only help together; empty for a single act.
    var parts: [PossibleAct] = []
    /// Whether the act brings pressure about.
    var isPressing = false
    /// Whether the act stops a launch.
    var isStop: Bool { command?.first == "expire" }
    let effect: Effect

    /// Identifies the act; two policies can have the same one.
    var key: String { ([text] + (command ?? [])).joined(separator: " ") }

    /// The act for people, in its parts.
    var remedies: [Remedy.Act] {
        parts.isEmpty ? [Remedy.Act(text: text, command: command)] : parts.flatMap(\.remedies)
    }

    /// The commands of the act and its parts.
    var commands: [[String]] { remedies.compactMap(\.command) }

    /// Several acts that change conditions, as one.
    static func together(_ parts: [PossibleAct]) -> PossibleAct {
        guard parts.count > 1 else { return parts.first ?? PossibleAct(text: "", effect: .unknown) }
        let changes = parts.compactMap { part in
            if case .conditions(let change) = part.effect { change } else { nil }
        }
        let words = parts.enumerated().map {
            $0.offset == 0 ? $0.element.text : $0.element.text.withSmallLetter
        }
        let states = parts.compactMap(\.state)
        return PossibleAct(
            text: words.inSentence, takesTime: parts.contains(where: \.takesTime),
            state: states.count == parts.count ? states.inSentence : nil, isStep: true, parts: parts,
            effect: .conditions { conditions in for change in changes { change(&conditions) } })
    }

    /// An act that changes the conditions of the machine.
    static func changing(
        _ text: String, short: String? = nil, takesTime: Bool = false, state: String? = nil,
        _ change: @escaping @Sendable (inout Conditions) -> Void
    ) -> PossibleAct {
        PossibleAct(
            text: text, short: short, takesTime: takesTime, state: state, effect: .conditions(change))
    }

    /// An act by a command of `bgtask`.
    static func command(
        _ text: String, short: String? = nil, _ command: [String], _ effect: Effect
    ) -> PossibleAct {
        PossibleAct(text: text, short: short, command: command, effect: effect)
    }

    /// The stop of a launch, whose request is then put back.
    static func stopping(_ launch: ActiveLaunch, _ id: LaunchID, at now: Moment) -> PossibleAct {
        var again = launch.request
        again.attempt += 1
        again.waitingSince = now.wall
        return PossibleAct(
            text: "Stop \(id) (\(launch.request.identifier))", command: ["expire", "\(id)"],
            effect: .event(.launchEnded(id, putBack: again, ending: LaunchEnding())))
    }
}

import ControlWire
import LinuxSystem
public import TaskModel

/// The groups of users that have a part of the control socket's powers, by their numbers.
///
/// The host's own user and root have all powers.
public struct ControlAccess: Equatable, Sendable {
    /// Members may use every route that only reads.
    public var readers: Set<UInt32> = []
    /// Members may submit requests of all bundles.
    public var submitters: Set<UInt32> = []
    /// Members may submit requests of one bundle.
    public var bundleSubmitters: [BundleIdentifier: UInt32] = [:]

    /// Gives no power to any group.
    public init() {}

    /// Finds the groups that a configuration names.
    ///
    /// - Parameters:
    ///   - read: The group of ``readers``; empty means none.
    ///   - submit: The group of ``submitters``; empty means none.
    ///   - bundles: The group of each bundle.
    ///   - onUnknown: Called with a sentence about each group that this machine does not have.
    public init(
        read: String, submit: String, bundles: [BundleIdentifier: String], onUnknown: (String) -> Void
    ) {
        func number(_ name: String, _ key: String) -> UInt32? {
            if name.isEmpty { return nil }
            if let number = UserGroup.number(of: name) { return number }
            onUnknown(
                "\(key): this machine has no group '\(name)', so it gives no powers. "
                    + "Create it and restart the host: groupadd \(name)")
            return nil
        }
        readers = Set([number(read, "control.read")].compactMap(\.self))
        submitters = Set([number(submit, "control.submit")].compactMap(\.self))
        for (bundle, name) in bundles {
            bundleSubmitters[bundle] = number(name, "bundles.\(bundle).submit")
        }
    }

    /// Whether any group has a power.
    public var isShared: Bool { !readers.isEmpty || !submitters.isEmpty || !bundleSubmitters.isEmpty }
}

/// What the client of one connection may do.
enum ControlPower: Equatable, Sendable {
    /// Everything: the client is the host's user or root.
    case all
    /// What its groups give.
    case groups(reads: Bool, submitsAll: Bool, submits: Set<BundleIdentifier>)

    /// The powers of a user who is neither the host's user nor root; `nil` if there are none.
    init?(_ groups: Set<UInt32>, in access: ControlAccess) {
        let reads = !access.readers.isDisjoint(with: groups)
        let submitsAll = !access.submitters.isDisjoint(with: groups)
        let bundles = access.bundleSubmitters.filter { groups.contains($0.value) }
        guard reads || submitsAll || !bundles.isEmpty else { return nil }
        self = .groups(reads: reads, submitsAll: submitsAll, submits: Set(bundles.keys))
    }

    /// Which power a route needs.
    enum Need: Equatable, Sendable {
        case reading, submitting, everything
    }

    /// Refuses a route for which the power is not enough.
    ///
    /// Whether a client may submit for a bundle is known only when the body was read: ``check(_:of:)``.
    func check(_ need: Need, subject: String) throws(ErrorMessage) {
        guard case .groups(let reads, let submitsAll, let submits) = self else { return }
        switch need {
        case .reading where reads: return
        case .submitting where submitsAll || !submits.isEmpty: return
        case .reading:
            throw refusal(
                subject, "your groups do not give you the power to read",
                "Ask the administrator to add you to the group that the setting control.read of bgtaskd names"
            )
        case .submitting:
            throw refusal(
                subject, "your groups do not give you the power to submit",
                "Ask the administrator to add you to the group that the setting control.submit of bgtaskd names"
            )
        case .everything:
            throw refusal(
                subject, "only the user of the host and root may do this",
                "Run the command as that user, or with sudo")
        }
    }

    /// Refuses a submission for a bundle for which the power is not enough; `nil` is an unknown bundle.
    func check(_ bundle: BundleIdentifier?, of identifier: TaskIdentifier) throws(ErrorMessage) {
        guard case .groups(_, false, let submits) = self else { return }
        if let bundle, submits.contains(bundle) { return }
        throw refusal(
            "\(identifier)",
            "your groups permit you to submit only for "
                + submits.map(\.rawValue).sorted().joined(separator: ", "),
            "Ask the administrator for the group in 'bundles: {\(bundle?.rawValue ?? "BUNDLE"): {submit: ...}}'"
        )
    }

    private func refusal(_ subject: String, _ finding: String, _ remedy: String) -> ErrorMessage {
        ErrorMessage(.peerNotAllowed, subject: subject, finding: finding, remedy: remedy)
    }
}

public import TaskModel

/// Transfers are no launches, but the same policies judge them.
extension Scheduler {
    /// The policies that transfers obey.
    private static let transferPolicies: [any Policy] = [
        SystemSleep(), Paused(), EarliestBeginDate(), ExternalPower(), Network(), BatteryLevel(),
        LowPowerMode(), Thermal(),
    ]

    /// The verdicts about the next attempt of a transfer.
    ///
    /// A discretionary transfer needs external power and an unmetered network, and obeys the policies for
    /// deferrable work. Any other needs a network.
    public func verdicts(of transfer: TransferRequest, at now: Moment) -> [Verdict] {
        answers(about: transfer, isTelling: true, at: now).map { $0.verdict($1, in: situation) }
    }

    /// Whether a policy holds a transfer.
    public func holds(_ transfer: TransferRequest, at now: Moment) -> Bool {
        answers(about: transfer, isTelling: false, at: now).contains { $1.isVeto }
    }

    func answers(
        about transfer: TransferRequest, isTelling: Bool, at now: Moment
    ) -> [(any Policy, Answer)] {
        guard let identifier = try? TaskIdentifier("transfer") else { return [] }
        var submission = TaskSubmission(identifier: identifier, origin: .client)
        submission.earliestBeginDate = transfer.earliestBeginDate
        func request(_ kind: TaskKind) -> TaskRequest {
            TaskRequest(
                id: RequestID(rawValue: 0), submission: submission, bundle: transfer.bundle, kind: kind,
                submittedAt: now.wall, attempt: 1, notBefore: nil, deadline: now.wall)
        }
        let deferrable = request(.processing)
        let urgent = transfer.isDiscretionary ? deferrable : request(.continuedProcessing)
        let isFree = transfer.isDiscretionary || !transfer.allowsMetered
        let needs = Needs(
            externalPower: transfer.isDiscretionary, network: isFree ? .unmetered : .any, gpu: false,
            idleDevice: false, longestBackOff: .zero)
        let bundle = situation.bundles[transfer.bundle] ?? BundleState()
        return Self.transferPolicies.map { policy in
            // In low-data mode, the network is open only to work that is not deferrable.
            let isDeferrable =
                transfer.isDiscretionary || (policy is Network && !transfer.allowsConstrained)
            let subject = Subject(
                // Continued tasks ignore the date.
                request: policy is EarliestBeginDate ? deferrable : urgent, needs: needs, bundle: bundle,
                isDiscretionary: isDeferrable,
                isRunning: false, isTelling: isTelling, isTransfer: true)
            return (policy, policy.answer(for: subject, in: situation, at: now))
        }
    }
}

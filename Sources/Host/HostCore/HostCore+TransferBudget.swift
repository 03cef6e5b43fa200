import HostSettings
import Scheduling
import TaskModel

/// The bytes of transfers: how many each bundle has used, and how many it may use on metered networks.
extension HostCore {
    /// What the host knows of a bundle.
    func facts(of bundle: BundleIdentifier, at now: Moment) -> BundleFacts {
        var facts = scheduler.facts(of: bundle, at: now)
        facts.transferredToday = transferUse[bundle].map { _ in transferredToday(bundle, at: now) }
        return facts
    }

    /// Whether a bundle has used its bytes of the day; always false on an unmetered network.
    func isOverBudget(_ bundle: BundleIdentifier, at now: Moment) -> Bool {
        guard isMetered, let limit = settings?.effective.meteredTransfersPerDay else { return false }
        return transferredToday(bundle, at: now).metered >= limit.bytes
    }

    /// The bundles that have used their bytes of the day.
    func bundlesOverBudget(at now: Moment) -> Set<BundleIdentifier> {
        Set(transferUse.keys.filter { isOverBudget($0, at: now) })
    }

    /// Whether no bundle may move a byte, because the limit of a day is 0 B.
    var isBudgetEmpty: Bool { isMetered && settings?.effective.meteredTransfersPerDay.bytes == 0 }

    /// The veto of the policy TransferBudget; `nil` if it has no objection.
    func budgetVeto(of bundle: BundleIdentifier, at now: Moment) -> Verdict? {
        guard isOverBudget(bundle, at: now),
            let limit = settings?.effective.meteredTransfersPerDay
        else { return nil }
        let used = ByteCount.mebibytes(transferredToday(bundle, at: now).metered >> 20)
        return Verdict(
            policy: "TransferBudget", decision: .mustNotProceed, score: 0, weight: 0,
            rationale: [
                Rationale(
                    quantity: "meteredBytes",
                    required: "less than \(limit) a day for each bundle on metered networks",
                    observed: "\(used) today", earliestChange: midnight(after: now),
                    remedy: "Connect to an unmetered network, or raise transfers.meteredPerDay")
            ])
    }

    /// How many bytes the transfers of a bundle may still move today; `nil` on an unmetered network.
    func bytesLeft(of transfer: Transfer) -> Int64? { bytesLeft(of: transfer.request.bundle) }

    private func bytesLeft(of bundle: BundleIdentifier) -> Int64? {
        guard isMetered, let limit = settings?.effective.meteredTransfersPerDay else { return nil }
        return max(0, limit.bytes - transferredToday(bundle, at: now).metered)
    }

    /// Tells the program how many bytes each bundle may move, if the network, the day or the limit has
    /// changed.
    ///
    /// Otherwise, the program counts down what it knows.
    mutating func allowBytes() {
        let terms = TransferAllowance(
            limit: isMetered ? settings?.effective.meteredTransfersPerDay.bytes : nil,
            day: isMetered ? localDay(of: now.wall) : 0)
        guard terms != transferAllowance else { return }
        transferAllowance = terms
        let ids = transfers.running.union(transfers.reserve.ids)
        // The program also counts for bundles that have no order now.
        let bundles = Set(ids.compactMap { transfers[$0]?.request.bundle }).union(transferUse.keys)
        for bundle in bundles.sorted() {
            emit(.transfer(.allow(bundle, bytes: bytesLeft(of: bundle))))
        }
    }

    /// The next local midnight, when the bytes of a new day begin.
    func midnight(after now: Moment) -> WallTime {
        WallTime(sinceEpoch: .seconds((localDay(of: now.wall) + 1) * 86_400) - (localTimeOffset ?? .zero))
    }

    /// Whether the machine's network is metered or in low-data mode.
    var isMetered: Bool {
        let network = conditions.network.value
        return network == .metered || network == .constrained
    }

    /// The local day of a time, as days since 1970.
    func localDay(of time: WallTime) -> Int64 {
        (time.wholeSeconds + (localTimeOffset ?? .zero).components.seconds) / 86_400
    }

    private func transferredToday(_ bundle: BundleIdentifier, at now: Moment) -> TransferBytes {
        transferUse[bundle]?.days[localDay(of: now.wall)] ?? TransferBytes()
    }
}

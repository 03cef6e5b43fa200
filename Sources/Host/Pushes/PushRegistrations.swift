public import TaskModel

/// Decides which bundles the host registers with which distributor, and what it remembers.
///
/// It reads no clock and does no I/O: every function returns what to do.
public struct PushRegistrations: Equatable, Sendable {
    /// What to do.
    public enum Action: Equatable, Sendable {
        /// Write the registrations to the disk before the next action.
        case save
        /// Ask the distributor to register a bundle, by its token.
        case register(BundleIdentifier, PushRegistration)
        /// Tell the distributor that a token is no longer used.
        case unregister(PushRegistration)
        /// Tell the bundle its endpoint, or that it has none any more.
        case announce(BundleIdentifier, endpoint: String?)
    }

    /// The registrations, by bundle.
    public private(set) var rows: [BundleIdentifier: PushRegistration]
    private let choice: DistributorChoice
    private var bundles: Set<BundleIdentifier>?
    private var distributors: Set<String> = []
    private let makeToken: @Sendable () -> String

    /// Begins with what an earlier host remembered.
    public init(
        _ rows: [BundleIdentifier: PushRegistration], choice: DistributorChoice,
        makeToken: @escaping @Sendable () -> String
    ) {
        (self.rows, self.choice, self.makeToken) = (rows, choice, makeToken)
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.rows == right.rows && left.choice == right.choice && left.bundles == right.bundles
            && left.distributors == right.distributors
    }

    /// The bundle that a token belongs to; `nil` for a token that the host does not know.
    public func bundle(of token: String) -> BundleIdentifier? { rows.first { $0.value.token == token }?.key }

    /// The bundles with a task of the kind `push` have changed.
    public mutating func set(bundles: Set<BundleIdentifier>) -> [Action] {
        guard bundles != self.bundles else { return [] }
        // An earlier host may have ended before it could tell a bundle its endpoint.
        let untold: [Action] =
            self.bundles == nil
            ? rows.sorted { $0.key < $1.key }.compactMap { bundle, row in
                guard bundles.contains(bundle), let endpoint = row.endpoint, endpoint != row.announced
                else { return nil }
                return .announce(bundle, endpoint: endpoint)
            } : []
        self.bundles = bundles
        return settle(renewing: false) + untold
    }

    /// The distributors on the bus, those that the bus can start included.
    public mutating func set(distributors: Set<String>) -> [Action] {
        let news = distributors.subtracting(self.distributors)
        self.distributors = distributors
        return settle(renewing: news.contains { name in rows.values.contains { $0.distributor == name } })
    }

    /// A distributor has started, and may have forgotten its registrations.
    public mutating func started(_ distributor: String) -> [Action] {
        distributors.insert(distributor)
        return settle(renewing: rows.values.contains { $0.distributor == distributor })
    }

    /// A distributor gave an endpoint.
    public mutating func set(endpoint: String, of token: String) -> [Action] {
        guard let bundle = bundle(of: token), rows[bundle]?.endpoint != endpoint else { return [] }
        rows[bundle]?.endpoint = endpoint
        return [.save, .announce(bundle, endpoint: endpoint)]
    }

    /// A bundle was told its endpoint; that push is durable.
    public mutating func announced(_ endpoint: String?, to bundle: BundleIdentifier) -> [Action] {
        guard rows[bundle] != nil, rows[bundle]?.announced != endpoint else { return [] }
        rows[bundle]?.announced = endpoint
        return [.save]
    }

    /// A distributor gave up a registration; the next start of the host or of the distributor makes another.
    public mutating func unregistered(_ token: String) -> [Action] {
        guard let bundle = bundle(of: token), let row = rows.removeValue(forKey: bundle) else { return [] }
        return [.save] + (row.endpoint == nil ? [] : [.announce(bundle, endpoint: nil)])
    }

    private var distributor: String? {
        switch choice {
        case .none: return nil
        case .named(let name): return name
        case .any:
            // A distributor that is away for a while keeps its registrations.
            return rows.values.map(\.distributor).min() ?? distributors.min()
        }
    }

    /// Registers what is missing, and gives up what is not wanted any more.
    private mutating func settle(renewing: Bool) -> [Action] {
        guard let bundles else { return [] }
        var (ends, begins, news): ([Action], [Action], [Action]) = ([], [], [])
        for (bundle, row) in rows.sorted(by: { $0.key < $1.key }) where !bundles.contains(bundle) {
            rows[bundle] = nil
            ends.append(.unregister(row))
        }
        guard let distributor, distributors.contains(distributor) else {
            return ends.isEmpty ? [] : [.save] + ends
        }
        for bundle in bundles.sorted() {
            let old = rows[bundle]
            if let old, old.distributor == distributor {
                if renewing { begins.append(.register(bundle, old)) }
                continue
            }
            let row = PushRegistration(token: makeToken(), distributor: distributor)
            rows[bundle] = row
            if let old {
                ends.append(.unregister(old))
                if old.endpoint != nil { news.append(.announce(bundle, endpoint: nil)) }
            }
            begins.append(.register(bundle, row))
        }
        return (ends.isEmpty && !begins.contains { isNew($0) } ? [] : [.save]) + ends + begins + news
    }

    private func isNew(_ action: Action) -> Bool {
        if case .register(_, let row) = action { row.endpoint == nil } else { false }
    }
}

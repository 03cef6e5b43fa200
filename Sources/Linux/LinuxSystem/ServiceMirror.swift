import TaskModel

/// A copy of the properties of one client's service, kept up to date on the bus's thread.
///
/// A signal only causes the properties to be read again. They are read from the owner of the service's name,
/// so other processes cannot change the copy. Signals that arrive while an answer is outstanding cause only
/// one further read.
final class ServiceMirror: BusCaller {
    private let client: any BusClient
    weak var loop: BusLoop?
    /// The unique bus name of the process that owns the service's name.
    private var owner: String?
    private var answers: [BusObject: [String: BusValue]] = [:]
    private var due = 0
    private var hasFailed = false
    private var isStale = false
    private var state = BusServiceState.unasked
    /// When the properties will be read again, on CLOCK_MONOTONIC; `nil` if no read is planned.
    private(set) var refreshAt: Duration?
    private var lastRefresh = Duration.zero

    var hasSpoken: Bool { state != .unasked }

    init(_ client: any BusClient, loop: BusLoop) {
        self.client = client
        self.loop = loop
    }

    /// Subscribes to the service's signals on a new connection, and asks for the owner of its name.
    func introduce() {
        let name = client.service
        var rules = [
            "type='signal',sender='\(BusLoop.busName)',interface='\(BusLoop.busName)',"
                + "member='NameOwnerChanged',arg0='\(name)'"
        ]
        for object in client.objects {
            rules.append(
                "type='signal',sender='\(name)',path='\(object.path)',interface='\(BusLoop.properties)',"
                    + "member='PropertiesChanged',arg0='\(object.interface)'")
        }
        for (object, members) in client.signals {
            for member in members {
                rules.append(
                    "type='signal',sender='\(name)',path='\(object.path)',interface='\(object.interface)',"
                        + "member='\(member)'")
            }
        }
        for rule in rules { loop?.call(BusLoop.busName, BusLoop.bus, "AddMatch", [rule]) { _ in } }
        loop?.call(BusLoop.busName, BusLoop.bus, "GetNameOwner", [name]) { [weak self] values in
            guard case .text(let owner)? = values?.first else {
                self?.ownerChanged(to: nil)
                return
            }
            self?.ownerChanged(to: owner)
        }
    }

    func ownerChanged(to new: String?) {
        if let new, new == owner { return }
        owner = new
        answers = [:]
        due = 0
        hasFailed = false
        isStale = false
        refreshAt = nil
        if new == nil { tell(.absent) } else { refresh() }
    }

    func wants(_ signal: BusSignal) -> Bool {
        if signal.sender == BusLoop.busName { return signal.member == "NameOwnerChanged" }
        guard signal.sender == owner else { return false }
        return isPropertiesChange(signal) || client.signals[signal.object]?.contains(signal.member) == true
    }

    private func isPropertiesChange(_ signal: BusSignal) -> Bool {
        signal.object.interface == BusLoop.properties
            && client.objects.contains { $0.path == signal.object.path }
    }

    func received(_ signal: BusSignal, _ arguments: [BusValue]) {
        if signal.sender == BusLoop.busName {
            guard arguments.count == 3, arguments[0] == .text(client.service),
                case .text(let new) = arguments[2]
            else { return }
            ownerChanged(to: new.isEmpty ? nil : new)
        } else if isPropertiesChange(signal) {
            askSoon()
        } else {
            client.received(signal.member, arguments, self)
        }
    }

    /// Reads the properties if a planned read is due.
    func timePassed(_ now: Duration) {
        guard let time = refreshAt, time <= now else { return }
        refreshAt = nil
        refresh()
    }

    private func askSoon() {
        if due > 0 {
            isStale = true
            return
        }
        let allowed = lastRefresh + BusLoop.refreshInterval
        if SystemClocks().now().monotonic >= allowed { refresh() } else { refreshAt = allowed }
    }

    private func refresh() {
        guard let loop, let asked = owner else { return }
        lastRefresh = SystemClocks().now().monotonic
        refreshAt = nil
        isStale = false
        hasFailed = false
        due = client.objects.count
        for object in client.objects {
            let target = BusObject(path: object.path, interface: BusLoop.properties)
            loop.call(asked, target, "GetAll", [object.interface]) { [weak self] values in
                self?.answered(object, values, by: asked)
            }
        }
        if due == 0 { finish() }
    }

    private func answered(_ object: BusObject, _ values: [BusValue]?, by asked: String) {
        // The answer of a former owner does not describe the present one.
        guard asked == owner, due > 0 else { return }
        if case .dictionary(let properties)? = values?.first {
            answers[object] = properties
        } else {
            hasFailed = true
        }
        due -= 1
        if due == 0 { finish() }
    }

    private func finish() {
        tell(hasFailed ? .failing : .present(answers))
        if isStale { return askSoon() }
        let now = SystemClocks().now().monotonic
        refreshAt = client.validity(of: state).map { now + $0 }
    }

    private func tell(_ new: BusServiceState) {
        guard new != state else { return }
        state = new
        client.changed(new, self)
        loop?.told()
    }

    func call(
        _ object: BusObject, _ member: String, _ arguments: [String],
        reply: @escaping ([BusValue]?) -> Void
    ) {
        guard let loop, let owner else { return reply(nil) }
        loop.call(owner, object, member, arguments, reply)
    }
}

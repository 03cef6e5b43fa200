/// One interface of one object of a bus service.
public struct BusObject: Hashable, Sendable {
    /// `/org/freedesktop/UPower`.
    public let path: String
    /// `org.freedesktop.UPower`.
    public let interface: String

    /// Names an interface of an object.
    public init(path: String, interface: String) {
        self.path = path
        self.interface = interface
    }
}

/// What is known of a bus service.
public enum BusServiceState: Equatable, Sendable {
    /// It was not heard of yet.
    case unasked
    /// The name has no owner, or there is no bus.
    case absent
    /// It answers: the properties of each object, by name.
    case present([BusObject: [String: BusValue]])
    /// A program has its name, but does not answer as the service does.
    case failing
}

/// What a client may do on the bus's thread, from within its own functions.
public protocol BusCaller {
    /// Calls a method of the client's service with strings.
    ///
    /// `reply` gets the answer's values, later on the same thread; `nil` for an error or a bus that went
    /// away.
    func call(
        _ object: BusObject, _ member: String, _ arguments: [String],
        reply: @escaping ([BusValue]?) -> Void)
}

/// A follower of one service of the bus.
public protocol BusClient: Sendable {
    /// The service's well-known name.
    var service: String { get }
    /// The objects whose properties are read, and read again when they change.
    var objects: [BusObject] { get }
    /// Further signals to receive: the member names of an interface.
    var signals: [BusObject: [String]] { get }
    /// How long an answer holds without a signal; `nil` if signals report every change.
    func validity(of state: BusServiceState) -> Duration?
    /// Reports the state of the service, on the bus's thread, each time that it may have changed.
    func changed(_ state: BusServiceState, _ bus: any BusCaller)
    /// Receives a signal from the owner of the service's name; called on the bus's thread.
    func received(_ member: String, _ arguments: [BusValue], _ bus: any BusCaller)
}

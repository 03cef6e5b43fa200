/// One interface of one object of a bus service.
public struct BusObject: Hashable, Sendable {
    /// The object's path, such as `/org/freedesktop/UPower`.
    public let path: String
    /// The interface's name, such as `org.freedesktop.UPower`.
    public let interface: String

    public init(path: String, interface: String) {
        self.path = path
        self.interface = interface
    }
}

/// The state of a bus service.
public enum BusServiceState: Equatable, Sendable {
    /// The service has not answered yet.
    case unasked
    /// No process owns the service's name, or there is no bus.
    case absent
    /// The service answers; the value contains the properties of each object, by name.
    case present([BusObject: [String: BusValue]])
    /// A process owns the service's name, but does not answer as the service should.
    case failing
}

/// Methods that a client may call on the bus's thread, inside its own callbacks.
public protocol BusCaller {
    /// Calls a method of the client's service, with strings as arguments.
    ///
    /// `reply` is called later on the same thread, with the values of the reply, or with `nil` after an error
    /// or the end of the connection.
    func call(
        _ object: BusObject, _ member: String, _ arguments: [String],
        reply: @escaping ([BusValue]?) -> Void)
}

/// A client that follows one service of the bus.
public protocol BusClient: Sendable {
    /// The service's well-known name.
    var service: String { get }
    /// The objects whose properties are read at first and after each change.
    var objects: [BusObject] { get }
    /// The additional signals to receive, as the names of an interface's signals.
    var signals: [BusObject: [String]] { get }
    /// How long an answer stays valid without a signal; `nil` if the service reports every change with a
    /// signal.
    func validity(of state: BusServiceState) -> Duration?
    /// Called on the bus's thread after each change of the service's state.
    func changed(_ state: BusServiceState, _ bus: any BusCaller)
    /// Called on the bus's thread for each of the additional ``signals`` from the service.
    func received(_ member: String, _ arguments: [BusValue], _ bus: any BusCaller)
}

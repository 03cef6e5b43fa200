import CLinuxShims
import Glibc
import Synchronization
import TaskModel

/// A method call that a bus service received.
public struct BusCall: Sendable {
    /// The number of the call, for ``BusService/reply(to:)``.
    public let number: UInt64
    /// The interface and the object that are called.
    public let object: BusObject
    /// The name of the method.
    public let member: String
    /// The arguments.
    public let arguments: [BusValue]
}

/// What a service does; all functions are called on the thread of the bus, and must not block.
public protocol BusServant: Sendable {
    /// The service has its name on the bus.
    func joined()
    /// The connection to the bus ended, or another process has the name.
    func left()
    /// A process has a name of the namespace that the service watches, or has it no longer.
    func ownerChanged(of name: String, isOwned: Bool)
    /// A method was called; returns whether it will be answered with a function of ``BusService``.
    func called(_ call: BusCall) -> Bool
}

/// The arguments of a method that a service calls.
public enum BusArguments: Sendable {
    /// Strings.
    case texts([String])
    /// One dictionary from strings to variants with strings.
    case dictionary([String: String])
    /// Values of several types.
    case values([Value])

    /// One of several arguments.
    public enum Value: Sendable {
        /// A string.
        case text(String)
        /// A number of 32 bits without a sign.
        case number(UInt32)
        /// A number of 32 bits with a sign.
        case signed(Int32)
        /// An empty array of strings.
        case noTexts
        /// An empty dictionary from strings to variants.
        case noEntries

        /// The letter for `lx_bus_request`, and the text that goes with it.
        var argument: (letter: String, text: String) {
            switch self {
            case .text(let text): ("s", text)
            case .number(let number): ("u", "\(number)")
            case .signed(let number): ("i", "\(number)")
            case .noTexts: ("S", "")
            case .noEntries: ("E", "")
            }
        }
    }
}

/// A name on a message bus, with a thread of its own that receives calls and makes them.
///
/// While there is no bus, the thread waits with inotify for the bus's socket. All functions can be called
/// from any thread.
public final class BusService: Sendable {
    /// Receives the values of a reply, or `nil` after an error; called on the thread of the bus.
    public typealias Reply = @Sendable ([BusValue]?) -> Void

    typealias Work = @Sendable (BusServiceLoop) -> Void

    private let wake: CInt
    private let work = Mutex<[Work]>([])

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - address: The address of the bus, such as ``BusAddress/session``.
    ///   - name: The well-known name to own.
    ///   - namespace: The namespace of names whose owners the servant hears about.
    ///   - servant: Receives what happens.
    /// - Throws: The `eventfd` that failed.
    public init(
        address: String, name: String, watching namespace: String, servant: any BusServant
    ) throws(SystemCallError) {
        let event = OwnedDescriptor(taking: try retryingOnInterrupt("eventfd", "bus") { lx_eventfd() })
        wake = event.release()
        BlockingThread.start(named: "bgtask-bus") { [self] in
            let loop = BusServiceLoop(address: address, name: name, namespace: namespace, servant: servant)
            loop.run(wake: wake) {
                work.withLock { work in
                    defer { work = [] }; return work
                }
            }
        }
    }

    /// Calls a method of another service, which the bus starts if it does not run.
    public func call(
        _ service: String, _ object: BusObject, _ member: String, _ arguments: BusArguments,
        reply: @escaping Reply
    ) {
        perform { $0.call(service, object, member, arguments, reply) }
    }

    /// Replies to a call with an empty answer, or with an empty dictionary.
    public func reply(to call: BusCall, withDictionary: Bool) {
        perform { $0.reply(to: call.number, withDictionary: withDictionary) }
    }

    /// Replies to a call with an error.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - name: The name of the error on the bus, such as `org.freedesktop.DBus.Error.Failed`.
    ///   - text: The reason, for people.
    public func refuse(_ call: BusCall, name: String, text: String) {
        perform { $0.refuse(call.number, name, text) }
    }

    /// Ends the thread and the connection; call this once.
    public func cancel() { perform { $0.isOver = true } }

    private func perform(_ body: @escaping Work) {
        work.withLock { $0.append(body) }
        lx_eventfd_signal(wake)
    }
}

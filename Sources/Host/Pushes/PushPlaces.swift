/// Decides which connection is closed when there are too many.
///
/// A place is taken from the address that holds the most connections without a complete request, and there
/// from the oldest one. So a sender with one connection keeps its place while another address opens
/// thousands.
public struct PushPlaces<Key: Hashable & Sendable>: Sendable {
    private struct Holder {
        let address: String
        let turn: Int
        var isAnswering = false
    }

    private let places: Int
    private var holders: [Key: Holder] = [:]
    private var turns = 0

    /// Makes a number of places, all free.
    public init(_ places: Int) { self.places = places }

    /// The number of places that are taken.
    public var taken: Int { holders.count }

    /// Gives a new connection a place.
    ///
    /// - Parameters:
    ///   - key: The connection.
    ///   - address: The address of the other end, without its port.
    /// - Returns: The connection to close, which may be the new one; `nil` if there is room for all. It has
    ///   no place any more.
    public mutating func open(_ key: Key, from address: String) -> Key? {
        turns += 1
        holders[key] = Holder(address: address, turn: turns)
        guard holders.count > places else { return nil }
        let waiting = holders.filter { !$0.value.isAnswering }
        let counts = Dictionary(grouping: waiting, by: \.value.address).mapValues(\.count)
        let most = counts.values.max() ?? 0
        let closed = waiting.filter { counts[$0.value.address] == most && ($0.key != key || most == 1) }
            .min { $0.value.turn < $1.value.turn }?.key
        let leaving = closed ?? key
        holders[leaving] = nil
        return leaving
    }

    /// Notes that a complete request has arrived, so that the connection keeps its place until the answer.
    public mutating func begin(_ key: Key) { holders[key]?.isAnswering = true }

    /// Notes that the answer was sent.
    public mutating func end(_ key: Key) { holders[key]?.isAnswering = false }

    /// Frees the place of a connection that is closed.
    public mutating func close(_ key: Key) { holders[key] = nil }
}

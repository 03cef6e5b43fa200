import Glibc

/// Reports when the socket of a bus may have appeared.
///
/// It watches the directory of the socket, or the nearest one above that exists.
struct BusSocketWatch: ~Copyable {
    private let events: OwnedDescriptor?
    private let path: String?
    private var watch: CInt = -1

    /// The descriptor to poll; -1 if there is nothing to watch.
    var descriptor: CInt { events == nil ? -1 : number }
    private let number: CInt

    init(address: String) {
        path = BusAddress.socketPath(of: address)
        number = path == nil ? -1 : inotify_init1(CInt(O_CLOEXEC | O_NONBLOCK))
        events = number < 0 ? nil : OwnedDescriptor(taking: number)
    }

    /// Whether changes are reported.
    ///
    /// This is false for an address without a file, and on systems without inotify.
    var isAble: Bool { events != nil }

    /// Whether the socket may exist.
    var mayExist: Bool { path.map { SmallFile.exists($0) } ?? true }

    /// Moves the watch to the nearest directory that exists now.
    mutating func rewatch() {
        guard isAble, var place = path else { return }
        let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
        let old = watch
        repeat {
            place = place.lastIndex(of: "/").map { String(place[..<$0]) } ?? ""
            watch = inotify_add_watch(number, place.isEmpty ? "/" : place, mask)
        } while watch < 0 && !place.isEmpty
        if old >= 0 && old != watch { _ = inotify_rm_watch(number, old) }
    }

    /// Empties the event queue; the contents of the events do not matter.
    func drain() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while isAble && read(number, &buffer, buffer.count) > 0 {}
    }
}

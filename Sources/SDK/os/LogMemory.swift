import Foundation
import Synchronization

/// The newest messages that this process has written to the log, for `OSLogStore`.
package final class LogMemory: Sendable {
    /// One message.
    package struct Entry: Sendable {
        package var date: Date
        package var type: OSLogType
        package var subsystem: String
        package var category: String
        package var text: String
        /// The number of the thread in Linux.
        package var thread: UInt64
    }

    /// The only instance in the process.
    package static let shared = LogMemory()

    /// The bytes of texts that are kept: 512 KiB.
    ///
    /// Our choice: about 5,000 messages, which an app can export; a launch that logs nothing needs none.
    package static let capacity = 512 * 1024

    private struct State {
        var entries: [Entry] = []
        /// The index of the oldest entry that is kept.
        var first = 0
        var bytes = 0
    }

    private let state = Mutex(State())

    /// Keeps a message, and forgets the oldest ones beyond ``capacity``.
    func add(_ entry: Entry) {
        state.withLock { state in
            state.entries.append(entry)
            state.bytes += entry.size
            while state.bytes > Self.capacity, state.first < state.entries.count - 1 {
                state.bytes -= state.entries[state.first].size
                state.first += 1
            }
            // Removed in large pieces, so that each message costs a constant time.
            if state.first > 1024, state.first > state.entries.count / 2 {
                state.entries.removeFirst(state.first)
                state.first = 0
            }
        }
    }

    /// The messages that are kept, the oldest first.
    package var entries: [Entry] { state.withLock { Array($0.entries[$0.first...]) } }
}

extension LogMemory.Entry {
    /// The bytes that count; 100 for the rest of the entry.
    fileprivate var size: Int { text.utf8.count + subsystem.utf8.count + category.utf8.count + 100 }
}

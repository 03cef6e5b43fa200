import Foundation
import Synchronization

/// The object that represents an activity of `ProcessInfo`; its deinitializer ends the assertion.
final class ActivityToken: NSObject, Sendable {
    private let number: Mutex<Int>

    init(_ number: Int) {
        self.number = Mutex(number)
        super.init()
    }

    func set(_ number: Int) { self.number.withLock { $0 = number } }

    func end() {
        let number = number.withLock { number in
            defer { number = 0 }
            return number
        }
        if number != 0 { AssertionBook.shared.end(number) }
    }

    deinit { end() }
}

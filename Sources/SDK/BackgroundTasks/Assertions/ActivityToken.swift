import Foundation
import Synchronization

/// Stands for an activity of `ProcessInfo`; ends its assertion when it goes.
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

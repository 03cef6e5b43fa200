import Foundation
import Synchronization

/// The object that `ProcessInfo` returns for an activity, and that keeps the process alive meanwhile.
///
/// It holds the number of an assertion in ``AssertionBook``, or 0 if there is none. The assertion ends with
/// the activity, or at the latest when the last reference to this object is gone.
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

/// Passes a value between threads that Apple's declarations do not mark as Sendable, as Apple's frameworks
/// do.
struct Unchecked<Value>: @unchecked Sendable {
    // Unchecked: a handler is stored once and called only on the queue for which it was registered.
    let value: Value
    init(_ value: Value) { self.value = value }
}

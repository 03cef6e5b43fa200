/// Carries what Apple's declarations leave unmarked across threads, as Apple's frameworks do.
struct Unchecked<Value>: @unchecked Sendable {
    // Unchecked: a handler is stored once and called by the one queue that it was registered for.
    let value: Value
    init(_ value: Value) { self.value = value }
}

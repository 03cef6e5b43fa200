/// What decides how many bytes the program may move for a bundle, besides those that it has moved.
struct TransferAllowance: Equatable, Sendable {
    /// The bytes of each bundle and day; `nil` if there is no limit.
    var limit: Int64?
    /// The local day, as days since 1970; 0 if there is no limit.
    var day: Int64 = 0
}

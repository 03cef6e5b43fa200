import TaskModel

/// The end of a transfer that the store could not take yet.
struct UnsavedTransfer: Sendable {
    let transfer: Transfer
    /// The caller that cancelled it and still waits; `nil` if none does.
    let call: CallID?
}

public import TaskModel

/// An order to the part of the host that makes transfers.
public enum TransferOrder: Equatable, Sendable {
    /// Begin an attempt; answered by reports, the last of which is
    /// ``TransferReport/ended(_:_:received:sent:)``.
    case begin(Transfer)
    /// Stop an attempt; it ends as `cancelled`.
    case cancel(TransferID)
    /// Put a complete file into its place; answered by ``TransferReport/delivered(_:_:)``.
    case deliver(TransferID, to: TransferPlace)
    /// Remove the files of a transfer.
    case remove(TransferID)
    /// Give the bytes of a transfer that has ended to another one.
    case move(TransferID, to: TransferID)
    /// Remove the file of an upload from the handover directory.
    case discard(Transfer)
    /// Remove the files of all transfers but these, and all copies for uploads but those with these names,
    /// which a crash can leave.
    case sweep(keeping: Set<TransferID>, uploads: Set<String>)
}

public import TaskModel

/// An order to the part of the host that makes transfers.
public enum TransferOrder: Equatable, Sendable {
    /// Begin an attempt; answered by reports, the last of which is
    /// ``TransferReport/ended(_:_:received:sent:)``.
    ///
    /// The bundle's transfers may move `bytesLeft` more bytes; `nil` means that there is no limit.
    case begin(Transfer, bytesLeft: Int64? = nil)
    /// Begin an attempt when a place is free, which ``TransferReport/began(_:)`` reports; otherwise like
    /// `begin`. If it is stopped or lost before, it ends without a beginning.
    case reserve(Transfer, rank: Int, bytesLeft: Int64? = nil)
    /// Begin an attempt that was reserved, if it has not begun.
    case promote(TransferID)
    /// The transfers of a bundle may move so many bytes from now on; `nil` means that there is no limit.
    case allow(BundleIdentifier, bytes: Int64?)
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

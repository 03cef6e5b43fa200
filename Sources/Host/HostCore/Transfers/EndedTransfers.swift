import TaskModel

/// The transfers that end and that are forgotten during one input.
struct EndedTransfers: Sendable {
    var ended: [Transfer] = []
    var forgotten: [TransferID] = []
}

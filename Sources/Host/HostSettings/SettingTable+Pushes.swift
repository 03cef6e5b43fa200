import TaskModel

/// The keys of pushes from outside.
extension SettingTable {
    static let pushes: [SettingKey] = [
        .address(
            "pushes.listen", \.pushes.listen,
            "The address at which the host listens for signed pushes from other programs and machines. Empty means that it does not listen"
        ),
        .path(
            "pushes.certificate", \.pushes.certificate,
            "The file with the certificate of the listener, and with those of the authorities above it, as PEM. The host reads it again when it changes. Empty means no TLS"
        ),
        .path("pushes.key", \.pushes.key, "The file with the key of the certificate, as PEM"),
        .distributor(
            "pushes.distributor", \.pushes.distributorText,
            "The distributor of UnifiedPush, a program of the user that receives pushes for others. With 'any', the host uses the one that it used before, or else the first by name. Only the host of a user has a session bus"
        ),
        .integer(
            "pushes.perMinute", \.pushes.perMinute, 1...6000,
            "The number of pushes from the network that a bundle gets at once, and then in each minute. Our choice: about 4 launches an hour come of them, and the newest push replaces those that wait",
            needsRestart: true),
        .integer(
            "pushes.perMinuteInAll", \.pushes.perMinuteInAll, 1...60_000,
            "The same number for all bundles together. Our choice: each push is one commit of the store",
            needsRestart: true),
    ]
}

import HostSettings
import LinuxSystem
import Logging
import Pushes
public import PushServer
public import TaskHost
public import TaskModel
public import UnifiedPush

extension DaemonCommand {
    /// Makes the listener for pushes from the network; `nil` if the configuration has none.
    static func pushServer(
        of settings: PushSettings, for host: TaskHost, _ logger: Logger
    ) -> PushServer? {
        guard let address = settings.address else { return nil }
        return PushServer(
            address: address, certificate: settings.certificates,
            limits: PushServer.Limits(rates: settings.rates), secrets: host.pushes.secrets,
            receiver: host.pushes,
            logger: logger)
    }

    /// Makes the connector of UnifiedPush; `nil` if the configuration names no distributor, or if there is no
    /// session bus.
    static func pushConnector(
        of settings: EffectiveSettings, for host: TaskHost, _ logger: Logger
    ) -> PushConnector? {
        guard settings.pushes.distributor != .none else { return nil }
        guard let address = BusAddress.session else {
            logger.error(
                "pushes.distributor has no effect: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set"
            )
            return nil
        }
        return PushConnector(
            choice: settings.pushes.distributor, stateDirectory: settings.paths.state,
            rates: settings.pushes.rates, host: host.pushes, address: address, logger: logger)
    }
}

extension HostPushes: PushConnectorHost {}

extension HostPushes: PushReceiver {
    public func earlier(_ push: ReceivedPush) async throws(SubmissionError) -> TaskRequest? {
        try await earlier(to: push.bundle, key: push.key)
    }

    public func receive(_ push: ReceivedPush) async throws(SubmissionError) -> (
        request: TaskRequest, isRepeat: Bool
    ) {
        try await receive(to: push.bundle, payload: push.payload, priority: push.priority, key: push.key)
    }
}

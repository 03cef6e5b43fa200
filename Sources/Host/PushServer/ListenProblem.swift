import LinuxSystem
import NIOCore
import Pushes

/// Why the host can't listen for pushes, in words for the log and for `bgtask doctor`.
struct ListenProblem {
    let finding: String
    let remedy: String

    init(_ address: ListenAddress, _ error: any Error) {
        // The description of the library's error names its own functions.
        let code = (error as? IOError)?.errnoCode
        let reason = code.map { SystemCallError.text(of: $0) } ?? "\(error)"
        finding = "the host can't listen for pushes at \(address), and tries again each minute: \(reason)"
        remedy =
            switch code {
            case SystemCallError.addressInUse:
                "End the program that listens there, which 'ss -ltnp' shows, or change pushes.listen and restart the host"
            case .some: "Check that this machine has the address, and that the host's user may use the port"
            case nil: "Look at pushes.certificate and pushes.key"
            }
    }
}

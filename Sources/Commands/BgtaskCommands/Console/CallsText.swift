import ControlWire
import TaskModel

/// The observed calls of a launch as lines of text.
enum CallsText {
    /// How many refused calls, and how many used grants, are shown: 40, our choice; `--json` has all.
    private static let shown = 40

    /// The lines about the refused calls and about the used grants; empty if there is nothing to show.
    ///
    /// Each of the two parts begins with an empty line and a title.
    static func lines(_ calls: ObservedCalls?) -> [String] {
        guard let calls else { return [] }
        var lines: [String] = []
        let refused = calls.refused
        if !refused.isEmpty {
            lines += ["", "refused by the sandbox"]
            lines += refused.prefix(shown).map { "  " + refusal($0) }
            if refused.count > shown { lines.append("  and \(refused.count - shown) more") }
        }
        let used = calls.calls.filter { !$0.isRefused }
        if calls.isComplete {
            lines += ["", "used of its grants"]
            lines += used.isEmpty ? ["  nothing"] : used.prefix(shown).map { "  \($0.summary)\(times($0))" }
            if used.count > shown { lines.append("  and \(used.count - shown) more") }
        }
        if calls.further > 0 {
            lines.append("  \(calls.further) more calls are not recorded: the record of a launch has a limit")
        }
        return lines.map { Printable.text($0) }
    }

    /// How to find out whether the sandbox refused files to a launch that failed; none for other launches.
    static func hint(_ detail: LaunchDetailMessage) -> [String] {
        guard detail.launch.outcome == .failed || detail.launch.outcome == .crashed,
            detail.launch.isolation.contains(SandboxLayer.seccomp.rawValue), detail.calls?.isComplete != true
        else { return [] }
        var lines = [
            "",
            "To see whether the sandbox refused files to it: bgtask launch \(detail.launch.identifier) --learn",
        ]
        let layers = detail.launch.isolation.split(separator: ", ").map(String.init)
        if layers.contains(SandboxLayer.user.rawValue) {
            let bundle = detail.launch.bundle
            lines.append(
                "It ran as the user of its bundle. To see which write grants that user can't use, as root: "
                    + "bgtask lint MANIFEST; to permit a directory: "
                    + "setfacl -m u:$(stat -c %u STATE/data/\(bundle)):rwx DIRECTORY")
        }
        return lines
    }

    /// For example `openat of /etc/hosts for reading, 3 times; to permit it: sandbox: {read: [/etc/hosts]}`.
    static func refusal(_ call: ObservedCalls.Call) -> String {
        let remedy = call.grant.map { "; to permit it: sandbox: {\($0)}" } ?? "; no grant permits it"
        // The C library asks a daemon for names first, and reads the files of /etc without it.
        if call.name == "socket", call.subject?.hasPrefix("AF_UNIX, ") == true {
            let library = "the C library tries it to look up names, and works without"
            return "\(call.summary)\(times(call))\(remedy); \(library)"
        }
        return "\(call.summary)\(times(call))\(remedy)"
    }

    private static func times(_ call: ObservedCalls.Call) -> String {
        call.count == 1 ? "" : ", \(call.count) times"
    }
}

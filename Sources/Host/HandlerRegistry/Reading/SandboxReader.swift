import StrictFiles
import TaskModel

/// Reads `sandbox:`.
struct SandboxReader {
    /// The payload keys that any task of the manifest declares, with their types.
    let payload: [String: PayloadType]
    /// Whether a task of the manifest has a `command:`, so that the tasks may start processes.
    let hasCommand: Bool
    let problems: ProblemList

    func sandbox(_ node: YAMLNode?) -> SandboxDeclaration {
        var sandbox = SandboxDeclaration()
        let keys = ["network", "read", "write", "subprocesses", "devices", "environment", "gpu"]
        guard let node, let fields = Fields(node, "sandbox", keys: keys, problems) else {
            sandbox.subprocesses = hasCommand
            return sandbox
        }
        sandbox.network = fields["network"].flatMap(network)
        let subprocesses = fields["subprocesses"]?.bool("subprocesses", problems)
        if hasCommand, subprocesses == false {
            problems.error(
                fields["subprocesses"]?.place,
                "a manifest with a 'command' can't have 'subprocesses: false', because a command is a process",
                "Remove it")
        }
        sandbox.subprocesses = hasCommand || subprocesses ?? false
        sandbox.gpu = fields["gpu"]?.bool("gpu", problems)
        var grants: [(path: String, place: Place)] = []
        for node in fields["read"]?.items("read", problems) ?? [] {
            guard let path = path(node, "a path of read") else { continue }
            sandbox.read.append(path)
            grants.append((path, node.place))
        }
        for node in fields["write"]?.items("write", problems) ?? [] {
            guard let grant = grant(node) else { continue }
            sandbox.write.append(grant)
            grants.append((grant.path, node.place))
        }
        sandbox.devices = (fields["devices"]?.items("devices", problems) ?? []).compactMap(device)
        sandbox.environment = (fields["environment"]?.items("environment", problems) ?? []).compactMap(
            variable)
        for (path, place) in grants { adviseAgainst(path, place) }
        for (index, path) in sandbox.read.enumerated() {
            adviseOnRepeated(path, at: index, grants[index].place, in: sandbox)
        }
        return sandbox
    }

    // MARK: Network, devices and environment

    private func network(_ node: YAMLNode) -> NetworkGrant? {
        guard case .mapping = node.value else {
            return node.bool("network", problems) == true ? .all : nil
        }
        guard let fields = Fields(node, "network", keys: ["connect"], problems),
            let list = fields.required("connect", "network", problems),
            let items = list.items("connect", problems)
        else { return nil }
        if items.isEmpty {
            problems.error(list.place, "connect has no ports", "Name the ports, or write 'network: false'")
        }
        var ports: [UInt16] = []
        for item in items {
            guard let number = item.integer("a port of connect", in: 1...65535, problems) else { continue }
            let port = UInt16(number)
            if ports.contains(port) {
                problems.error(item.place, "the port \(port) appears twice", "Keep one")
            }
            ports.append(port)
        }
        return .connect(ports: ports)
    }

    /// The devices that every task may open.
    private static let usualDevices: Set<String> = ["null", "zero", "full", "random", "urandom"]

    private func device(_ node: YAMLNode) -> String? {
        guard let path = node.text("a device", problems) else { return nil }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard path.hasPrefix("/dev/"), parts.count > 2, !parts.dropFirst().contains(where: \.isDot) else {
            problems.error(
                node.place, "not a device file: '\(path.shortened)'",
                "Name one file below /dev, such as /dev/video0")
            return nil
        }
        if let name = parts.last, parts.count == 3, Self.usualDevices.contains(String(name)) {
            problems.warning(node.place, "every task may open \(path)", "Remove it")
        }
        if let danger = Self.danger(of: String(parts[2])) {
            problems.warning(
                node.place, "with \(path), a task could \(danger)",
                "Remove it, unless the task is as trusted as the kernel")
        }
        return path
    }

    /// What a task could do with a device, or with one in a directory of this name; `nil` for most devices.
    private static func danger(of name: String) -> String? {
        switch name {
        case "mem", "kmem", "port", "cpu", "disk", "mapper": "read or change everything on this machine"
        case "kmsg": "read and write the log of the kernel"
        case "kvm": "run virtual machines, whose driver is a large part of the kernel"
        case "fuse": "serve file systems to this machine"
        case "input", "uinput": "read or imitate what the user types"
        case _ where isDisk(name): "read or change everything on this machine"
        default: nil
        }
    }

    /// Whether a name is that of a disk or of one of its partitions: `sda1`, `nvme0n1p2`, `mmcblk0`, `dm-0`.
    private static func isDisk(_ name: String) -> Bool {
        func follows(_ prefix: String, _ isNext: (UInt8) -> Bool) -> Bool {
            name.hasPrefix(prefix) && name.utf8.dropFirst(prefix.utf8.count).first.map(isNext) == true
        }
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
        if ["nvme", "mmcblk", "md", "dm-"].contains(where: { follows($0, isDigit) }) { return true }
        // A partition has a number after the letters of its disk.
        let stem = name.utf8.reversed().drop(while: isDigit)
        return stem.count <= 5 && ["sd", "vd", "xvd"].contains { follows($0, isLetter) }
            && stem.allSatisfy(isLetter)
    }

    private func variable(_ node: YAMLNode) -> String? {
        guard let name = node.text("a variable of environment", problems) else { return nil }
        guard EnvironmentName.isName(name) else {
            problems.error(
                node.place, "not a valid variable name: '\(name.shortened)'",
                "Name a variable, such as SSL_CERT_FILE; its value comes from the host's environment")
            return nil
        }
        let isReserved =
            name.hasPrefix("LD_") || name.hasPrefix("BGTASK_") || name.hasPrefix("GLIBC_")
            || ["HOME", "CFFIXED_USER_HOME", "PATH", "TMPDIR", "SWIFT_BACKTRACE", "NOTIFY_SOCKET"].contains(
                name)
        if isReserved {
            problems.error(node.place, "the host sets or withholds \(name) itself", "Remove it")
            return nil
        }
        return name
    }

    // MARK: Paths

    /// Warns of grants that give a task more than its manifest's author can have meant.
    private func adviseAgainst(_ path: String, _ place: Place) {
        let plain = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        switch plain {
        case "/", "/etc", "/root", "/home", "/var", "/run", "/sys", "/proc", "/dev", "/boot", "~":
            problems.warning(
                place, "the grant '\(path)' is wide: it holds files of the whole machine or user",
                "Name the directory that the task needs")
        case _ where plain.hasPrefix("/dev/"):
            problems.warning(
                place, "a path grant does not open the device '\(path)' for ioctl",
                "Write 'devices: [\(path)]'")
        default: break
        }
    }

    /// Warns of a read grant that another grant contains.
    private func adviseOnRepeated(
        _ path: String, at index: Int, _ place: Place, in sandbox: SandboxDeclaration
    ) {
        func contains(_ outer: String, _ inner: String) -> Bool {
            outer == "/" || inner == outer || inner.hasPrefix(outer.hasSuffix("/") ? outer : outer + "/")
        }
        if sandbox.read[..<index].contains(path) {
            problems.warning(place, "the read grant '\(path)' appears twice", "Keep one")
        } else if let wider = sandbox.write.first(where: { contains($0.path, path) }) {
            problems.warning(
                place, "the write grant '\(wider.path)' also permits to read '\(path)'", "Remove it from read"
            )
        } else if ["/usr/lib", "/usr/share", "/lib", "/lib64"].contains(where: { contains($0, path) }) {
            problems.warning(place, "every task may read '\(path)'", "Remove it")
        }
    }

    private func grant(_ node: YAMLNode) -> WriteGrant? {
        guard case .mapping = node.value else {
            return path(node, "a path of write").map { WriteGrant(path: $0, create: false) }
        }
        guard let fields = Fields(node, "a grant of write", keys: ["path", "create"], problems) else {
            return nil
        }
        let path = fields.required("path", "a grant of write", problems).flatMap { self.path($0, "path") }
        let create = fields["create"]?.bool("create", problems) ?? false
        return path.map { WriteGrant(path: $0, create: create) }
    }

    private func path(_ node: YAMLNode, _ what: String) -> String? {
        guard let path = node.text(what, problems) else { return nil }
        let isRooted =
            path.hasPrefix("/") || path == "~" || path.hasPrefix("~/") || path.hasPrefix("${payload.")
        guard isRooted, !path.split(separator: "/").contains("..") else {
            problems.error(
                node.place, "\(what) must be absolute and without '..', found '\(path.shortened)'",
                "Begin it with '/', '~/' or '${payload.KEY}', and do not use '..'")
            return nil
        }
        PayloadText.check(path, in: payload, allowing: [.string], at: node.place, problems)
        return path
    }
}

extension Substring {
    /// Whether this part of a path names no file of its own.
    fileprivate var isDot: Bool { isEmpty || self == "." || self == ".." }
}

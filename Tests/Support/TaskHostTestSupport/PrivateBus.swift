public import Foundation

/// A message bus for one test, with the services that the test starts on it.
///
/// The tests never use the machine's own bus.
public final class PrivateBus {
    /// The reason why there can be no such bus on this machine; `nil` if there can.
    public static let obstacle: String? = {
        for program in ["dbus-daemon", "dbus-send"] where !Command.exists(program) {
            return "\(program) is not installed"
        }
        return nil
    }()
    /// The reason why there can be no services of python-dbusmock; `nil` if there can.
    public static let mockObstacle: String? =
        obstacle
        ?? (Command.run(python, "-c", "import dbusmock").status == 0
            ? nil : "python3-dbusmock is not installed")
    /// The reason why the real power daemons cannot run with faked devices; `nil` if they can.
    public static let powerObstacle: String? = {
        if let mockObstacle { return mockObstacle }
        let program = "import gi; gi.require_version('UMockdev', '1.0'); from gi.repository import UMockdev"
        if Command.run(python, "-c", program).status != 0 { return "umockdev is not installed" }
        for daemon in ["upowerd", "power-profiles-daemon"]
        where !FileManager.default.fileExists(atPath: path(daemon)) {
            return "\(daemon) is not installed"
        }
        return nil
    }()
    /// Debian's own interpreter: the packages above belong to it, and `PATH` may have another one.
    static let python = "/usr/bin/python3"
    static func path(_ daemon: String) -> String { "/usr/libexec/\(daemon)" }

    public let directory: URL
    private var daemon: CompanionProcess?
    private var socket: URL { directory.appendingPathComponent("bus") }

    /// The value for `DBUS_SYSTEM_BUS_ADDRESS`.
    public var address: String { "unix:path=\(socket.path)" }
    var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": address] }
    /// The file with the output of the bus and its services.
    public var log: URL { directory.appendingPathComponent("log") }

    /// Creates the bus's directory; ``start()`` starts the bus.
    ///
    /// - Parameter services: The directory with the files of services that the bus starts itself, as a
    ///   session bus does; `nil` for none.
    public init(services: URL? = nil) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("bus-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let configuration = """
            <busconfig>
              <type>\(services == nil ? "system" : "session")</type>
              <listen>\(address)</listen>
              \(services.map { "<servicedir>\($0.path)</servicedir>" } ?? "")
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*"/>
                <allow receive_sender="*"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        try configuration.write(
            to: directory.appendingPathComponent("bus.conf"), atomically: true, encoding: .utf8)
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Starts the bus and waits until it answers.
    public func start() throws {
        let file = directory.appendingPathComponent("bus.conf").path
        daemon = try CompanionProcess(
            ["dbus-daemon", "--config-file=\(file)", "--nofork", "--nopidfile"], output: log)
        try waitUntil("the bus answers") { owner(of: "org.freedesktop.DBus") != nil }
    }

    /// Ends the bus abruptly, like a crash.
    public func stop() {
        daemon?.end()
        daemon = nil
        try? FileManager.default.removeItem(at: socket)
    }

    /// Starts a fake service of python-dbusmock and waits until it has its name.
    public func mock(_ template: String, as name: String, parameters: String = "{}") throws
        -> CompanionProcess
    {
        let process = try CompanionProcess(
            [Self.python, "-m", "dbusmock", "--system", "--template", template, "--parameters", parameters],
            environment: environment, output: log)
        try waitUntil("\(name) is on the bus") { owner(of: name) != nil }
        return process
    }

    /// Starts a fake object of python-dbusmock without properties and methods, and waits until it has its
    /// name.
    public func standIn(for name: String, path: String) throws -> CompanionProcess {
        let process = try CompanionProcess(
            [Self.python, "-m", "dbusmock", "--system", name, path, name], environment: environment,
            output: log)
        try waitUntil("\(name) is on the bus") { owner(of: name) != nil }
        return process
    }

    /// Starts a real power daemon, which sees the machine's devices or those that its environment fakes.
    public func start(
        _ daemon: String, as name: String, environment additions: [String: String] = [:]
    ) throws -> CompanionProcess {
        let process = try CompanionProcess(
            [Self.path(daemon)], environment: environment.merging(additions) { $1 }, output: log)
        try waitUntil("\(name) is on the bus") { owner(of: name) != nil }
        return process
    }

    /// The unique bus name of a name's owner; `nil` if the name has no owner.
    public func owner(of name: String) -> String? {
        let answer = call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.GetNameOwner", "string:\(name)")
        return answer.status == 0 ? answer.output : nil
    }

    /// Calls a method. The arguments have the form of `dbus-send`: `string:TEXT`, `variant:uint32:4`.
    @discardableResult
    public func call(_ service: String, _ path: String, _ member: String, _ arguments: String...)
        -> Command.Answer
    {
        Command.run(
            ["dbus-send", "--bus=\(address)", "--print-reply=literal", "--dest=\(service)", path, member]
                + arguments)
    }

    /// Changes a property, as the service itself would.
    public func set(
        _ service: String, _ path: String, _ interface: String, _ property: String, _ value: String
    )
        throws
    {
        let answer = call(
            service, path, "org.freedesktop.DBus.Properties.Set", "string:\(interface)", "string:\(property)",
            "variant:\(value)")
        if answer.status != 0 { throw TestFailure("\(property) of \(service): \(answer.output)") }
    }

    /// Sends a signal from a sender that owns no name.
    public func sendSignal(_ path: String, _ member: String, _ argument: String) {
        _ = Command.run(["dbus-send", "--bus=\(address)", "--type=signal", path, member, argument])
    }

    /// Makes a fake service send a signal with one argument.
    public func emit(
        _ service: String, _ path: String, _ interface: String, _ member: String, signature: String,
        _ value: String
    ) throws {
        // `dbus-send` cannot send an array of variants, so a Python program calls the fake service.
        let program = """
            import dbus, sys
            bus = dbus.bus.BusConnection('\(address)')
            mock = dbus.Interface(bus.get_object('\(service)', '\(path)'), 'org.freedesktop.DBus.Mock')
            mock.EmitSignal('\(interface)', '\(member)', '\(signature)', [\(value.capitalized)])
            """
        let answer = Command.run(Self.python, "-c", program)
        if answer.status != 0 { throw TestFailure("\(member) of \(service): \(answer.output)") }
    }
}

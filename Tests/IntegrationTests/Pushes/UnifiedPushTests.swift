import Foundation
import TaskHostTestSupport
import Testing

/// A real host as a connector of UnifiedPush, on a bus of its own with a small distributor.
@Suite(.system, .enabled(if: PrivateBus.mockObstacle == nil, "\(PrivateBus.mockObstacle ?? "")"))
struct UnifiedPushTests {
    /// A distributor that knows one version of the interface, gives endpoints, and sends what the test says.
    private static let distributor = """
        import dbus, dbus.service, sys
        from dbus.mainloop.glib import DBusGMainLoop
        from gi.repository import GLib

        version, address = sys.argv[1], sys.argv[2]
        DBusGMainLoop(set_as_default=True)
        bus = dbus.bus.BusConnection(address)
        DISTRIBUTOR = "org.unifiedpush.Distributor" + version
        CONNECTOR = "org.unifiedpush.Connector" + version
        tokens = {}

        def connector(token):
            return dbus.Interface(bus.get_object(tokens[token], "/org/unifiedpush/Connector", introspect=False), CONNECTOR)

        def endpoint(token):
            url = "https://push.test/" + token
            if version == "2":
                connector(token).NewEndpoint(dbus.Dictionary({"token": token, "endpoint": url}, signature="sv"))
            else:
                connector(token).NewEndpoint(token, url)

        def registered(service, token):
            tokens[token] = service
            GLib.idle_add(lambda: endpoint(token) and False)

        class Second(dbus.service.Object):
            @dbus.service.method("org.unifiedpush.Distributor2", in_signature="a{sv}", out_signature="a{sv}")
            def Register(self, values):
                registered(str(values["service"]), str(values["token"]))
                return dbus.Dictionary({"success": "REGISTRATION_SUCCEEDED"}, signature="sv")

            @dbus.service.method("org.unifiedpush.Distributor2", in_signature="a{sv}", out_signature="a{sv}")
            def Unregister(self, values):
                tokens.pop(str(values["token"]), None)
                return dbus.Dictionary({}, signature="sv")

        class First(dbus.service.Object):
            @dbus.service.method("org.unifiedpush.Distributor1", in_signature="sss", out_signature="ss")
            def Register(self, service, token, description):
                registered(str(service), str(token))
                return "REGISTRATION_SUCCEEDED", ""

            @dbus.service.method("org.unifiedpush.Distributor1", in_signature="s", out_signature="")
            def Unregister(self, token):
                tokens.pop(str(token), None)

        class Test(dbus.service.Object):
            @dbus.service.method("test.Push", in_signature="", out_signature="s")
            def Tokens(self):
                return " ".join(sorted(tokens))

            @dbus.service.method("test.Push", in_signature="sss", out_signature="")
            def Send(self, token, text, number):
                message = dbus.ByteArray(bytes.fromhex(text))
                if version == "2":
                    connector(token).Message(dbus.Dictionary({"token": token, "message": message, "id": number}, signature="sv"))
                else:
                    connector(token).Message(token, message, number)

        name = dbus.service.BusName("org.unifiedpush.Distributor.test", bus)
        (Second if version == "2" else First)(bus, "/org/unifiedpush/Distributor")
        Test(bus, "/test")
        GLib.MainLoop().run()
        """

    private final class World {
        let bus: PrivateBus
        let host: HostProcess
        private(set) var distributor: CompanionProcess?
        private let version: String

        init(version: String, services: (HostProcess) throws -> URL? = { _ in nil }) throws {
            self.version = version
            host = try HostProcess()
            bus = try PrivateBus(services: try services(host))
            try bus.start()
            host.environment["BGTASK_PUSHES_DISTRIBUTOR"] = "any"
            host.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
            try host.install(
                EndToEndTests.counting.replacingOccurrences(
                    of: "printf(\"from %ld\\n\", position);",
                    with:
                        "(void)position; printf(\"got %s\\n\", launch->payload ? (const char *)launch->payload : \"none\");"
                ),
                library: "libcounting.so", manifest: PushHost.manifest, named: "mail")
        }

        func startDistributor() throws {
            let file = bus.directory.appendingPathComponent("distributor.py")
            try UnifiedPushTests.distributor.write(to: file, atomically: true, encoding: .utf8)
            distributor = try CompanionProcess(
                ["/usr/bin/python3", file.path, version, bus.address], output: bus.log)
        }

        func stopDistributor() { distributor?.end() }

        var tokens: [String] {
            let answer = bus.call("org.unifiedpush.Distributor.test", "/test", "test.Push.Tokens")
            return answer.status == 0
                ? answer.output.split(whereSeparator: \.isWhitespace).map(String.init) : []
        }

        func send(_ text: String, id: String, token: String) -> Bool {
            let hex = text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return bus.call(
                "org.unifiedpush.Distributor.test", "/test", "test.Push.Send", "string:\(token)",
                "string:\(hex)",
                "string:\(id)"
            ).status == 0
        }

        /// What the launches for pushes wrote, oldest first.
        func heard() throws -> [String] {
            try String(contentsOf: host.logFile, encoding: .utf8).split(separator: "\n").compactMap { line in
                line.range(of: "| got ").map { String(line[$0.upperBound...]) }
            }
        }
    }

    @Test(arguments: ["1", "2"])
    func `a bundle is registered, learns its endpoint, and gets messages as pushes`(version: String) throws {
        let world = try World(version: version)
        try world.startDistributor()
        // The rate of pushes is not the subject here.
        world.host.environment["BGTASK_SCHEDULING_PUSH_SPACING"] = "0s"
        try world.host.start()
        try world.host.wait("the bundle knows its endpoint") {
            try world.heard().contains { $0.contains("https://push.test/") }
        }
        let token = try #require(world.tokens.first)
        #expect(world.tokens.count == 1)
        #expect(try world.heard() == [#"{"unifiedPush":{"endpoint":"https://push.test/\#(token)"}}"#])

        #expect(world.send(#"{"word": "hello"}"#, id: "m1", token: token))
        try world.host.wait("the message is handled") { try world.heard().count == 2 }
        #expect(try world.heard().last == #"{"word": "hello"}"#)
        #expect(
            world.send(#"{"word": "hello"}"#, id: "m1", token: token), "a repeated message is acknowledged")
        #expect(world.send("no JSON", id: "m2", token: token))
        try world.host.wait("the second message is handled") { try world.heard().count == 3 }
        #expect(try world.heard().last == #"{"message":"bm8gSlNPTg=="}"#)

        // After a restart, the token and the endpoint are the same, so the bundle hears nothing new.
        world.host.kill()
        try world.host.start()
        try world.host.wait("the host is on the bus") { world.bus.owner(of: "org.bgtask.Pushes") != nil }
        #expect(world.send(#"{"word": "again"}"#, id: "m3", token: token))
        try world.host.wait("the third message is handled") { try world.heard().count == 4 }
        #expect(world.tokens == [token])
        #expect(world.host.run("push-endpoints").output.contains("https://push.test/\(token)"))
        #expect(world.host.stop() == 0)
    }

    /// Installs the file for the session bus as a package does, with a `bgtaskd` that has the test's
    /// directories, and writes its process number to `started`.
    private static func install(for host: HostProcess, pid: URL) throws -> URL {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let programs = host.directory.appending(path: "bin")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        let program = """
            #!/bin/sh
            echo $$ >'\(pid.path)'
            export BGTASK_PUSHES_DISTRIBUTOR=any BGTASK_SCHEDULING_PUSH_SPACING=0s
            exec '\(HostProcess.products.appending(path: "bgtaskd").path)' --plugins '\(host.plugins.path)' \
                --manifests '\(host.manifests.path)' --state '\(host.state.path)' \
                --socket '\(host.socket.path)' --conditions simulated >>'\(host.logFile.path)' 2>&1
            """
        let file = programs.appending(path: "bgtaskd")
        try program.write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        let tree = host.directory.appending(path: "tree")
        let installed = Command.run(
            root.appending(path: "Packaging/install-units").path, tree.appending(path: "lib").path,
            tree.appending(path: "share").path, programs.path)
        #expect(installed.status == 0, "\(installed.output)")
        let services = tree.appending(path: "share/dbus-1/services")
        let text = try String(
            contentsOf: services.appending(path: "org.bgtask.Pushes.service"), encoding: .utf8)
        // On a desktop with systemd, the bus starts this unit instead, which the package has, too.
        #expect(text.contains("\nSystemdService=bgtaskd.service\n"))
        #expect(
            FileManager.default.fileExists(
                atPath: tree.appending(path: "lib/systemd/user/bgtaskd.service").path))
        return services
    }

    @Test func `a message starts the host if it does not run, and is not lost`() throws {
        var started = URL(filePath: "/")
        let world = try World(version: "2") { host in
            started = host.directory.appending(path: "started")
            return try Self.install(for: host, pid: started)
        }
        defer {
            if let text = try? String(contentsOf: started, encoding: .utf8),
                let number = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
            {
                Foundation.kill(number, SIGTERM)
            }
        }
        try world.startDistributor()
        world.host.environment["BGTASK_SCHEDULING_PUSH_SPACING"] = "0s"
        try world.host.start()
        try world.host.wait("the bundle knows its endpoint") { try world.heard().count == 1 }
        let token = try #require(world.tokens.first)
        #expect(world.host.stop() == 0)
        try waitUntil("the host has left the bus") { world.bus.owner(of: "org.bgtask.Pushes") == nil }
        #expect(!FileManager.default.fileExists(atPath: started.path))

        #expect(world.send(#"{"word": "awake"}"#, id: "m1", token: token))
        #expect(FileManager.default.fileExists(atPath: started.path))
        try waitUntil("the message is handled") { try world.heard().count == 2 }
        #expect(try world.heard().last == #"{"word": "awake"}"#)
    }

    @Test(arguments: ["1", "2"])
    func `a message that the host can't store is not acknowledged, and one that never fits is`(
        version: String
    ) throws {
        let world = try World(version: version)
        try world.startDistributor()
        world.host.environment["BGTASK_SCHEDULING_PUSH_SPACING"] = "0s"
        try world.host.start()
        try world.host.wait("the bundle knows its endpoint") { try world.heard().count == 1 }
        let token = try #require(world.tokens.first)
        try world.host.limitFileSizes(to: 1)
        #expect(!world.send(#"{"word": "lost"}"#, id: "m1", token: token), "no room for it")
        try world.host.limitFileSizes(to: nil)
        #expect(world.send(#"{"word": "lost"}"#, id: "m1", token: token))
        try world.host.wait("the message is handled") { try world.heard().count == 2 }
        #expect(try world.heard().last == #"{"word": "lost"}"#)
        // A distributor that sent these again would send them for ever.
        #expect(world.send(String(repeating: "x", count: 5000), id: "m3", token: token))
        #expect(world.send(#"{"aps": {"alert": "x"}}"#, id: "m4", token: token))
    }

    @Test func `a long id of a message is not stored, and is recognized`() throws {
        let world = try World(version: "2")
        try world.startDistributor()
        world.host.environment["BGTASK_SCHEDULING_PUSH_SPACING"] = "0s"
        world.host.environment["BGTASK_PUSHES_PER_MINUTE"] = "2"
        try world.host.start()
        try world.host.wait("the bundle knows its endpoint") { try world.heard().count == 1 }
        let token = try #require(world.tokens.first)
        let id = String(repeating: "m", count: 50_000)
        for _ in 1...5 { #expect(world.send(#"{"word": "one"}"#, id: id, token: token)) }
        #expect(world.send(#"{"word": "two"}"#, id: id + "2", token: token), "repeats use up no rate")
        try world.host.wait("both messages are handled") { try world.heard().count == 3 }
        world.host.kill()
        let found = Command.run("grep", "-rlF", String(id.prefix(200)), world.host.state.path)
        #expect(found.output.isEmpty, "\(found.output)")
    }

    @Test func `a flood of messages is refused, with one line in the log`() throws {
        let world = try World(version: "2")
        try world.startDistributor()
        world.host.environment["BGTASK_PUSHES_PER_MINUTE"] = "1"
        try world.host.start()
        try world.host.wait("the bundle knows its endpoint") { try world.heard().count == 1 }
        let token = try #require(world.tokens.first)
        let answers = (1...6).map { world.send(#"{"n": \#($0)}"#, id: "m\($0)", token: token) }
        #expect(answers == [true] + Array(repeating: false, count: 5))
        let lines = world.host.logTail(1000).split(separator: "\n").filter {
            $0.contains("a message of UnifiedPush") && $0.contains("was refused")
        }
        #expect(lines.count == 1, "\(lines)")
    }

    @Test func `a distributor that comes later, dies and comes back is used each time`() throws {
        let world = try World(version: "2")
        try world.host.start()
        try world.host.wait("the host is on the bus") { world.bus.owner(of: "org.bgtask.Pushes") != nil }
        try world.startDistributor()
        try world.host.wait("the bundle is registered") { !world.tokens.isEmpty }
        let tokens = world.tokens
        world.stopDistributor()
        try world.host.wait("it is gone") { world.bus.owner(of: "org.unifiedpush.Distributor.test") == nil }
        try world.startDistributor()
        try world.host.wait("the bundle is registered again") { world.tokens == tokens }
        // A bundle that is not installed any more gives its token back.
        try FileManager.default.removeItem(at: world.host.manifests.appendingPathComponent("mail.yaml"))
        try world.host.wait("the token is given back") { world.tokens.isEmpty }
    }
}

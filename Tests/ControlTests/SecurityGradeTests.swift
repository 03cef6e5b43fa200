import ControlWire
import TaskModel
import Testing

/// The grade as a function of a manifest's grants and of a machine's layers.
@Suite struct SecurityGradeTests {
    private let all = Set(SandboxLayer.allCases)

    private func grade(
        _ sandbox: SandboxDeclaration = SandboxDeclaration(), without missing: [SandboxLayer] = [],
        groupKill: GroupKill = .cgroup, user: SecurityGrade.Facts.User = .own
    ) -> SecurityGrade {
        SecurityGrade(
            .init(
                sandbox: sandbox,
                isolation: IsolationReport(
                    groupKill: groupKill, layers: [], sandbox: all.subtracting(missing)),
                user: user))
    }

    private func item(_ name: String, _ grade: SecurityGrade) throws -> SecurityGrade.Item {
        try #require(grade.items.first { $0.name == name }, "\(grade.items.map(\.name))")
    }

    @Test func `a manifest that grants nothing, on a machine that has everything, is not exposed`() {
        let grade = grade()
        #expect(grade.exposure == "0.0" && grade.word == .tight && grade.missing.isEmpty)
        #expect(grade.items.allSatisfy { $0.tenths == 0 && $0.remedy == nil && !$0.finding.isEmpty })
    }

    @Test(arguments: [
        SandboxDeclaration(network: .connect(ports: [443])), SandboxDeclaration(network: .all),
        SandboxDeclaration(read: ["~/Pictures"]), SandboxDeclaration(read: ["/etc"]),
        SandboxDeclaration(write: [WriteGrant(path: "~/Exports", create: true)]),
        SandboxDeclaration(write: [WriteGrant(path: "/", create: false)]),
        SandboxDeclaration(subprocesses: true), SandboxDeclaration(devices: ["/dev/video0"]),
        SandboxDeclaration(gpu: true), SandboxDeclaration(environment: ["TOKEN"]),
    ])
    func `every grant exposes more than none`(sandbox: SandboxDeclaration) {
        let grade = grade(sandbox)
        #expect(grade.tenths > 0)
        #expect(grade.items.filter { $0.tenths > 0 }.count == 1)
        #expect(grade.missing.isEmpty)
    }

    @Test func `a grant of the port of name servers says that it also permits UDP`() throws {
        let names = grade(SandboxDeclaration(network: .connect(ports: [53, 443])))
        #expect(
            try item("network", names).finding
                == "Tasks may connect to TCP ports 53, 443, and use UDP with any port")
        let web = grade(SandboxDeclaration(network: .connect(ports: [443])))
        #expect(try item("network", web).finding == "Tasks may connect to TCP port 443")
    }

    @Test func `narrow grants expose less than wide ones`() {
        #expect(
            grade(SandboxDeclaration(network: .connect(ports: [443]))).tenths
                < grade(SandboxDeclaration(network: .all)).tenths)
        let narrow = (1...10).map { "/srv/data/\($0)" }
        #expect(
            grade(SandboxDeclaration(read: narrow)).tenths < grade(SandboxDeclaration(read: ["/"])).tenths + 1
        )
        #expect(
            grade(SandboxDeclaration(read: ["/etc"])).tenths
                < grade(SandboxDeclaration(write: [WriteGrant(path: "/etc", create: false)])).tenths)
        #expect(
            grade(SandboxDeclaration(read: ["/srv/a"])).tenths
                < grade(SandboxDeclaration(read: ["/srv/${payload.name}"])).tenths)
        #expect(
            grade(SandboxDeclaration(read: ["/srv/${payload.name}"])).tenths
                < grade(SandboxDeclaration(read: ["${payload.path}"])).tenths)
    }

    // The user has an item of its own, because it also depends on the user of the host.
    @Test(arguments: SandboxLayer.allCases.filter { $0 != .user })
    func `every layer that is missing exposes more, and says what is lost and how to get it`(
        layer: SandboxLayer
    ) throws {
        // The layers of ports and scopes matter only with these grants.
        let ports = SandboxDeclaration(network: .connect(ports: [443]), subprocesses: true)
        let sandbox = layer == .networkNamespace ? SandboxDeclaration() : ports
        let (with, without) = (grade(sandbox), grade(sandbox, without: [layer]))
        #expect(without.tenths > with.tenths)
        let item = try item(layer.rawValue, without)
        #expect(item.finding.hasPrefix("This machine lacks it: ") && item.remedy == layer.remedy)
        #expect(without.missing == (sandbox.neededLayers.contains(layer) ? [layer] : []))
    }

    @Test func `a layer that a manifest does not count on weighs little`() throws {
        let plain = try item("landlockScopes", grade(without: [.landlockScopes])).tenths
        let counted = try item(
            "landlockScopes", grade(SandboxDeclaration(subprocesses: true), without: [.landlockScopes])
        ).tenths
        #expect(plain < counted)
    }

    @Test func `without any layer, nothing holds`() {
        let sandbox = SandboxDeclaration(
            network: .all, write: [WriteGrant(path: "/", create: false)], subprocesses: true)
        let grade = grade(sandbox, without: SandboxLayer.allCases, groupKill: .noFork, user: .root)
        #expect(grade.exposure == "10.0" && grade.word == .open)
    }

    @Test func `root exposes more than another user, and more if it keeps its capabilities`() {
        let own = grade(user: .own).tenths, host = grade(user: .hosts).tenths
        let root = grade(user: .root).tenths
        #expect(own < host && host < root)
        #expect(grade(without: [.capabilities], user: .root).tenths > root + 15)
    }

    @Test func `the words change at their limits`() {
        let words = SecurityGrade.Word.allCases
        #expect(words == [.tight, .moderate, .exposed, .open])
        #expect(grade(SandboxDeclaration(network: .all)).word == .tight)
        #expect(grade(SandboxDeclaration(network: .all, read: ["/srv/a"])).word == .moderate)
        #expect(grade(without: [.landlock, .namespaces], user: .hosts).word == .moderate)
        #expect(grade(without: [.landlock, .namespaces, .networkNamespace], user: .hosts).word == .exposed)
    }

    @Test func `a launch is refused where a layer is missing, unless the host takes the best there is`()
        throws
    {
        let best = IsolationReport(
            groupKill: .cgroup, layers: [], sandbox: all.subtracting([.landlock, .namespaces]))
        let sandbox = SandboxDeclaration()
        let refusal = try #require(sandbox.refusal(by: best, isRequired: true))
        #expect(refusal.finding == "the manifest counts on isolation that this machine lacks: landlock")
        #expect(refusal.remedy.hasSuffix("configure isolation: {require: best}"))
        #expect(sandbox.refusal(by: best, isRequired: false) == nil)
        #expect(
            sandbox.refusal(
                by: IsolationReport(groupKill: .noFork, layers: [], sandbox: all), isRequired: true) == nil)
    }

    @Test func `a grant of the host's own files weighs most, and stands once in the reasons`() {
        let path = "/srv/manifests"
        var facts = SecurityGrade.Facts(
            sandbox: SandboxDeclaration(write: [WriteGrant(path: path, create: false)]),
            isolation: IsolationReport(groupKill: .cgroup, layers: [], sandbox: Set(SandboxLayer.allCases)),
            user: .own)
        let plain = SecurityGrade(facts).tenths
        facts.hostGrants = [HostGrant(path: path, isWrite: true, opens: "the host's manifests, \(path)")]
        let grade = SecurityGrade(facts)
        #expect(grade.tenths > plain + 30)
        let items = grade.items.filter { $0.name.hasPrefix("write") }
        #expect(items.map(\.name) == ["write \(path)"])
        #expect(items.first?.finding.contains("control the host") == true)
    }
}

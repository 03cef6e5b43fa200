import Foundation
import HostSettings
import Scheduling
import TaskModel
import Testing

/// The layers of the configuration, and the handling of invalid files.
@Suite struct LayerTests {
    let folder: Folder

    init() throws { folder = try Folder() }

    static let vendor = "usr/share/bgtask/bgtaskd.yaml"
    static let administrator = "etc/bgtask/bgtaskd.yaml"

    func files(
        file: String? = nil, environment: [String: String] = [:],
        options: [(option: String, key: String, value: String?)] = []
    ) throws -> SettingsFiles {
        try SettingsFiles(
            SettingsSources(root: folder.path, file: file, environment: environment, options: options),
            paths: .root)
    }

    func row(_ key: String, of files: SettingsFiles) throws -> ConfiguredValue {
        try #require(files.latest.values.first { $0.key == key })
    }

    @Test func `each layer stands above the one before, and all of them are named`() throws {
        let key = "scheduling.urgentSlots"
        func write(_ name: String, _ number: Int) throws -> String {
            try folder.write(name, "scheduling:\n  urgentSlots: \(number)\n")
        }
        var expected = [ConfiguredValue.Origin(value: "2", source: "standard")]
        #expect(try row(key, of: files()).inForce == expected[0])
        for (index, name) in [
            Self.vendor, Self.administrator, "etc/bgtask/conf.d/10-a.yaml", "etc/bgtask/conf.d/9-b.yaml",
        ].enumerated() {
            let path = try write(name, 10 + index)
            expected.insert(.init(value: "\(10 + index)", source: "\(path):2"), at: 0)
            #expect(try row(key, of: files()).inForce == expected[0])
        }
        let named = try write("named.yaml", 20)
        expected.insert(.init(value: "20", source: "\(named):2"), at: 0)
        #expect(try row(key, of: files(file: named)).inForce == expected[0])
        let environment = ["BGTASK_SCHEDULING_URGENT_SLOTS": "21"]
        expected.insert(
            .init(value: "21", source: "environment BGTASK_SCHEDULING_URGENT_SLOTS"), at: 0)
        #expect(try row(key, of: files(file: named, environment: environment)).inForce == expected[0])
        expected.insert(.init(value: "22", source: "option --urgent"), at: 0)
        let all = try files(file: named, environment: environment, options: [("urgent", key, "22")])
        let found = try row(key, of: all)
        #expect([found.inForce] + found.overridden == expected)
        #expect(all.latest.effective.scheduler.urgentSlots == 22)
        #expect(all.latest.problems.isEmpty)
    }

    @Test(arguments: [
        ("control.sock", "/control.sock"), ("./control.sock", "/control.sock"), ("a/../b", "/a/../b"),
        (".", ""),
    ])
    func `a path of an option begins at the current directory`(text: String, tail: String) throws {
        let files = try files(options: [("socket", "paths.socket", text)])
        #expect(files.latest.problems.isEmpty)
        #expect(
            files.latest.effective.paths.socket == FileManager.default.currentDirectoryPath + tail)
    }

    @Test func `every key takes its value from a file, the environment, and gives it back as it is written`()
        throws
    {
        for documented in SettingTable.documented(paths: .root) {
            let key = documented.key
            guard let other = Self.other(than: documented.standard, key.kind) else { continue }
            let inner = key.path.reversed().reduce(other) { "{\($1): \($0)}" }
            try folder.write(Self.administrator, inner)
            let fromFile = try files()
            let wrong = fromFile.latest.problems.filter { $0.severity == .error }
            #expect(wrong.isEmpty, "\(key.name) \(wrong)")
            #expect(try row(key.name, of: fromFile).inForce.value == other)
            try folder.remove(Self.administrator)
            let fromEnvironment = try files(environment: [documented.variable: other])
            #expect(try row(key.name, of: fromEnvironment).inForce.value == other)
            // The two results are equal and differ from the standard, so both texts set the same value.
            #expect(fromEnvironment.latest.effective == fromFile.latest.effective)
            #expect(fromFile.latest.effective != EffectiveSettings(paths: .root), "\(key.name)")
        }
    }

    /// A valid value that differs from the standard one.
    static func other(than standard: String, _ kind: SettingKind) -> String? {
        switch kind {
        case .duration(let range):
            [range.lowerBound, range.upperBound].map(DurationText.format).first { $0 != standard }
        case .integer(let range):
            [range.lowerBound, range.upperBound].map(String.init).first { $0 != standard }
        case .decimal: standard == "0.125" ? "0.5" : "0.125"
        case .bool: standard == "true" ? "false" : "true"
        case .word(let words): words.first { $0 != standard && $0 != "restricted" }
        case .path: "/elsewhere"
        case .distributor: "any"
        case .address: "127.0.0.1:8765"
        case .group: "adm"
        case .users: "60600-60999"
        case .size: "2MiB"
        case .publicKeys: "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
        }
    }

    @Test func `a file that requires signatures and has an error stops the start of the host`() throws {
        try folder.write(Self.administrator, "scheduling: {urgentSlot: 5}\ntrust: {keys: []}")
        #expect {
            try files()
        } throws: { error in
            (error as? SettingsError)?.problems.first?.finding.contains("'urgentSlot'") == true
        }
        try folder.write(Self.administrator, "scheduling: {urgentSlot: 5}")
        #expect(try files().latest.files.first { $0.path.hasSuffix(Self.administrator) }?.state == .leftOut)
    }

    @Test func `a file that turns wrong keeps what it said, one that never was right is left out`() throws {
        try folder.write(Self.administrator, "scheduling: {urgentSlots: 5, continuedSlots: 6}")
        try folder.write("etc/bgtask/conf.d/bad.yaml", "scheduling: {urgentSlots: 7, continuedSlot: 8}")
        let files = try files()
        #expect(files.latest.effective.scheduler.urgentSlots == 5)
        #expect(files.latest.files.map(\.state) == [.missing, .inForce, .leftOut])
        #expect(files.latest.problems.count == 1)

        try folder.write(Self.administrator, "scheduling: {urgentSlots: 9, continuedSlots: -6}")
        #expect(files.reread())
        #expect(files.latest.effective.scheduler.urgentSlots == 5)
        #expect(files.latest.effective.scheduler.continuedSlots == 6)
        #expect(files.latest.files.map(\.state) == [.missing, .lastRightVersion, .leftOut])

        try folder.write(Self.administrator, "scheduling: {urgentSlots: 9}")
        #expect(files.reread())
        #expect(files.latest.effective.scheduler.urgentSlots == 9)
        #expect(files.latest.effective.scheduler.continuedSlots == 3)
        #expect(!files.reread())

        try folder.remove(Self.administrator)
        #expect(files.reread())
        #expect(files.latest.effective.scheduler.urgentSlots == 2)
    }

    @Test func `what was named expressly must be right`() throws {
        let bad = try folder.write("bad.yaml", "refresh: off")
        #expect(throws: SettingsError.self) { try files(file: bad) }
        #expect(throws: SettingsError.self) { try files(file: folder.path + "/missing.yaml") }
        #expect(throws: SettingsError.self) { try files(environment: ["BGTASK_REFRESH": "off"]) }
    }

    @Test func `only files of the vendor and the administrator restrict`() throws {
        let text = "refresh: restricted\nbundles: {com.example.feed: {refresh: restricted}}"
        let named = try folder.write("named.yaml", text)
        let error = try #require(throws: SettingsError.self) { try files(file: named) }
        #expect(error.problems.map(\.line) == [1, 2])
        #expect(throws: SettingsError.self) { try files(environment: ["BGTASK_REFRESH": "restricted"]) }
        for place in [Self.vendor, Self.administrator, "etc/bgtask/conf.d/a.yaml"] {
            try folder.write(place, text)
            let settings = try files().latest.effective.scheduler
            #expect(settings.refresh == .restricted)
            #expect(settings.bundleRefresh == [try BundleIdentifier("com.example.feed"): .restricted])
            try folder.remove(place)
        }
    }

    @Test func `an unknown variable is a warning with the nearest name; the client's is none`() throws {
        let problems = try files(environment: [
            "BGTASK_SCHEDULING_URGENT_SLOT": "1", "BGTASK_SOCKET": "/run/x", "PATH": "/bin",
        ]).latest.problems
        #expect(
            problems.map(\.description) == [
                "environment BGTASK_SCHEDULING_URGENT_SLOT: warning: no setting has this name. Did you mean 'BGTASK_SCHEDULING_URGENT_SLOTS'?"
            ])
    }

    @Test func `numbers that make no sense together are told`() throws {
        try folder.write(Self.administrator, "scheduling: {batteryEndPercent: 30, stallQuestion: 2m}")
        #expect(try files().latest.problems.map(\.severity) == [.warning, .warning])
    }

    @Test func `a recording has a size only while it is enabled`() throws {
        #expect(try files().latest.effective.recordingSize == 64 << 20)
        try folder.write(Self.administrator, "recording: {size: 2MiB}")
        #expect(try files().latest.effective.recordingSize == 2 << 20)
        try folder.write(Self.administrator, "recording: {enabled: false, size: 2MiB}")
        #expect(try files().latest.effective.recordingSize == nil)
    }

    @Test func `isolation has a value of its own, and is a section too`() throws {
        try folder.write(Self.administrator, "isolation: cgroup\n")
        try folder.write("etc/bgtask/conf.d/1.yaml", "isolation: {require: best, users: 60600-60999}\n")
        try folder.write(
            "etc/bgtask/conf.d/2.yaml",
            "control: {read: adm, submit: '4711'}\nbundles: {com.example.a: {submit: users}}\n")
        let latest = try files().latest
        #expect(latest.problems.isEmpty, "\(latest.problems)")
        #expect(latest.effective.isolation == .cgroup)
        #expect(latest.effective.isolationRequirement == .best)
        #expect(latest.effective.bundleUsers == 60_600...60_999)
        try folder.write("etc/bgtask/conf.d/3.yaml", "isolation: {users: none}\n")
        #expect(try files().latest.effective.bundleUsers == nil)
        #expect(latest.effective.readers == "adm" && latest.effective.submitters == "4711")
        #expect(latest.effective.bundleSubmitters == [try BundleIdentifier("com.example.a"): "users"])
    }

    @Test(arguments: [
        ("isolation: {needs: full}", "unknown key 'needs' in isolation"),
        ("isolation: {require: most}", "isolation.require 'most' is unknown"),
        ("isolation: {users: 60600}", "isolation.users '60600': not a range of users"),
        ("isolation: {users: 60999-60600}", "isolation.users '60999-60600': not a range of users"),
        (
            "isolation: {users: 0-60600}",
            "isolation.users '0-60600': the range contains numbers that are not for bundles"
        ),
        ("isolation: {users: 65000-66000}", "the range contains numbers that are not for bundles"),
        ("control: {read: 'a b'}", "control.read must be the name of a group, found 'a b'"),
    ])
    func `what is wrong in the sections of isolation and control is named`(text: String, finding: String)
        throws
    {
        try folder.write(Self.administrator, text + "\n")
        let problem = try #require(try files().latest.problems.first)
        #expect(problem.finding.contains(finding), "\(problem)")
    }
}

import Calendars
import Foundation
import TaskModel
import Testing

@Suite struct ZoneTests {
    static let root = "/usr/share/zoneinfo"

    static func machine(local: String = "/nonexistent", variable: String? = nil) -> ZoneDatabase {
        ZoneDatabase(directory: root, localPath: local, variable: variable)
    }

    @Test func `a zone that is unknown, or a path, is refused`() {
        for name in ["Europe/Berln", "../../etc/passwd", "/etc/localtime", "tzdata.zi", "Europe", "", "a b"] {
            #expect(throws: ZoneError.self, "\(name)") { try Self.machine().zone(named: name) }
        }
    }

    @Test func `without a database UTC works, and any other zone is told what to install`() throws {
        let empty = ZoneDatabase(directory: "/nonexistent", localPath: "/nonexistent", variable: nil)
        #expect(try empty.zone(named: "UTC") == .utc)
        #expect(try empty.zone(named: nil) == .utc)
        #expect(empty.names == [])
        do {
            _ = try empty.zone(named: "Europe/Berlin")
            Issue.record("a zone without a database")
        } catch {
            #expect(error.remedy.contains("tzdata"))
            #expect(!error.isUnknownName)
        }
    }

    @Test(arguments: [
        ("Europe/Berlin", "CET (+01:00)"), (":America/New_York", "EST (-05:00)"), ("", "UTC (+00:00)"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "CET (+01:00)"), ("<+0330>-3:30", "+03:30"),
        ("/usr/share/zoneinfo/Asia/Tokyo", "JST (+09:00)"), ("no zone", "UTC (+00:00)"),
        ("EST5EDT,0/0,J365/25", "EDT (-04:00)"),
    ])
    func `the variable TZ decides the machine's zone`(variable: String, zone: String) throws {
        let rules = try Self.machine(variable: variable).zone(named: nil)
        #expect(rules.text(of: Dates.utc("2026-12-01T12:00")).hasSuffix(" " + zone))
    }

    @Test func `the machine's link is read at each call`() throws {
        let link = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: link) }
        let database = Self.machine(local: link)
        #expect(try database.zone(named: nil) == .utc)
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: Self.root + "/Europe/Berlin")
        #expect(try database.zone(named: nil).name == "Europe/Berlin")
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: Self.root + "/Asia/Tokyo")
        #expect(try database.zone(named: nil).name == "Asia/Tokyo")
    }

    @Test func `a damaged file is an error at every length, never a crash`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let whole = try Data(contentsOf: URL(fileURLWithPath: Self.root + "/Europe/Berlin"))
        let database = ZoneDatabase(directory: folder.path, localPath: "/nonexistent", variable: nil)
        var random = SplitMix(seed: 5)
        for round in 0..<600 {
            var bytes = whole
            if round.isMultiple(of: 2) {
                bytes = whole.prefix(random.below(whole.count))
            } else {
                for _ in 0..<4 { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            }
            try bytes.write(to: folder.appendingPathComponent("Broken"))
            if let rules = try? database.zone(named: "Broken") {
                // A damaged file that can still be read as a zone must give dates without a crash.
                _ = try CalendarExpression("02:00").next(after: Dates.utc("2026-01-01T00:00"), in: rules)
            }
        }
    }

    @Test func `every zone of the database agrees with Foundation on today's offset`() throws {
        let database = Self.machine()
        #expect(database.names.count > 300)
        for name in database.names {
            let rules = try database.zone(named: name)
            guard let zone = TimeZone(identifier: name) else { continue }
            for year in [2001, 2010, 2020] {
                let time = Dates.utc("\(year)-07-01T12:00")
                let seconds = zone.secondsFromGMT(
                    for: Date(timeIntervalSince1970: Double(time.milliseconds) / 1000))
                #expect(rules.offset(at: time) == .seconds(seconds), "\(name) \(year)")
            }
        }
    }
}

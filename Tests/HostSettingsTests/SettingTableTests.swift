import Foundation
import HostSettings
import Scheduling
import TaskModel
import Testing

/// The table of all settings.
@Suite struct SettingTableTests {
    @Test func `every number of the scheduler can be configured`() throws {
        let data = try JSONEncoder().encode(SchedulerSettings())
        let fields = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        let weights = try #require(fields["weights"] as? [String: Any])
        let scores = try #require(fields["scores"] as? [String: Any])
        let others = ["weights", "scores", "refresh", "bundleRefresh", "bundleWeights"]
        var wanted = fields.keys.filter { !others.contains($0) }.map { "scheduling.\($0)" }
        wanted += weights.keys.map { "scheduling.weights.\($0)" }
        wanted += scores.keys.map { "scheduling.scores.\($0)" }
        let names = SettingTable.keys.map(\.name)
        #expect(Set(names.filter { $0.hasPrefix("scheduling.") }) == Set(wanted))
        #expect(Set(names).count == names.count)
        #expect(names.contains("refresh"))
    }
}

/// The documentation of the settings.
@Suite struct ConfigurationDocumentTests {
    @Test func `the documentation has the table as the code has it`() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Documentation/Configuration.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(
            text.contains(SettingTable.markdown),
            "Put this into Documentation/Configuration.md:\n\(SettingTable.markdown)")
    }
}

import HandlerRegistry
import HostSettings
import Scheduling
import TaskModel
import Testing

@testable import HostCore

/// The recorded conditions from before the host's start; the host reads them while it already serves.
@Suite struct HistoryTests {
    private func moment(_ seconds: Int64) -> Moment {
        Moment(
            boot: .seconds(seconds), monotonic: .seconds(seconds),
            wall: WallTime(milliseconds: 1_700_000_000_000 + seconds * 1000))
    }

    @Test func `a history that comes late goes before what the host has seen since`() {
        let settings = EffectiveSettings(
            paths: HostPaths(plugins: "/p", manifests: "/m", state: "/s", socket: "/s/c"))
        var core = HostCore()
        var warm = Conditions.simulatedStart
        warm.thermal = .known(.serious)
        _ = core.handle(
            .begin(
                HostBeginning(
                    surroundings: HostSurroundings(
                        manifestsDirectory: "/m", stateDirectory: "/s", taskEnvironment: []
                    ),
                    settings: SettingsSnapshot(effective: settings),
                    registered: RegistrySnapshot(handlers: [], problems: []), conditions: .simulatedStart)),
            at: moment(100))
        _ = core.handle(.conditions(warm), at: moment(110))
        var past = ConditionHistory()
        past.note(warm, at: moment(10).wall)
        past.note(nil, at: moment(50).wall)
        _ = core.handle(.history(past), at: moment(120))
        #expect(core.history.entries.map(\.at) == [10, 50, 100, 110].map { moment($0).wall })
        #expect(core.history.entries.map(\.conditions) == [warm, nil, .simulatedStart, warm])
        _ = core.handle(.conditions(.simulatedStart), at: moment(130))
        #expect(core.history.entries.last?.at == moment(130).wall)
    }
}

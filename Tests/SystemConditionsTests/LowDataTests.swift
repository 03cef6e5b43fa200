import LinuxSystem
import TaskModel
import Testing

@testable import SystemConditions

/// Which networks the sensors report as being in low-data mode, for each value of the setting.
struct LowDataTests {
    /// What NetworkManager's source reports for a value of its property `Metered`.
    private func report(_ mode: LowDataMode, metered: Int64) -> NetworkCondition? {
        let answer = NetworkManagerSource(lowData: mode).answer(
            [
                NetworkManagerSource.manager: [
                    "State": .integer(70), "Connectivity": .integer(4), "Metered": .integer(metered),
                ]
            ], at: Moment(boot: .zero, monotonic: .zero, wall: WallTime(milliseconds: 0)))
        guard case .value(.network(let network)) = answer else { return nil }
        return network
    }

    @Test func `only the setting makes a network constrained`() {
        // Unknown, metered, unmetered, probably metered, probably unmetered.
        let expected: [LowDataMode: [NetworkCondition]] = [
            .never: [.unmetered, .metered, .unmetered, .metered, .unmetered],
            .guessed: [.unmetered, .metered, .unmetered, .constrained, .unmetered],
            .metered: [.unmetered, .constrained, .unmetered, .constrained, .unmetered],
            .always: Array(repeating: .constrained, count: 5),
        ]
        for mode in LowDataMode.allCases {
            #expect((0...4).compactMap { report(mode, metered: $0) } == expected[mode], "\(mode)")
        }
    }

    @Test func `no network stays none in every mode`() {
        for mode in LowDataMode.allCases {
            #expect(mode.condition(of: NetworkCondition.none, isGuess: true) == NetworkCondition.none)
        }
    }

    @Test func `a kernel's route stands in for NetworkManager only if its cost does not matter`() {
        let sensor = RouteSensor(lowData: .always)
        #expect(sensor.mayStandIn(with: .network(.none)))
        #expect(sensor.mayStandIn(with: .network(.constrained)))
        #expect(!sensor.mayStandIn(with: .network(.unmetered)))
    }
}

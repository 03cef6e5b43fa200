import LinuxSystem
import TaskModel
import Testing

@testable import Launching

/// A debug build stops when state that is confined to an event loop is used on another thread.
@Suite struct ConfinementTests {
    @Test func `the state of launches is not for another thread`() async {
        await #expect(processExitsWith: .failure) {
            let host = HostLoop()
            let core = LauncherCore(
                loop: host.loop, moments: SystemClocks(), isolation: .noFork, groups: nil, sandbox: [],
                templateIdleTime: .zero, maximumTemplates: 100, answerTime: .seconds(15), onEvent: { _ in })
            _ = core.find(LaunchID(rawValue: 1))
        }
    }

    @Test func `a control pipe is not for another thread`() async {
        await #expect(processExitsWith: .failure) {
            let host = HostLoop()
            ControlPipe(on: host.loop).send([1])
        }
    }

    @Test func `both are there on the loop`() async {
        let host = HostLoop()
        let isEmpty = await withCheckedContinuation { answer in
            host.execute {
                let core = LauncherCore(
                    loop: host.loop, moments: SystemClocks(), isolation: .noFork, groups: nil, sandbox: [],
                    templateIdleTime: .zero, maximumTemplates: 100, answerTime: .seconds(15),
                    onEvent: { _ in })
                let pipe = ControlPipe(on: host.loop)
                pipe.send([1])
                answer.resume(returning: core.find(LaunchID(rawValue: 1)) == nil && pipe.first(4) == [1])
            }
        }
        #expect(isEmpty)
    }
}

import LinuxSystem
import NIOCore
import TaskModel

/// Launches by `bgtask launch --debug`, which stop before their handler and wait for a debugger.
extension LauncherCore {
    /// Pauses the deadlines and the CPU limit of a launch, and examines its processes once a second until it
    /// ends.
    func beginHold(_ launch: RunningLaunch) {
        guard launch.order.isDebugged, launch.hold == nil else { return }
        launch.hold = DebugHold()
        tell(.tracingChanged(launch.id, isTraced: true))
        scheduleLookAtDebugger(launch)
    }

    private func scheduleLookAtDebugger(_ launch: RunningLaunch) {
        launch.debugTimer = after(DebugHold.interval) { [self] in lookAtDebugger(launch) }
    }

    private func lookAtDebugger(_ launch: RunningLaunch) {
        guard var hold = launch.hold else { return }
        let before = hold
        hold.look(ProcessTracing(of: launch.processes))
        launch.hold = hold
        if hold.isTraced != before.isTraced {
            if hold.isTraced { launch.lifeTimer.pause(at: moments.now()) } else { startLifeTimer(launch) }
        }
        if hold.isHeld != before.isHeld {
            tell(.tracingChanged(launch.id, isTraced: hold.isHeld))
            putLimitIntoForce(launch)
        }
        scheduleLookAtDebugger(launch)
    }
}

import TaskModel

extension LaunchEnd {
    /// Adds the fault that the task reported before it ended itself.
    ///
    /// The fault becomes the message of a crash. If the task had completed, the fault is only added to the
    /// report. If the host killed the task, the fault follows the reason in the message.
    mutating func add(_ fault: LaunchFault) {
        code = code ?? fault.code
        if completion != nil {
            report = fault.lines.joined(separator: "\n")
            return
        }
        let isItsOwn = reason == .signal || reason == .exitedWithoutCompleting
        message = [isItsOwn ? nil : message, fault.summary].compactMap(\.self).joined(separator: "; ")
        if !fault.details.isEmpty { report = fault.details.joined(separator: "\n") }
    }

    /// The end of a launch whose handler could not be started.
    ///
    /// - Parameters:
    ///   - finding: What failed.
    ///   - isShortage: Whether the host lacked descriptors, processes, memory or space, so that the launch
    ///     can be tried again.
    /// - Returns: The end: `lost` with a shortage, and otherwise `failed`.
    static func unstarted(_ finding: String, isShortage: Bool) -> LaunchEnd {
        LaunchEnd(
            outcome: isShortage ? .lost : .failed, reason: isShortage ? .shortage : .loadFailed,
            message: finding)
    }

    /// The end of a launch whose library did not load in time.
    static var tooSlowToLoad: LaunchEnd {
        LaunchEnd(
            outcome: .failed, reason: .loadFailed,
            message: "the plugin did not load within \(LaunchLife.loadDeadline.shortText)")
    }

    /// The end of a launch whose library could not be loaded, or crashed while it was loaded.
    static func failedLoad(_ finding: String, _ status: ExitStatus?) -> LaunchEnd {
        guard let signal = status?.signal else {
            var end = LaunchEnd(outcome: .failed, reason: .loadFailed, message: finding)
            end.exitStatus = status?.code
            return end
        }
        var end = LaunchEnd(
            outcome: .crashed, reason: .signal,
            message: "\(ExitStatus.name(ofSignal: signal)) while the plugin was loaded")
        end.signal = signal
        end.phase = .load
        return end
    }
}

extension Duration {
    /// Seconds with one decimal, rounded: `48.0`.
    var tenthsText: String {
        let tenths = (wholeMilliseconds + 50) / 100
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Seconds with at most one decimal, rounded down: `5 s`, `0.5 s`.
    var shortText: String {
        let tenths = wholeMilliseconds / 100
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}

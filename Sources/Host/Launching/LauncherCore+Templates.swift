import LinuxSystem
import NIOCore
import RunnerWire
import TaskModel

/// A template that is being killed while it loads its library.
struct OverdueTemplate {
    /// The launches that wait for it.
    let launches: [RunningLaunch]
    /// How they end, when it is dead.
    let event: LaunchLife.Event
}

/// Starts a template when the first launch needs it, and retires it later.
extension LauncherCore {
    func prepare(_ launch: RunningLaunch) {
        // A template sees the mounts of its start. Where mounts do not spread to other namespaces, as without
        // systemd, a launch would write below the place of a disk that was mounted later.
        if mounts.hasChanged() { retire(nil) }
        let key = TemplateKey(launch.order)
        switch book.request(key, for: launch.id) {
        case .ready(let id):
            launch.template = id
            handle(.templateReady, launch)
        case .wait(let id):
            launch.template = id
        case .start(let id):
            launch.template = id
            retireSurplus()
            // The launch waits until its template has loaded or failed.
            startTemplate(id, launch.order)
        }
    }

    func startTemplate(_ id: UInt64, _ order: LaunchOrder) {
        var message = TemplateMessage(
            template: id, library: order.libraryPath, directory: order.place.dataDirectory,
            isolation: isolation)
        message.executable = order.place.executable
        message.environment = order.templateEnvironment
        message.niceness = order.priority.nice == 0 ? nil : Int64(order.priority.nice)
        message.isBatch = order.priority.isBatch
        message.isIdleIO = order.priority.ioClass == .idle
        // RLIMIT_CORE, RLIMIT_NOFILE and RLIMIT_SIGPENDING: each queued signal and timer is memory of the
        // kernel.
        message.limits = [
            .init(resource: 4, soft: 0, hard: 0), .init(resource: 7, soft: 1024, hard: 4096),
            .init(resource: 11, soft: 4096, hard: 4096),
        ]
        confine(&message, order)
        if let limit = limitOfProcesses(for: message.user) {
            message.limits.append(.init(resource: 6, soft: limit, hard: limit))
        }
        templateCopies[id] = order.copies
        do {
            if let group = try groups?.makeForTemplate(for: order.place.user) {
                templateGroups[id] = group
                message.cgroup = group.path
                limitMemory(ofTemplate: id, group)
            }
            try send(message)
        } catch {
            templateFailed(
                id, "the process that loads its plugin can't be started: \(error)", nil,
                isShortage: (error as? SystemCallError)?.isShortage ?? false)
            return
        }
        templateTimers[id] = after(LaunchLife.loadDeadline) { [self] in
            templateTimers[id] = nil
            killTemplate(id, because: .loadDeadlinePassed)
        }
    }

    /// Kills a template that is still loading its library; its launches end with the event.
    ///
    /// The launches fail when the launcher has killed the template. If it does not answer, it is the launcher
    /// that hangs, and they are lost with it, so that they are tried again.
    func killTemplate(_ id: UInt64, because event: LaunchLife.Event) {
        try? send(KillTemplateMessage(template: id))
        overdueTemplates[id] = OverdueTemplate(launches: removeTemplate(id), event: event)
        awaitAnswer(.template(id))
    }

    /// The value of RLIMIT_NPROC, which counts the processes of a user in a user namespace.
    ///
    /// It is `nil` where it would count others, too, or where launches run as root, for which it does not
    /// hold.
    func limitOfProcesses(for user: UInt32?) -> UInt64? {
        if user != nil { return processLimit }
        guard !runsAsRoot, sandbox.contains(.namespaces) else { return nil }
        // Launches without a cgroup are not cloned, so each has a user namespace of its own.
        return groups == nil ? min(processLimit, UInt64(GroupPool.processLimit)) : processLimit
    }

    /// Adds the sandbox to the settings of a template.
    private func confine(_ message: inout TemplateMessage, _ order: LaunchOrder) {
        let declaration = order.handler.manifest.sandbox
        message.sandbox = sandbox
        if message.sandbox.contains(.landlockPorts), declaration.network == nil || declaration.network == .all
        {
            message.sandbox.remove(.landlockPorts)
        }
        message.user = order.place.user
        if message.user == nil { message.sandbox.remove(.user) }
        message.network = declaration.network
        message.subprocesses = declaration.subprocesses
        message.withoutSharedMemory = groups?.countsMemory != true
        message.observation = reportsCalls ? order.observation : nil
        message.read = order.place.grants.read + runPaths.paths(for: order)
        message.write =
            [order.place.dataDirectory, order.place.temporaryParent ?? order.place.temporaryDirectory]
            + order.place.grants.write
        message.devices = declaration.devices
        if declaration.gpu == true {
            message.devices += GraphicsNodes.present()
            message.read += GraphicsNodes.descriptions
        }
    }

    func waiting(_ ids: [LaunchID]) -> [RunningLaunch] { ids.compactMap(find) }

    /// Ends the launches of a template that was killed while it loaded; returns whether it was such a
    /// template.
    private func failOverdue(_ id: UInt64) -> Bool {
        guard let overdue = overdueTemplates.removeValue(forKey: id) else { return false }
        answers.answered(.template(id))
        for launch in overdue.launches { handle(overdue.event, launch) }
        return true
    }

    func templateReady(_ id: UInt64, _ isCloneable: Bool) {
        if failOverdue(id) { return }
        templateTimers.removeValue(forKey: id)?.cancel()
        templateProcesses[id] = nil
        templateUsed(id)
        for launch in waiting(book.ready(id, isCloneable: isCloneable)) { handle(.templateReady, launch) }
    }

    func templateFailed(
        _ id: UInt64, _ finding: String, _ status: ExitStatus?, isShortage: Bool = false
    ) {
        if failOverdue(id) { return }
        templateTimers.removeValue(forKey: id)?.cancel()
        let text = memoryFinding(ofTemplate: id) ?? OutputLines.harmless(finding)
        if let template = book.templates[id], template.isReady {
            tell(.templateEnded(template.key.bundle, message: text))
        }
        for launch in removeTemplate(id) {
            handle(.templateFailed(finding: text, status: status, isShortage: isShortage), launch)
        }
    }

    /// Removes a template; returns the launches that waited for it.
    func removeTemplate(_ id: UInt64) -> [RunningLaunch] {
        templateUses[id] = nil
        templateCopies[id] = nil
        templateProcesses[id] = nil
        idleTimers.removeValue(forKey: id)?.cancel()
        if let group = templateGroups.removeValue(forKey: id) { groups?.discard(group) }
        let left = waiting(book.remove(id))
        removeStandby(of: id)
        return left
    }

    /// Ends the loaded templates of one bundle, or of all with `nil`; their running tasks continue.
    func retire(_ bundle: BundleIdentifier?) {
        loop.assertInEventLoop()
        for id in book.ready(of: bundle) { retireTemplate(id) }
    }

    func retireTemplate(_ id: UInt64) {
        try? send(RetireMessage(template: id))
        // Only loaded templates are retired, so the launches here waited for a standby.
        for launch in removeTemplate(id) {
            handle(.spawnFailed(finding: "the process that holds its plugin is being replaced"), launch)
        }
    }

    // MARK: Too many templates

    /// Retires the loaded template that was not used for longest, if there are more than
    /// ``maximumTemplates``.
    ///
    /// Each template costs the launcher up to five descriptors for as long as it is kept. A template that is
    /// still loading is never retired.
    private func retireSurplus() {
        guard book.templates.count > maximumTemplates,
            let oldest = templateUses.min(by: { ($0.value, $0.key) < ($1.value, $1.key) })
        else { return }
        retireTemplate(oldest.key)
    }

    // MARK: Idle templates

    /// Records that a loaded template is used now; a template that is unused for too long is retired.
    func templateUsed(_ id: UInt64) {
        templateUses[id] = moments.now().monotonic
        if idleTimers[id] == nil { lookAtIdleTemplate(id, after: templateIdleTime) }
    }

    /// Checks the template when it could be idle; there is one timer per template, however often it is used.
    private func lookAtIdleTemplate(_ id: UInt64, after time: Duration) {
        idleTimers[id] = after(time) { [self] in
            guard let use = templateUses[id] else { return }
            let left = use + templateIdleTime - moments.now().monotonic
            if left <= .zero { retireTemplate(id) } else { lookAtIdleTemplate(id, after: left) }
        }
    }
}

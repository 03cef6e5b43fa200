import Scheduling
import TaskModel

/// The launches of bundles for the events of their background sessions.
///
/// Nothing but the transfers is stored: a session that is done and has an end that its delegate has not
/// handled needs a launch. So a host that dies at any moment finds what it must do.
extension HostCore {
    /// Handles the durable end of a transfer.
    mutating func endedInSession(_ ended: Transfer) {
        // A task that has cancelled the transfer may have handled the end before it was durable.
        let transfer = transfers[ended.id] ?? ended
        guard let key = SessionBook.key(of: transfer) else { return }
        sessions.note(transfer)
        changedSession(of: transfer)
        launchForSessions(of: key.bundle)
    }

    /// Launches bundles whose sessions are done, and which no process holds; one bundle or, with `nil`, all.
    mutating func launchForSessions(of bundle: BundleIdentifier? = nil) {
        guard phase == .serving else { return }
        for key in sessions.done(of: bundle) where !sessions.isHeld(key) { launch(for: key) }
    }

    private mutating func launch(for key: SessionBook.Key) {
        let delivery = sessions.deliveries[key] ?? SessionBook.Deliveries()
        guard delivery.fruitless < SessionBook.mostFruitless,
            wantsLaunch(key), let identifier = declaredEvents(of: key),
            requests.request(of: identifier) == nil, !requests.isSubmitting(identifier),
            launches.launch(of: identifier) == nil,
            handler(for: identifier)?.canLaunch(identifier) == true
        else { return }
        log(
            .info,
            "the transfers of the session \(key.session) have ended; \(key.bundle) is launched for them",
            identifier: identifier)
        sessions.beginLaunch(of: key)
        var submission = TaskSubmission(identifier: identifier, origin: .session)
        submission.payload = payload(naming: key.session)
        submission.earliestBeginDate = delivery.notBefore.flatMap { $0 > now.wall ? $0 : nil }
        submit(submission, for: .session(key), isRescanned: true)
    }

    /// Whether one of the ended transfers wants that the bundle is launched.
    private func wantsLaunch(_ key: SessionBook.Key) -> Bool {
        sessions.untold(of: key).contains { transfers[$0]?.request.sendsLaunchEvents != false }
    }

    /// The task that handles a session's events: the one with the session's identifier, or else the first of
    /// the kind in the manifest; `nil` if the manifest has none.
    func declaredEvents(of key: SessionBook.Key) -> TaskIdentifier? {
        let tasks = handlers[key.bundle]?.manifest.tasks.filter {
            $0.kind == .transferEvents && !$0.pattern.isWildcard
        }
        let own = tasks?.first { $0.pattern.base.rawValue == key.session }
        return (own ?? tasks?.first)?.pattern.base
    }

    /// A payload that names a session.
    private func payload(naming session: String) -> String {
        var text = ""
        for character in session.unicodeScalars {
            switch character {
            case "\"", "\\": text += "\\\(character)"
            case _ where character.value < 0x20:
                let digits = String(character.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(character)
            }
        }
        return "{\"session\":\"\(text)\"}"
    }

    // MARK: The ends of launches

    /// Handles the end of a launch that may have had sessions.
    mutating func leftSessions(_ launch: OpenLaunch, _ ended: EndedLaunch) {
        let (id, record) = (launch.record.id, launch.record)
        sessions.watchers[id] = nil
        sessions.refusals[id] = nil
        passOnEnds(of: id)
        if record.kind == .transferEvents { judge(launch, ended) }
        launchForSessions(of: record.bundle)
    }

    /// Makes the next launch wait if this one was slow, and gives up a session whose launches do nothing.
    private mutating func judge(_ launch: OpenLaunch, _ ended: EndedLaunch) {
        let bundle = launch.record.bundle
        let time = launch.readyAt.map { ended.at.boot - $0.boot } ?? .zero
        let isPrompt = ended.end.completion != nil && time <= SessionBook.promptTime
        let slow = isPrompt ? 0 : sessions.slowness[bundle, default: 0] + 1
        sessions.slowness[bundle] = slow == 0 ? nil : slow
        let delay =
            slow == 0
            ? Duration.zero
            : min(SessionBook.firstDelay * (1 << min(slow - 1, 10)), SessionBook.longestDelay)
        for (key, delivery) in sessions.deliveries where key.bundle == bundle {
            guard let before = delivery.waitingAtLaunch,
                declaredEvents(of: key) == launch.record.identifier
            else { continue }
            let left = sessions.untold(of: key).count
            guard left > 0 else {
                sessions.deliveries[key] = nil
                continue
            }
            var new = delivery
            // A request that was put back is launched again.
            new.waitingAtLaunch = requests.request(of: launch.record.identifier) == nil ? nil : left
            new.fruitless = left < before ? 0 : new.fruitless + 1
            new.notBefore = delay == .zero ? nil : (now.wall + delay).rounded
            sessions.deliveries[key] = new
            if new.fruitless == SessionBook.mostFruitless {
                log(
                    .warning,
                    "\(new.fruitless) launches have not handled the events of the session \(key.session). The "
                        + "host launches the bundle for them again when it has started again. Make the session "
                        + "in application(_:handleEventsForBackgroundURLSession:completionHandler:)",
                    identifier: launch.record.identifier)
            }
        }
    }

    // MARK: Dismissal

    /// Cancels the transfers of a bundle that the user has dismissed, as iOS does; nothing is launched for
    /// their ends.
    mutating func cancelSessions(of bundle: BundleIdentifier) {
        for id in sessions.openTransfers(of: bundle) {
            guard var transfer = transfers[id], transfer.state != .finishing else { continue }
            if transfer.state == .running { emit(.transfer(.cancel(id))) }
            transfer.request.sendsLaunchEvents = false
            transfer.failure = TransferFailure(.cancelled, "the user dismissed the app")
            transfer.conclude(.cancelled, at: now.wall)
            conclude(transfer)
        }
    }
}

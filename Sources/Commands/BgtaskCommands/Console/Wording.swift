import ControlWire
import TaskModel

/// Short texts for quantities, with units, in the same form everywhere.
enum Wording {
    /// A duration as `850 ms`, `1.2 s`, `48 s`, `3 min 20 s`, `2 h 5 min` or `3 d 4 h`.
    static func duration(_ duration: Duration) -> String {
        let milliseconds = max(0, duration.wholeMilliseconds)
        let seconds = milliseconds / 1000
        switch seconds {
        case 0 where milliseconds == 0: return "0 s"
        case 0: return "\(milliseconds) ms"
        case 1..<10: return "\(seconds).\(milliseconds % 1000 / 100) s"
        case 10..<60: return "\(seconds) s"
        case 60..<3600: return pair(seconds / 60, "min", seconds % 60, "s")
        case 3600..<86_400: return pair(seconds / 3600, "h", seconds / 60 % 60, "min")
        default: return pair(seconds / 86_400, "d", seconds / 3600 % 24, "h")
        }
    }

    /// A number of seconds, in the form of `duration(_:)`.
    static func seconds(_ seconds: Double) -> String {
        duration(.milliseconds(Int64((seconds * 1000).rounded())))
    }

    /// A CPU time in seconds, with `at least` before it if the true value may be higher.
    static func cpu(_ seconds: Double, isLowerBound: Bool) -> String {
        (isLowerBound ? "at least " : "") + self.seconds(seconds)
    }

    /// The moment from which relative times count.
    enum Reference {
        /// This moment.
        case now
        /// When a launch started, which may be long ago.
        case start
        /// When the host asked the launch to stop.
        case stop
    }

    /// Who submitted a request.
    static func origin(_ origin: RequestOrigin) -> String {
        switch origin {
        case .client: "a client, such as bgtask"
        case .handler: "a handler of the bundle"
        case .schedule: "the schedule in the manifest"
        case .simulated: "bgtask launch"
        case .installation: "the host, because the app was installed or changed"
        case .session: "the host, because all transfers of a background session have ended"
        case .failure: "the host, because a request failed whose task has an onFailure"
        }
    }

    /// Who submitted a request; for one that a failure made, with the launch and its task.
    static func origin(of request: RequestMessage, failed: TaskIdentifier?) -> String {
        guard let launch = request.failedLaunch else { return origin(request.origin) }
        return "the host, because \(launch)" + (failed.map { " of \($0)" } ?? "") + " failed (onFailure)"
    }

    /// `3.0 s ago`, `in 20 s`, `now`; of the past `3.0 s before the start`, `20 s after the start`.
    static func relative(_ time: Timestamp, to moment: WallTime, _ reference: Reference = .now) -> String {
        let difference = time.time - moment
        let isPast = difference < .zero
        let length = duration(isPast ? .zero - difference : difference)
        let isEqual = difference.wholeMilliseconds.magnitude < 1000
        switch reference {
        case .now: return isEqual ? "now" : isPast ? "\(length) ago" : "in \(length)"
        case .start, .stop:
            let event = reference == .start ? "the start" : "the stop"
            return isEqual ? event : "\(length) \(isPast ? "before" : "after") \(event)"
        }
    }

    /// The time since which the observed values have been the same: ` (since 3.0 s ago)`; empty if it is not
    /// known.
    static func since(_ verdict: VerdictMessage, _ moment: WallTime, _ reference: Reference = .now) -> String
    {
        verdict.since.map { " (since \(relative($0, to: moment, reference)))" } ?? ""
    }

    /// `forecast: usually Mon 22:40, in 80 % of cases between Mon 22:10 and Mon 23:05 (24 recorded days); if
    /// nothing changes: 23:00`, in local time.
    ///
    /// Today's times have no weekday. Without enough history, the text says only when the request starts if
    /// no condition changes.
    static func forecast(_ forecast: ForecastMessage, at now: WallTime, offset: Duration) -> String {
        func day(_ time: WallTime) -> Int64 { (time + offset).wholeSeconds.floorDivided(by: 86_400) }
        func clock(_ time: Timestamp) -> String {
            let text = String("\(Timestamp(time.time + offset))".dropFirst(11).prefix(5))
            let number = day(time.time)
            // 1970-01-01 was a Thursday.
            let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
            return number == day(now) ? text : "\(weekdays[Int(number.floorRemainder(by: 7))]) \(text)"
        }
        let unchanged =
            forecast.unchanged.map { "if nothing changes: \(clock($0))" }
            ?? "not within seven days if nothing changes"
        let days = "\(forecast.days) recorded \(forecast.days == 1 ? "day" : "days")"
        guard forecast.days >= Forecast.leastDays else {
            return "forecast: \(unchanged) (\(days); more history makes a better forecast)"
        }
        guard let early = forecast.early else {
            return "forecast: not within seven days, according to \(days); \(unchanged)"
        }
        guard let usual = forecast.usual else {
            let percent = Int(((forecast.confidence ?? 0) * 100).rounded())
            return "forecast: probably not within seven days (the chance is \(percent) %), and not before "
                + "\(clock(early)); \(unchanged) (\(days))"
        }
        let window =
            forecast.late.map { "in 80 % of cases between \(clock(early)) and \(clock($0))" }
            ?? "in 90 % of cases after \(clock(early))"
        return "forecast: usually \(clock(usual)), \(window) (\(days)); \(unchanged)"
    }

    /// A number with its noun: `1 file`, `3 files`.
    static func count(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }

    /// A size with its unit: `12.3 MiB`.
    static func bytes(_ count: Int64) -> String {
        var value = Double(count)
        for unit in ["B", "KiB", "MiB", "GiB"] {
            if value < 1024 || unit == "GiB" {
                let tenths = Int64((value * 10).rounded())
                return unit == "B" || tenths % 10 == 0
                    ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
            }
            value /= 1024
        }
        return "\(count) B"
    }

    /// Progress as `45 % 9/20 hashing`, or as `9 hashing` if the total is not known.
    static func progress(_ progress: ProgressMessage?) -> String {
        guard let progress else { return "" }
        var parts: [String] = []
        if let fraction = progress.progress.fraction {
            parts.append("\(Int(fraction * 100)) %")
            parts.append("\(progress.completed)/\(progress.total)")
        } else {
            parts.append("\(progress.completed)")
        }
        if let message = progress.message, !message.isEmpty { parts.append(message) }
        return parts.joined(separator: " ")
    }

    /// What a policy without a veto found, and what it would prefer: `External power is not connected.
    /// Better: connected`.
    static func accepted(_ rationale: RationaleMessage) -> String {
        let statement = rationale.rationale.statement
        let suffix = ", by preference"
        guard rationale.required.hasSuffix(suffix) else { return statement }
        let wish = rationale.required.dropLast(suffix.count)
        return wish == rationale.observed ? statement : "\(statement). Better: \(wish)"
    }

    /// What would follow from an act.
    ///
    /// For example, `Plug in: score 0.48 to 0.73, it would start.`
    static func remedy(_ remedy: RemedyMessage, now moment: WallTime) -> String {
        let acts = remedy.acts.enumerated().map { index, act in
            index == 0 ? act.text : act.text.prefix(1).lowercased() + act.text.dropFirst()
        }
        let all =
            acts.count < 2
            ? acts.first ?? "" : acts.dropLast().joined(separator: ", ") + " and \(acts[acts.count - 1])"
        var score = ""
        if let before = remedy.score, let after = remedy.scoreAfter, number(before) != number(after) {
            score = "score \(number(before)) to \(number(after)), "
        }
        let effect =
            switch remedy.effect {
            case .starts: "it would start."
            case .startsAt:
                remedy.at.map { "it could start \(relative($0, to: moment))." } ?? "it could start later."
            case .takesTurn: "it would start in its turn."
            case .waits: "it would then wait for \(remedy.waitsFor ?? "something else")."
            default: "the host would then decide again."
            }
        return "\(all): \(score)\(effect)"
    }

    /// A launch in the slot that a request waits for: `L41 com.example.feed.index, which ends in 8 min at the
    /// latest; if it stopped, this request would start`.
    static func holder(_ holder: SlotHolderMessage, now moment: WallTime) -> String {
        var text = "\(holder.launch) \(holder.identifier)"
        if holder.isExpiring { text += ", which is stopping" }
        if let end = holder.latestEnd { text += ", which ends \(relative(end, to: moment)) at the latest" }
        return text + (holder.isDecisive ? "; if it stopped, this request would start" : "")
    }

    /// The waits of a request: `3 h 10 min for power, 20 min for an idle device`.
    static func waited(_ spans: [WaitMessage]) -> String {
        spans.map { "\(seconds($0.seconds)) for \($0.object)" }.joined(separator: ", ")
    }

    /// The number with two decimal places.
    static func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    /// One line for each finding that keeps a request from starting, with the remedy.
    static func blocking(
        _ verdicts: [VerdictMessage], now moment: WallTime, _ reference: Reference = .now,
        showsSince: Bool = false
    ) -> [String] {
        verdicts.filter { $0.decision != .proceed }.flatMap { verdict -> [String] in
            let since = showsSince ? since(verdict, moment, reference) : ""
            if verdict.rationale.isEmpty { return [verdict.policy + since] }
            return verdict.rationale.map { rationale in
                var text = "\(verdict.policy): \(rationale.rationale.sentence)\(since)"
                if let change = rationale.earliestChange {
                    let can = reference == .now ? "can" : "could"
                    text += ". This \(can) change \(relative(change, to: moment, reference))"
                }
                // The line has no full stop at its end, because a remedy can end with a command that people
                // copy.
                if let remedy = rationale.remedy { text += ". \(remedy)" }
                return text
            }
        }
    }

    private static func pair(_ large: Int64, _ largeUnit: String, _ small: Int64, _ smallUnit: String)
        -> String
    {
        small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
    }
}

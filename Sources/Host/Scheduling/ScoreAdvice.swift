import TaskModel

/// A change of one condition that would raise a request's score.
struct ScoreGain {
    /// What a person can do, as the beginning of a sentence.
    let act: String
    /// The change of the conditions.
    let change: @Sendable (inout Conditions) -> Void
    /// The weighted mean of the scores after the change.
    var mean: Double

    /// The changes that the scheduler tries, with the policies whose scores they affect.
    fileprivate static func candidates(
        _ conditions: Conditions, _ needs: Needs
    ) -> [(gain: ScoreGain, policies: [any Policy])] {
        func gain(
            _ act: String, _ source: String?, _ change: @escaping @Sendable (inout Conditions) -> Void
        ) -> ScoreGain {
            ScoreGain(
                act: source.map { "Restart the source of '\($0)' (see bgtask conditions)" } ?? act,
                change: change, mean: 0)
        }
        var all: [(gain: ScoreGain, policies: [any Policy])] = [
            (
                gain("Plug in the charger", conditions.power == .unknown ? "power" : nil) {
                    $0.power = .known(.mains)
                }, [ExternalPower(), BatteryLevel()]
            ),
            (
                gain("Leave the device alone for 5 min", conditions.user == .unknown ? "user" : nil) {
                    $0.user = .known(.idle)
                }, [DeviceActivity()]
            ),
            (
                gain("Let the machine cool down", conditions.thermal == .unknown ? "thermal" : nil) {
                    $0.thermal = .known(.nominal)
                }, [Thermal()]
            ),
            (
                gain(
                    "Close what uses the processor or the disks",
                    conditions.pressure == .unknown ? "pressure" : nil
                ) { $0.pressure = .known(.none) }, [Pressure()]
            ),
            (
                gain("Turn low-power mode off", conditions.lowPowerMode == .unknown ? "lowPower" : nil) {
                    $0.lowPowerMode = .known(false)
                }, [LowPowerMode()]
            ),
        ]
        if needs.network != nil {
            all.append(
                (
                    gain(
                        "Connect to an unmetered network", conditions.network == .unknown ? "network" : nil
                    ) { $0.network = .known(.unmetered) }, [Network()]
                ))
        }
        return all
    }
}

extension ScoreSum {
    /// The weighted mean after a policy's scores changed by these sums.
    fileprivate func mean(addingScore score: Double, weight change: Double) -> Double {
        let total = weight + change
        return total > 1e-9 ? (sum + score) / total : 1
    }
}

extension Scheduler {
    /// The changes of single conditions that would raise a request's score, the largest gain first.
    func gains(for subject: Subject, _ score: ScoreSum, at now: Moment) -> [ScoreGain] {
        let silent = Subject(
            request: subject.request, needs: subject.needs, bundle: subject.bundle,
            isDiscretionary: subject.isDiscretionary, isRunning: subject.isRunning, isTelling: false)
        var found: [ScoreGain] = []
        for (candidate, policies) in ScoreGain.candidates(situation.conditions, subject.needs) {
            var conditions = situation.conditions
            candidate.change(&conditions)
            if conditions == situation.conditions { continue }
            var better = situation
            _ = better.replaceConditions(conditions, at: now)
            var (sum, weight) = (0.0, 0.0)
            for policy in policies {
                for (sign, situation) in [(-1.0, situation), (1.0, better)] {
                    let answer = policy.answer(for: silent, in: situation, at: now)
                    guard !answer.isVeto, let value = answer.score else { continue }
                    let share = policy.weight(situation.settings.weights)
                    sum += sign * value * share
                    weight += sign * share
                }
            }
            var gain = candidate
            gain.mean = score.mean(addingScore: sum, weight: weight)
            if gain.mean >= score.mean + 0.005 { found.append(gain) }
        }
        return found.sorted { $0.mean > $1.mean }
    }

    /// Advice on how to raise a request's score, for people: `Plug in the charger: 0.48 would become 0.73`.
    func adviceOnScore(of subject: Subject, _ score: ScoreSum, at now: Moment) -> String {
        let gains = gains(for: subject, score, at: now).prefix(3)
        guard let best = gains.first else {
            return "Wait until the limit has fallen to the score (no better condition would raise the score)"
        }
        let others = gains.dropFirst().map { gain in
            "\(gain.act.prefix(1).lowercased())\(gain.act.dropFirst()): \(gain.mean.text)"
        }
        return (["\(best.act): \(score.mean.text) would become \(best.mean.text)"] + others)
            .joined(separator: "; ")
    }
}

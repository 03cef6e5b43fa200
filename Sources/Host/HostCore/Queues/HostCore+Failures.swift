import ControlWire
import HandlerRegistry
import Scheduling
import TaskModel

/// The submissions of `onFailure:`: a request that has failed submits another task of its bundle.
extension HostCore {
    /// The submission that the end of a launch makes if its request ends with it; `nil` if it makes none.
    mutating func failure(
        of launch: OpenLaunch, _ ended: EndedLaunch, putBack: PutBack?
    ) -> FailureSubmission? {
        let request = launch.request
        guard !launch.isCancelled else { return nil }
        if let putBack {
            // A retry is not made if a newer request has taken the place of this one meanwhile.
            let isReplaced =
                requests.request(of: request.identifier) != nil || requests.isSubmitting(request.identifier)
            guard putBack.isRetry, !request.isQueued, isReplaced else { return nil }
        }
        guard let manifest = handlers[request.bundle]?.manifest,
            var failure = FailureRecord.submission(
                of: launch.record.ended(ended), request, manifest, scheduler.settings, at: now)
        else { return nil }
        let target = failure.submission.identifier
        let limit = manifest.declaration(for: target)?.queue?.limit ?? QueueDeclaration().limit
        guard requests.queues.count(of: target) < limit else {
            log(
                .error,
                "\(target) is not submitted for this failure: its queue has \(limit) requests, and the "
                    + "manifest permits no more", launch: launch.record.id)
            return nil
        }
        lastRequest += 1
        failure.terms.id = RequestID(rawValue: lastRequest)
        return failure
    }

    /// Refuses a key that only the host gives: with it, the request of a failure would be taken for a
    /// repetition of this submission.
    func checkKey(_ submission: TaskSubmission) throws(SubmissionError) {
        guard FailureKey.launch(in: submission.idempotencyKey) != nil else { return }
        throw SubmissionError(
            code: .invalidRequest, subject: "\(submission.identifier)",
            finding: "keys such as 'failure-of-L7' are those of requests that 'onFailure' makes",
            remedy: "Choose another key")
    }

    /// Adds the request that a failure has made, or says why there is none.
    mutating func submitted(
        for launch: LaunchRecord, _ result: Result<Acceptance, SubmissionError>
    ) {
        switch result {
        case .success(let acceptance):
            if !acceptance.isRepeat { take(acceptance, wasForeseen: false) }
        case .failure(let refusal):
            log(.error, "its failure submits nothing: \(refusal)", launch: launch.id)
        }
    }
}

/// The record of a failed launch as the payload of another request.
enum FailureRecord {
    /// The largest payload, in bytes; the limit of all payloads.
    static let longest = 49_152

    /// The submission that the end of a launch makes if its request ends with it; `nil` if it makes none.
    ///
    /// - Parameters:
    ///   - record: The launch, which has ended.
    ///   - request: The request of the launch.
    ///   - manifest: The manifest of its bundle.
    ///   - settings: The settings of the scheduler.
    ///   - now: The present time.
    /// - Returns: The submission, whose request has no number yet.
    static func submission(
        of record: LaunchRecord, _ request: TaskRequest, _ manifest: Manifest,
        _ settings: SchedulerSettings, at now: Moment
    ) -> FailureSubmission? {
        // A request that a failure made starts no further one, so that tasks do not start each other
        // endlessly.
        guard request.submission.origin != .failure, let outcome = record.end?.outcome,
            FailureSubmission.applies(outcome, expiration: record.expiration),
            let target = manifest.declaration(for: record.identifier)?.onFailure,
            let task = manifest.declaration(for: target)
        else { return nil }
        let plain = TaskSubmission(identifier: target, origin: .failure)
        let terms = RequestTerms(
            bundle: record.bundle, kind: task.kind, acceptedAt: now.wall,
            deadline: settings.deadline(for: plain, kind: task.kind, at: now), pendingLimit: nil)
        return FailureSubmission(
            of: target, for: record.id, payload: payload(of: record, for: task), terms: terms)
    }

    /// The payload for a task: the keys that it declares, or the whole record if it can read that.
    static func payload(of record: LaunchRecord, for task: TaskDeclaration) -> String? {
        let isWhole = !task.hasOwnProgram || task.command?.input == .payload
        if !isWhole, task.payload.isEmpty { return nil }
        var message = LaunchMessage(record)
        // A task can declare this key as text.
        message.message = (message.message ?? "").filter { $0 != "\0" }
        let report = message.report
        for length in [longest, 16_384, 4_096, 512, 0] {
            message.report = report.map { shortened($0, to: length) }
            message.message = message.message.map { shortened($0, to: length) }
            let text =
                isWhole
                ? try? ControlJSON.line(message)
                : try? ControlJSON.line(declared(task.payload, of: message))
            if let text, text.count <= longest { return String(decoding: text, as: UTF8.self) }
        }
        return nil
    }

    /// Cuts whole lines off the end of a text, or part of its only line, and says so.
    static func shortened(_ text: String, to length: Int) -> String {
        guard text.utf8.count > length else { return text }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var (kept, size): ([Substring], Int) = ([], 0)
        for line in lines {
            size += line.utf8.count + 1
            if size > length { break }
            kept.append(line)
        }
        let start =
            kept.isEmpty
            ? String(decoding: Array(text.utf8.prefix(length)), as: UTF8.self) : kept.joined(separator: "\n")
        return start + "\n(the rest is left out, because a payload has at most 48 KiB)"
    }

    private static func declared(
        _ keys: [String: PayloadType], of message: LaunchMessage
    ) -> [String: Value] {
        let all: [String: Value] = [
            "launch": .text("\(message.launch)"), "request": .text("\(message.request)"),
            "identifier": .text(message.identifier.rawValue), "bundle": .text(message.bundle.rawValue),
            "kind": .text(message.kind.rawValue), "outcome": .text(message.outcome?.rawValue ?? ""),
            "reason": .text(message.reason?.rawValue ?? ""), "message": .text(message.message ?? ""),
            "startedAt": .text("\(message.startedAt)"),
            "endedAt": .text(message.endedAt.map { "\($0)" } ?? ""),
            "attempt": .integer(Int64(message.attempt)), "token": .integer(message.token),
            "leftovers": .integer(Int64(message.leftovers)), "cpuSeconds": .number(message.cpuSeconds),
            "isSimulated": .flag(message.isSimulated),
        ]
        return all.filter { keys[$0.key] != nil }
    }

    /// A value of the payload.
    private enum Value: Encodable {
        case text(String)
        case integer(Int64)
        case number(Double)
        case flag(Bool)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .integer(let number): try container.encode(number)
            case .number(let number): try container.encode(number)
            case .flag(let flag): try container.encode(flag)
            }
        }
    }
}

import NIOCore
import RunnerWire
import TaskModel

/// Reads what tasks send and print, and limits how much of it the host accepts.
extension LauncherCore {
    /// The shortest time between two reports of the progress or checkpoint of one launch.
    static let newsInterval = Duration.milliseconds(50)
    /// The number of bytes that one launch may log; the bytes beyond it are dropped and counted.
    static let maximumLogged = 1 << 20
    /// The number of calls of one launch that may wait for an answer.
    static let maximumCalls = 1024
    /// The number of assertions that one launch may hold; more end it with Apple's code 0xbada5e47.
    static let maximumAssertions = 1000
    /// Apple's exception code for a task that holds too many assertions.
    static let assertionsCode: UInt32 = 0xbada_5e47
    /// How many times one launch may begin and end assertions.
    static let maximumAssertionFrames = 200_000
    /// How many bytes a task may leave unread before it is killed for violating the protocol.
    static let maximumUnread = 1 << 20
    /// How long a process may continue after it closed its report pipe without completing.
    static let closedReportTime = Duration.seconds(1)

    /// How long the output stays unread before *ready*.
    ///
    /// It is then read without waiting for *ready*, because a library's constructors could fill the pipe.
    static let outputDelay = Duration.milliseconds(20)

    /// Starts to read a task's report pipe, and prepares reading of its output.
    ///
    /// The output is read after *ready*, or after ``outputDelay``, so that it does not delay the handling of
    /// *ready*.
    func open(_ launch: RunningLaunch, report: CInt, stdout: CInt, stderr: CInt) {
        launch.openPipes = 3
        launch.isReportOpen = true
        launch.unreadOutput = [
            (.stdout, OwnedPipe(taking: stdout)), (.stderr, OwnedPipe(taking: stderr)),
        ]
        let reader = PipeReader(report, on: loop) { [self] bytes in
            reported(bytes, launch)
        } ended: { [self] in
            reportEnded(launch)
        }
        launch.take(reader)
        reader.start()
        launch.outputTimer = after(Self.outputDelay) { [self] in openOutput(launch) }
    }

    /// Starts to read the task's output, unless it is being read already.
    func openOutput(_ launch: RunningLaunch) {
        launch.outputTimer?.cancel()
        launch.outputTimer = nil
        let unread = launch.unreadOutput
        launch.unreadOutput = []
        for (stream, pipe) in unread {
            let reader = PipeReader(pipe.release(), on: loop) { [self] bytes in
                printed(bytes, stream, launch)
            } ended: { [self] in
                pipeEnded(launch)
            }
            launch.take(reader)
            reader.start()
        }
    }

    private func printed(_ bytes: UnsafeRawBufferPointer, _ stream: OutputStream, _ launch: RunningLaunch) {
        guard launch.life.stage != .ended else { return }
        var work = MessageCost.time(ofOutput: bytes.count)
        launch.output[stream]?.take(bytes) { line in
            work += MessageCost.line
            tell(.output(launch.id, stream: stream, line: line))
        }
        spend(work, launch)
    }

    func finishOutput(_ launch: RunningLaunch) {
        for stream in OutputStream.allCases {
            launch.output[stream]?.finish { tell(.output(launch.id, stream: stream, line: $0)) }
        }
        if launch.droppedLogs > 0 {
            tell(
                .log(
                    launch.id, level: .warning,
                    message: "\(launch.droppedLogs) more bytes were dropped: the limit per launch is 1 MiB",
                    subsystem: nil,
                    category: nil))
            launch.droppedLogs = 0
        }
    }

    private func pipeEnded(_ launch: RunningLaunch) {
        launch.openPipes = max(0, launch.openPipes - 1)
        if launch.openPipes == 0 { concludeExit(launch) }
    }

    private func reportEnded(_ launch: RunningLaunch) {
        launch.isReportOpen = false
        if launch.listens, launch.life.stage != .completed, launch.exit == nil {
            // The process has probably ended. If it continues, it has violated the protocol.
            let place = launch.decoder.isInsideFrame ? " inside a frame" : ""
            launch.closingTimer = after(Self.closedReportTime) { [self] in
                guard launch.exit == nil else { return }
                handle(
                    .violation(
                        finding: "its process closed the pipe to the host\(place), but kept running",
                        code: nil),
                    launch)
            }
        }
        pipeEnded(launch)
    }

    private func reported(_ bytes: UnsafeRawBufferPointer, _ launch: RunningLaunch) {
        // After a violation, all further frames are ignored.
        guard launch.listens else { return }
        var work = MessageCost.time(ofMessages: bytes.count)
        do throws(WireError) {
            try launch.decoder.consume(bytes) { kind, body throws(WireError) in
                work += MessageCost.message
                guard launch.listens, let report = try TaskReportMessage(kind: kind, body: body) else {
                    return
                }
                work += MessageCost.time(of: report)
                take(report, launch)
            }
        } catch {
            violation("its process sent an invalid message: \(error)", launch)
        }
        spend(work, launch)
    }

    private func take(_ report: TaskReportMessage, _ launch: RunningLaunch) {
        let isComplete = launch.life.stage == .completed
        switch report {
        case .ready(let message):
            guard message.protocolVersion == 1 else {
                violation(
                    "its bgtask-runner speaks version \(message.protocolVersion) of the protocol, and this host "
                        + "version 1; install both from one version", launch)
                return
            }
            handle(.ready, launch)
        case .progress(let message):
            guard !isComplete else { return }
            let text = message.message.map(OutputLines.harmless(_:)) ?? launch.progress?.message
            let progress = TaskProgress(completed: message.completed, total: message.total, message: text)
            progressed(progress, launch)
            launch.progress = progress
            launch.progressIsNews = true
            scheduleNews(launch)
        case .checkpoint(let message):
            launch.checkpoint = message.bytes
            scheduleNews(launch)
        case .log(let message): log(message, launch)
        case .submit(let message): submit(message, launch)
        case .cancel(let message): cancel(message, launch)
        case .pending(let message):
            if beginCall(message.call, launch) { tell(.pending(launch.id, call: message.call)) }
        case .sessionCall(let message):
            if beginCall(message.call, launch) {
                tell(.sessionCall(launch.id, call: message.call, message.question))
            }
        case .beginAssertion(let message): beginAssertion(message, launch)
        case .endAssertion(let message):
            guard countAssertionFrame(launch),
                launch.openAssertions.removeValue(forKey: message.assertion) != nil
            else { return }
            tell(.assertionEnded(launch.id, assertion: message.assertion))
            if launch.openAssertions.isEmpty { limitTidying(launch) }
        case .stack(let message): took(message, launch)
        case .crash(let message): crashed(message, launch)
        case .advice(let message): advise(message, launch)
        case .fault(let message): fault(message, launch)
        case .title(let message):
            launch.title = message
            scheduleNews(launch)
        case .loadFailed(let message):
            handle(
                .loadFailed(
                    finding: OutputLines.harmless(message.finding), isShortage: message.isShortage), launch)
        case .done(let message):
            guard !isComplete else { return }
            tellNews(launch)
            if message.isDeaf { tell(.neverListened(launch.id)) }
            makeStandby(after: launch)
            handle(
                .done(
                    success: message.success, message: message.message.map(OutputLines.harmless(_:)),
                    isUnstarted: message.isUnstarted, isDeaf: message.isDeaf,
                    exitStatus: message.exitStatus.flatMap { $0 <= 255 ? Int32($0) : nil }), launch)
        }
    }

    private func violation(_ finding: String, _ launch: RunningLaunch, code: UInt32? = nil) {
        handle(.violation(finding: finding, code: code), launch)
    }

    private func log(_ message: LogMessage, _ launch: RunningLaunch) {
        let size =
            message.message.utf8.count + (message.subsystem?.utf8.count ?? 0)
            + (message.category?.utf8.count ?? 0)
        // Each line counts 16 bytes more, so that empty lines are limited, too.
        launch.loggedBytes += size + 16
        guard launch.loggedBytes <= Self.maximumLogged else {
            launch.droppedLogs += size
            return
        }
        let levels: [LogLine.Level] = [.debug, .info, .notice, .warning, .error]
        tell(
            .log(
                launch.id, level: levels[Int(message.level) - 1],
                message: OutputLines.harmless(message.message),
                subsystem: message.subsystem.map(OutputLines.harmless(_:)),
                category: message.category.map(OutputLines.harmless(_:))))
    }

    // MARK: Questions

    private func beginCall(_ call: UInt64, _ launch: RunningLaunch) -> Bool {
        guard launch.openCalls.count < Self.maximumCalls else {
            violation("it waits for more than \(Self.maximumCalls) answers of the host at a time", launch)
            return false
        }
        guard launch.openCalls.insert(call).inserted else {
            violation("it sent two calls with the number \(call)", launch)
            return false
        }
        return true
    }

    private func submit(_ message: SubmitMessage, _ launch: RunningLaunch) {
        guard beginCall(message.call, launch) else { return }
        guard let identifier = identifier(message.identifier, call: message.call, launch) else { return }
        var submission = TaskSubmission(identifier: identifier, origin: .handler)
        submission.earliestBeginDate = message.earliest.map(WallTime.init(milliseconds:))
        submission.requiresExternalPower = message.externalPower
        submission.requiresNetworkConnectivity = message.network
        if let payload = message.payload {
            guard let text = String(validating: payload, as: UTF8.self) else {
                refuse(message.call, "its payload is not UTF-8", launch)
                return
            }
            submission.payload = text
        }
        submission.strategy = message.failsUnlessImmediate ? .fail : .queue
        submission.requiresGPU = message.requiresGPU
        submission.deadline = message.deadline.map(WallTime.init(milliseconds:))
        if let number = message.taskKind {
            guard let kind = TaskKind(wireValue: number) else {
                refuse(
                    message.call, "the request has the number \(number) as its kind, which no kind has",
                    launch)
                return
            }
            submission.kind = kind
        }
        submission.title = OutputLines.harmless(message.title ?? "")
        submission.subtitle = OutputLines.harmless(message.subtitle ?? "")
        tell(.submit(launch.id, call: message.call, submission))
    }

    private func cancel(_ message: TaskCancelMessage, _ launch: RunningLaunch) {
        guard beginCall(message.call, launch) else { return }
        guard let text = message.identifier else {
            tell(.cancel(launch.id, call: message.call, nil))
            return
        }
        guard let identifier = identifier(text, call: message.call, launch) else { return }
        tell(.cancel(launch.id, call: message.call, identifier))
    }

    /// Parses the identifier of a call; refuses the call if the identifier is not valid.
    private func identifier(_ text: String, call: UInt64, _ launch: RunningLaunch) -> TaskIdentifier? {
        do {
            return try TaskIdentifier(text)
        } catch {
            refuse(call, error.description, launch)
            return nil
        }
    }

    private func refuse(_ call: UInt64, _ finding: String, _ launch: RunningLaunch) {
        reply(
            launch, call,
            .failure(
                SubmissionError(
                    code: .invalidRequest, subject: launch.order.record.identifier.rawValue, finding: finding,
                    remedy: "Correct the arguments of the submission or cancellation")))
    }

    func reply(_ launch: RunningLaunch, _ call: UInt64, _ answer: Result<[TaskRequest], SubmissionError>) {
        guard launch.openCalls.remove(call) != nil, let control = launch.control else { return }
        var message = ReplyMessage(call: call, error: 0)
        switch answer {
        case .success(let requests):
            spend(MessageCost.time(ofListed: requests.count), launch)
            message.pending = requests.map { request in
                ReplyMessage.PendingRequest(
                    request: UInt64(bitPattern: request.id.rawValue), taskKind: request.kind,
                    identifier: request.identifier.rawValue,
                    earliest: request.submission.earliestBeginDate?.milliseconds,
                    externalPower: request.submission.requiresExternalPower,
                    network: request.submission.requiresNetworkConnectivity,
                    title: request.submission.title.isEmpty ? nil : request.submission.title,
                    subtitle: request.submission.subtitle.isEmpty ? nil : request.submission.subtitle)
            }
        case .failure(let error):
            message.error = error.code.wireValue
            message.text = "\(error.finding). \(error.remedy)"
        }
        send(message, launch, control)
    }

    func replyToSession(
        _ launch: RunningLaunch, _ call: UInt64, _ answer: Result<[UInt8], SubmissionError>
    ) {
        guard launch.openCalls.remove(call) != nil, let control = launch.control else { return }
        switch answer {
        case .success(let bytes):
            send(ReplyMessage(call: call, error: 0, content: bytes), launch, control)
        case .failure(let error):
            let text = "\(error.finding). \(error.remedy)"
            send(ReplyMessage(call: call, error: error.code.wireValue, text: text), launch, control)
        }
    }

    private func send(_ message: ReplyMessage, _ launch: RunningLaunch, _ control: ControlPipe) {
        let call = message.call
        do {
            control.send(try launch.encoder.encode(message))
        } catch {
            // The pending requests do not fit in a frame, so the call is refused instead of sending some of
            // them.
            let refusal = ReplyMessage(call: call, error: 64, text: error.finding)
            if let frame = try? launch.encoder.encode(refusal) { control.send(frame) }
        }
        if control.waitingBytes > Self.maximumUnread {
            violation("it does not read the host's answers; \(control.waitingBytes) bytes wait", launch)
        }
    }

    // MARK: Assertions

    private func countAssertionFrame(_ launch: RunningLaunch) -> Bool {
        launch.assertionFrames += 1
        guard launch.assertionFrames <= Self.maximumAssertionFrames else {
            violation("it began and ended assertions more than \(Self.maximumAssertionFrames) times", launch)
            return false
        }
        return true
    }

    private func beginAssertion(_ message: BeginAssertionMessage, _ launch: RunningLaunch) {
        guard countAssertionFrame(launch) else { return }
        guard launch.openAssertions.count < Self.maximumAssertions else {
            violation(
                "it holds more than \(Self.maximumAssertions) assertions at a time", launch,
                code: Self.assertionsCode)
            return
        }
        guard launch.openAssertions[message.assertion] == nil else { return }
        let name = OutputLines.harmless(message.name)
        launch.openAssertions[message.assertion] = OpenAssertion(
            name: name, beganAt: moments.now().monotonic, addresses: message.addresses)
        if launch.openAssertions.count == 1 { limitTidying(launch) }
        tell(.assertionBegan(launch.id, assertion: message.assertion, name: name))
    }

    // MARK: News

    /// Reports new progress, title or checkpoint: immediately, or when the interval since the last report is
    /// over.
    private func scheduleNews(_ launch: RunningLaunch) {
        guard launch.newsTimer == nil else { return }
        tellNews(launch)
        launch.newsTimer = after(Self.newsInterval) { [self] in
            launch.newsTimer = nil
            if launch.progressIsNews || launch.checkpoint != nil || launch.title != nil {
                scheduleNews(launch)
            }
        }
    }

    func tellNews(_ launch: RunningLaunch) {
        let work = MessageCost.time(
            ofProgress: launch.progressIsNews, title: launch.title != nil,
            checkpoint: launch.checkpoint?.count)
        spend(work, launch)
        if launch.progressIsNews, let progress = launch.progress {
            launch.progressIsNews = false
            tell(.progress(launch.id, progress))
        }
        if let title = launch.title {
            launch.title = nil
            tell(
                .titleChanged(
                    launch.id, title: OutputLines.harmless(title.title),
                    subtitle: OutputLines.harmless(title.subtitle ?? "")))
        }
        if let checkpoint = launch.checkpoint {
            launch.checkpoint = nil
            tell(.checkpoint(launch.id, checkpoint))
        }
    }
}

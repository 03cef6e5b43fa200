#if BackgroundTransfers
    import Foundation
    import FoundationNetworking
    import Synchronization

    /// The background sessions of the process, and their line to the host.
    ///
    /// A thread waits for the host's news. In a launch for the events of a session, nothing is delivered
    /// until the app was told of that session: an app may make its session earlier.
    final class SessionCenter: Sendable {
        static let shared = SessionCenter()

        private struct State {
            var sessions: [String: BackgroundSession] = [:]
            var isListening = false
            /// Whether the app was told for which session it was launched.
            var isOpen = false
            /// What is delivered then.
            var held: [@Sendable () -> Void] = []
            /// The session whose delegate must hear that all its events were delivered.
            var announced: String?
            var finishWaiters: [CheckedContinuation<Void, Never>] = []
            /// How many tasks were resumed that the host does not have yet.
            var handovers = 0
            /// The assertion that keeps the process alive for them; 0 if there is none.
            var assertion = 0
        }

        private let state = Mutex(State())

        // MARK: Sessions

        /// Takes over a session, and finds its tasks.
        func add(_ session: BackgroundSession) {
            state.withLock { $0.sessions[session.identifier] = session }
            do throws(Refusal) {
                try ask(.init(ask: "attach", session: session.identifier))
                var last: String?
                while true {
                    var question = SessionMessages.Question(ask: "list", session: session.identifier)
                    question.transfer = last
                    guard let news = try ask(question).news else { break }
                    last = news.transfer
                    session.take(news)
                }
            } catch {
                App.shared.host.log(
                    .error, subsystem: nil, category: nil,
                    "the background session \(session.identifier) is not connected to a host: \(error.text)")
                return
            }
            listen()
            finishEvents(of: session)
        }

        /// Gives up a session that was invalidated.
        func remove(_ session: BackgroundSession) {
            let isPresent = state.withLock { state in
                guard state.sessions[session.identifier] === session else { return false }
                state.sessions[session.identifier] = nil
                return true
            }
            guard isPresent else { return }
            inBackground { center in
                _ = try? center.ask(.init(ask: "detach", session: session.identifier))
            }
        }

        // MARK: Handing over

        /// Notes that the app has resumed a task, which the host does not have yet.
        ///
        /// The copy of a large file takes longer than a process may live after its completion, and the app
        /// believes the task to be safe.
        func beginHandover() {
            let isFirst = state.withLock { state in
                state.handovers += 1
                return state.handovers == 1
            }
            guard isFirst else { return }
            let assertion = AssertionBook.shared.begin(
                "hand over the tasks of background sessions", handler: nil)
            let isOver = state.withLock { state in
                if state.handovers > 0, state.assertion == 0 {
                    state.assertion = assertion
                    return false
                }
                return true
            }
            if isOver, assertion != 0 { AssertionBook.shared.end(assertion) }
        }

        /// Notes that the host has a task, or has refused it.
        func endHandover() {
            let assertion = state.withLock { state in
                state.handovers -= 1
                guard state.handovers == 0 else { return 0 }
                defer { state.assertion = 0 }
                return state.assertion
            }
            if assertion != 0 { AssertionBook.shared.end(assertion) }
        }

        /// Whether the host does not have a task yet that the app has resumed.
        var isHandingOver: Bool { state.withLock { $0.handovers > 0 } }

        // MARK: Questions

        @discardableResult
        func ask(
            _ question: SessionMessages.Question, isPatient: Bool = false
        ) throws(Refusal) -> SessionMessages.Answer {
            do {
                let data = try JSONEncoder().encode(question)
                let answer = try App.shared.host.askAboutSessions(data, isPatient: isPatient)
                return try JSONDecoder().decode(SessionMessages.Answer.self, from: answer)
            } catch let refusal as Refusal {
                throw refusal
            } catch {
                throw Refusal(.unavailable, "the host's answer about a session can't be read: \(error)")
            }
        }

        private func inBackground(_ work: @escaping @Sendable (SessionCenter) -> Void) {
            App.callQueue.async { work(self) }
        }

        func confirm(_ transfer: String, _ then: @escaping @Sendable () -> Void) {
            inBackground { center in
                _ = try? center.ask(.init(ask: "told", transfer: transfer))
                then()
            }
        }

        func cancel(
            _ transfer: String, keeps: Bool, _ then: @escaping @Sendable (SessionMessages.Answer?) -> Void
        ) {
            inBackground { center in
                then(try? center.ask(.init(ask: "cancel", transfer: transfer, keeps: keeps)))
            }
        }

        func decide(_ transfer: String, _ decision: String, _ request: URLRequest?) {
            var question = SessionMessages.Question(ask: "decide", transfer: transfer, decision: decision)
            if let request, let url = request.url {
                var new = SessionMessages.Request(url: url.absoluteString)
                new.method = request.httpMethod == "GET" ? nil : request.httpMethod
                new.headers = (request.allHTTPHeaderFields ?? [:]).map { "\($0.key): \($0.value)" }.sorted()
                question.request = new
            }
            let final = question
            inBackground { center in _ = try? center.ask(final) }
        }

        // MARK: News

        private func listen() {
            let isFirst = state.withLock { state in
                defer { state.isListening = true }
                return !state.isListening
            }
            guard isFirst else { return }
            let thread = Thread { [self] in
                // Linux refuses names of more than 15 bytes, and those of threads that have not begun are
                // lost.
                Thread.current.name = "bgtask.sessions"
                while let answer = try? ask(.init(ask: "next"), isPatient: true) {
                    guard let news = answer.news else { continue }
                    state.withLock { $0.sessions[news.session] }?.take(news)
                }
                state.withLock { $0.isListening = false }
            }
            thread.start()
        }

        // MARK: Events of a session

        /// Calls a closure when events may be delivered.
        func whenOpen(_ deliver: @escaping @Sendable () -> Void) {
            let isLaunchForEvents = App.shared.host.launchedFor?.kind == .transferEvents
            let isOpen = state.withLock { state in
                guard isLaunchForEvents, !state.isOpen else { return true }
                state.held.append(deliver)
                return false
            }
            if isOpen { deliver() }
        }

        /// Begins to deliver events, now that the app knows for which session it was launched.
        func announce(_ session: String) {
            let (held, known) = state.withLock { state in
                state.isOpen = true
                state.announced = session
                defer { state.held = [] }
                return (state.held, state.sessions[session])
            }
            for deliver in held { deliver() }
            if let known { finishEvents(of: known) }
        }

        /// Tells the delegate that it has received all events, if that is so.
        func finishEvents(of session: BackgroundSession) {
            guard session.isDone else { return }
            let waiters: [CheckedContinuation<Void, Never>]? = state.withLock { state in
                guard state.announced == session.identifier else { return nil }
                state.announced = nil
                defer { state.finishWaiters = [] }
                return state.finishWaiters
            }
            guard let waiters else { return }
            guard let urlSession = session.session else { return waiters.forEach { $0.resume() } }
            let delegate = session.delegate as? any URLSessionDelegate
            if delegate == nil, let plain = session.delegate {
                App.shared.host.advise(
                    "sessionDelegate",
                    "\(type(of: plain)) conforms to Foundation's URLSessionDelegate, which has no "
                        + "urlSessionDidFinishEvents(forBackgroundURLSession:). In its file, remove 'import "
                        + "FoundationNetworking' and import BackgroundTasks, UIKit or SwiftUI.")
            }
            urlSession.delegateQueue.addOperation {
                delegate?.urlSessionDidFinishEvents(forBackgroundURLSession: urlSession)
                waiters.forEach { $0.resume() }
            }
        }

        /// Waits until the delegate of the announced session has received all events; returns at once if the
        /// app has not made that session.
        func eventsFinished() async {
            await withCheckedContinuation { waiter in
                let mustWait = state.withLock { state in
                    guard let session = state.announced, state.sessions[session] != nil else { return false }
                    state.finishWaiters.append(waiter)
                    return true
                }
                if !mustWait { waiter.resume() }
            }
        }
    }
#endif

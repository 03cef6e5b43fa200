import Scheduling
import TaskModel
import Testing

@testable import HostCore

/// Which pending requests the host judges again, in rounds of several parts, while a client follows its
/// events.
@Suite struct VetoWatchTests {
    private let ids = (1...2500).map { RequestID(rawValue: Int64($0)) }
    private let launch = LaunchID(rawValue: 1)

    /// A watch whose first round, over `count` requests, is over.
    private func settled(_ count: Int) -> VetoWatch {
        var watch = VetoWatch()
        while !watch.takePart(of: ids.prefix(count)).isEmpty {}
        return watch
    }

    private func request(_ number: Int64) throws -> TaskRequest {
        TaskRequest(
            id: RequestID(rawValue: number),
            submission: TaskSubmission(identifier: try TaskIdentifier("org.example.a"), origin: .client),
            bundle: try BundleIdentifier("org.example"), kind: .processing,
            submittedAt: WallTime(milliseconds: 1), attempt: 1, notBefore: nil,
            deadline: WallTime(milliseconds: 2))
    }

    @Test func `progress, checkpoints and CPU time make nobody be asked`() {
        var watch = settled(9)
        func part() -> [RequestID] { watch.takePart(of: ids.prefix(9)) }
        let report = TaskProgress(completed: 1, total: 2, message: nil)
        for event in [
            SchedulerEvent.progressed(launch, report), .launchActive(launch),
            .cpuMeasured(launch, .seconds(1)),
        ] {
            watch.note(event, [])
            #expect(part().isEmpty, "\(event)")
        }
        watch.note(.timePassed, [])
        #expect(part().count == 9)
        #expect(part().isEmpty)
    }

    @Test func `a submission is asked alone, and with all others if it launches something`() throws {
        var watch = settled(9)
        func part() -> [RequestID] { watch.takePart(of: ids.prefix(9)) }
        let request = try request(9)
        watch.note(.submitted(request), [.wake(Wake())])
        #expect(part() == [request.id])
        let launches = SchedulerAction.launch(
            ids[0], isSimulated: false, priority: .requested,
            because: Explanation(question: .start, at: WallTime(milliseconds: 1), verdicts: []))
        watch.note(.submitted(request), [launches])
        #expect(Set(part()) == Set(ids.prefix(9)))
    }

    @Test func `many are asked in parts, newest first, one part an event`() {
        var watch = settled(ids.count)
        func part() -> [RequestID] { watch.takePart(of: ids) }
        watch.note(.timePassed, [])
        #expect(part() == ids[1500...].reversed())
        // An event that starts no new round still makes the watch continue with the next part.
        watch.note(.launchActive(launch), [])
        #expect(part() == ids[500..<1500].reversed())
        #expect(part() == ids[..<500].reversed())
        #expect(part().isEmpty)
    }

    @Test func `what happens amid a round makes another one, and the oldest are still asked`() {
        var watch = settled(ids.count)
        watch.note(.timePassed, [])
        _ = watch.takePart(of: ids)
        var asked: Set<RequestID> = []
        for _ in 0..<3 {
            watch.note(.timePassed, [])
            let part = watch.takePart(of: ids)
            #expect(part.count == VetoWatch.part)
            asked.formUnion(part)
        }
        #expect(asked.count == ids.count)
    }

    @Test func `whoever follows after a while hears of all at the first event`() throws {
        var watch = settled(9)
        func part() -> [RequestID] { watch.takePart(of: ids.prefix(9)) }
        watch.note(.conditionsChanged(.simulatedStart), [])
        watch.pause()
        watch.note(.launchActive(launch), [])
        #expect(part().count == 9)
        watch.pause()
        let request = try request(9)
        watch.note(.submitted(request), [])
        #expect(Set(part()).count == 9)
    }

    @Test func `the same policies are told once, until they change or the request is another`() {
        var watch = VetoWatch()
        func isNews(_ policies: [String], _ request: RequestID) -> Bool {
            watch.isNews(policies, of: request)
        }
        #expect(isNews(["Network"], ids[0]))
        #expect(!isNews(["Network"], ids[0]))
        #expect(isNews(["Network"], ids[1]))
        #expect(isNews(["Network", "Usage"], ids[0]))
        #expect(!isNews([], ids[0]))
        watch.forget(ids[0])
        #expect(isNews(["Network", "Usage"], ids[0]))
    }
}

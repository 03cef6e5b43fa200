import Scheduling
import TaskModel
import Testing

@testable import HostCore

/// The scheduler gets only a few of a launch's many reports, but gets the newest before a decision needs it.
@Suite struct ActivityBookTests {
    private let id = LaunchID(rawValue: 7)
    private let settings = SchedulerSettings()

    private func progress(_ units: Int64, _ text: String? = nil) -> TaskProgress {
        TaskProgress(completed: units, total: 10_000, message: text)
    }

    @Test func `of twenty reports a second, the scheduler gets one in a period, without texts`() {
        var book = ActivityBook()
        var events: [SchedulerEvent] = []
        for step in 0..<1200 {
            let now = Duration.milliseconds(1000 + step * 50)
            events += book.report(progress(Int64(step), "/home/me/\(step)"), of: id, at: now, settings)
            events += book.saveCheckpoint(of: id, at: now, settings)
        }
        let reports = events.compactMap { event -> TaskProgress? in
            if case .progressed(_, let progress, nil) = event { progress } else { nil }
        }
        #expect(reports.count == 6 && reports.allSatisfy { $0.message == nil }, "\(reports)")
        #expect(events.count <= 8)
    }

    @Test func `a report that changes only the text is no news`() {
        var book = ActivityBook()
        #expect(book.report(progress(1, "a"), of: id, at: .seconds(1), settings).count == 1)
        #expect(book.report(progress(1, "b"), of: id, at: .seconds(100), settings).isEmpty)
    }

    @Test func `before it can find a stall, the scheduler gets the newest change with its time`() {
        var book = ActivityBook()
        _ = book.report(progress(1), of: id, at: .seconds(0), settings)
        #expect(book.report(progress(2), of: id, at: .seconds(6), settings).isEmpty)
        #expect(book.given(before: .timePassed, at: .milliseconds(9999)).isEmpty)
        #expect(
            book.given(before: .timePassed, at: .seconds(30))
                == [.progressed(id, progress(2), changedAt: .seconds(6))])
        // The scheduler knows of a change at 6 s. It can first find a stall 30 s later, at 36 s, so it gets
        // the newest change then, although it got a report at 30 s.
        #expect(book.report(progress(3), of: id, at: .seconds(31), settings).isEmpty)
        #expect(
            book.given(before: .timePassed, at: .seconds(36))
                == [.progressed(id, progress(3), changedAt: .seconds(31))])
    }

    @Test func `of many checkpoints, the scheduler gets one in a period`() {
        var book = ActivityBook()
        var events: [SchedulerEvent] = []
        for step in 0..<600 {
            events += book.saveCheckpoint(of: id, at: .milliseconds(step * 100), settings)
        }
        #expect(events == Array(repeating: .launchActive(id), count: 6))
        #expect(book.given(before: .cpuMeasured(id, .zero), at: .seconds(60)) == [.launchActive(id)])
    }

    @Test func `the end of a launch, and what decides about it, come after its newest report`() {
        let later = SchedulerEvent.progressed(id, progress(2), changedAt: .seconds(2))
        let deciding: [SchedulerEvent] = [
            .cpuMeasured(id, .zero), .launchExpiring(id), .tracingChanged(id, isTraced: true),
            .answered(id, keepGoing: true), .expireRequested(id, .simulated), .launchEnded(id, putBack: nil),
        ]
        for event in deciding {
            var book = ActivityBook()
            _ = book.report(progress(1), of: id, at: .seconds(1), settings)
            _ = book.report(progress(2), of: id, at: .seconds(2), settings)
            _ = book.saveCheckpoint(of: id, at: .seconds(2), settings)
            #expect(book.given(before: event, at: .seconds(3)) == [later], "\(event)")
            #expect(book.given(before: event, at: .seconds(99)).isEmpty)
        }
    }

    @Test
    func `while memory is short, the scheduler has all progress, because it ends the launch with least`() {
        let later = SchedulerEvent.progressed(id, progress(2), changedAt: .seconds(2))
        var short = Conditions.simulatedStart
        short.pressure = .known(PressureCondition(cpu: false, memory: true, io: false))
        for isShort in [false, true] {
            var book = ActivityBook()
            _ = book.report(progress(1), of: id, at: .seconds(1), settings)
            _ = book.report(progress(2), of: id, at: .seconds(2), settings)
            let event = isShort ? SchedulerEvent.timePassed : .conditionsChanged(short)
            #expect(book.given(before: .timePassed, at: .seconds(3)).isEmpty)
            #expect(book.given(before: event, at: .seconds(3), isShortOfMemory: isShort) == [later])
        }
    }

    @Test func `the first progress counts at once, also after a checkpoint`() {
        var book = ActivityBook()
        #expect(book.saveCheckpoint(of: id, at: .seconds(55), settings) == [.launchActive(id)])
        #expect(
            book.report(progress(1), of: id, at: .seconds(56), settings)
                == [.progressed(id, progress(1), changedAt: nil)])
    }
}

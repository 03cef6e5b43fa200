import Foundation
import Launching
import LinuxSystem
import SystemConditions
import TaskModel
import Testing

@testable import HandlerRegistry
@testable import HostCore
@testable import TaskHost

/// Work that the host's worker does once for many callers.
@Suite struct HostWorkerTests {
    @Test func `submissions that wait for a look at the directories share one`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("worker-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: folder + "/manifests", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let configuration = HostConfiguration(
            pluginsDirectory: folder, manifestsDirectory: folder + "/manifests", stateDirectory: folder,
            socketPath: folder + "/socket", runnerPath: "/bin/false", simulatesConditions: true,
            taskEnvironment: [])
        let registry = HandlerRegistry(
            manifestsDirectory: folder + "/manifests", pluginsDirectory: folder,
            libraryCacheDirectory: folder + "/cache")
        let inbox = Inbox(on: HostLoop())
        let (results, continuation) = AsyncStream.makeStream(of: HostInput.self)
        inbox.serve { while let input = inbox.take() { continuation.yield(input) } }
        inbox.open(with: .hasWoken)
        let worker = HostWorker(
            configuration: configuration, directories: StateDirectories(root: folder), registry: registry,
            sensors: ConditionSensors(mode: .simulated, moments: SystemClocks(), onProblem: { _ in }),
            inbox: inbox)
        let isFree = DispatchSemaphore(value: 0)
        // The queue stays busy while the submissions arrive.
        await withCheckedContinuation { isBusy in
            Task {
                await worker.run {
                    isBusy.resume()
                    isFree.wait()
                }
            }
        }
        let tickets = (1...100).map { WorkTicket(rawValue: $0) }
        for ticket in tickets { worker.start(.scan(ticket)) }
        isFree.signal()
        var answered: [WorkTicket] = []
        for await result in results {
            if case .scanned(let ticket, _) = result { answered.append(ticket) }
            if answered.count == tickets.count { break }
        }
        #expect(answered == tickets)
        #expect(registry.work.scans == 1)
        worker.start(.scan(WorkTicket(rawValue: 101)))
        for await case .scanned(let ticket, _) in results {
            #expect(ticket.rawValue == 101)
            break
        }
    }
}

import BackgroundTasks
import os

// A plugin in the Swift 6 language mode: an actor, and asynchronous work that the expiration cancels.
@main
struct ModernPlugin: BackgroundPlugin {
    static let logger = Logger(subsystem: "org.example.modern", category: "work")

    static func registerHandlers(with scheduler: BGTaskScheduler) {
        scheduler.register(forTaskWithIdentifier: "org.example.modern.work", using: nil) { task in
            let work = Task {
                let ledger = Ledger()
                await withTaskGroup(of: Void.self) { group in
                    for number in 1...10 { group.addTask { await ledger.add(number) } }
                }
                let sum = await ledger.sum
                logger.notice("the sum is \(sum)")
                task.setTaskCompleted(success: sum == 55 && !Task.isCancelled)
            }
            task.expirationHandler = { work.cancel() }
        }
        scheduler.register(forTaskWithIdentifier: "org.example.modern.slow", using: nil) { task in
            let work = Task {
                print("slow begins")
                try? await Task.sleep(for: .seconds(60))
                task.setTaskCompleted(success: !Task.isCancelled)
            }
            task.expirationHandler = {
                print("slow is told to stop")
                work.cancel()
            }
        }
        MainActor.assumeIsolated { Screen.shared.register(with: scheduler) }
    }

    static func didEnterBackground() {
        Task {
            do {
                let request = BGProcessingTaskRequest(identifier: "org.example.modern.work")
                request.earliestBeginDate = .now + 3600
                try await BGTaskScheduler.shared.submitTaskRequest(request)
            } catch {
                print("refused: \(error.localizedDescription)")
            }
        }
    }
}

/// Registers from the main actor, as an app delegate does.
@MainActor
final class Screen {
    static let shared = Screen()
    private var refreshes = 0

    func register(with scheduler: BGTaskScheduler) {
        // A closure that is created here belongs to the main actor, whichever queue calls it.
        scheduler.register(forTaskWithIdentifier: "org.example.modern.bound", using: nil) { task in
            print("bound to the main actor, on the main thread: \(Thread.isMainThread)")
            task.setTaskCompleted(success: true)
        }
        scheduler.register(forTaskWithIdentifier: "org.example.modern.main", using: .main) { task in
            self.refreshes += 1
            print("on the main thread: \(Thread.isMainThread)")
            task.setTaskCompleted(success: true)
        }
        scheduler.register(forTaskWithIdentifier: "org.example.modern.free", using: nil) { @Sendable task in
            Task { @MainActor in
                self.refreshes += 1
                print("free to run anywhere, then on the main actor")
                task.setTaskCompleted(success: true)
            }
        }
    }
}

actor Ledger {
    private(set) var sum = 0
    func add(_ number: Int) { sum += number }
}

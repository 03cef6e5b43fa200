import BackgroundTasks
import OSLog

// Uses many features of Swift and Foundation, each once, in a process that was cloned from a template.
@main
struct FeaturesPlugin: BackgroundPlugin {
    static func registerHandlers(with scheduler: BGTaskScheduler) {
        scheduler.register(forTaskWithIdentifier: "org.example.features.all", using: nil) { task in
            Task {
                let failures = await Features.failures()
                for failure in failures { print("failed: \(failure)") }
                print("\(Features.all.count) features, \(failures.count) failed")
                task.setTaskCompleted(success: failures.isEmpty)
            }
        }
        scheduler.register(forTaskWithIdentifier: "org.example.features.one", using: nil) { task in
            Task {
                await Task.yield()
                task.setTaskCompleted(success: true)
            }
        }
    }
}

actor Counter {
    private var count = 0
    func add() -> Int {
        count += 1
        return count
    }
}

enum Features {
    static let all: [(String, () async throws -> Bool)] = [
        ("Task", { await Task { 7 }.value == 7 }),
        (
            "Task.sleep",
            {
                try await Task.sleep(nanoseconds: 1_000_000); return true
            }
        ),
        (
            "TaskGroup",
            {
                await withTaskGroup(of: Int.self) { group in
                    for number in 1...10 { group.addTask { number } }
                    return await group.reduce(0, +) == 55
                }
            }
        ),
        (
            "actor",
            {
                let counter = Counter()
                _ = await counter.add()
                return await counter.add() == 2
            }
        ),
        ("MainActor", { await MainActor.run { Thread.isMainThread } }),
        (
            "main queue",
            {
                await withCheckedContinuation { done in
                    DispatchQueue.main.async { done.resume(returning: Thread.isMainThread) }
                }
            }
        ),
        (
            "global queue",
            {
                await withCheckedContinuation { done in
                    DispatchQueue.global().async { done.resume(returning: true) }
                }
            }
        ),
        (
            "timer",
            {
                await withCheckedContinuation { done in
                    DispatchQueue.main.async {
                        _ = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in
                            done.resume(returning: true)
                        }
                    }
                }
            }
        ),
        (
            "Progress",
            {
                let parent = Progress(totalUnitCount: 2)
                let child = Progress(totalUnitCount: 10, parent: parent, pendingUnitCount: 1)
                child.completedUnitCount = 10
                return parent.fractionCompleted == 0.5
            }
        ),
        (
            "FileHandle",
            {
                let file = FileManager.default.temporaryDirectory.appendingPathComponent("features")
                try Data("abc".utf8).write(to: file)
                let handle = try FileHandle(forReadingFrom: file)
                return try handle.readToEnd() == Data("abc".utf8)
            }
        ),
        ("Bundle.main", { Bundle.main.bundleIdentifier == "org.example.features" }),
        (
            "permitted identifiers",
            {
                let identifiers =
                    Bundle.main.object(forInfoDictionaryKey: "BGTaskSchedulerPermittedIdentifiers")
                    as? [String]
                return identifiers?.contains("org.example.features.all") == true
            }
        ),
        (
            "UserDefaults",
            {
                UserDefaults.standard.set(3, forKey: "three")
                return UserDefaults.standard.integer(forKey: "three") == 3
            }
        ),
        (
            "a home of its own",
            {
                let home = FileManager.default.currentDirectoryPath
                let places = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)
                return NSHomeDirectory() == home && places.allSatisfy { $0.path.hasPrefix(home) }
            }
        ),
        ("JSON", { try JSONDecoder().decode([Int].self, from: JSONEncoder().encode([1, 2])) == [1, 2] }),
        (
            "Logger",
            {
                Logger(subsystem: "org.example.features", category: "all").notice("a feature")
                return true
            }
        ),
        (
            "conditions",
            {
                ProcessInfo.processInfo.thermalState == .nominal
                    && !ProcessInfo.processInfo.isLowPowerModeEnabled
            }
        ),
        (
            "expiring activity",
            {
                await withCheckedContinuation { done in
                    ProcessInfo.processInfo.performExpiringActivity(withReason: "features") { isExpired in
                        if !isExpired { done.resume(returning: true) }
                    }
                }
            }
        ),
    ]

    static func failures() async -> [String] {
        var failures: [String] = []
        for (name, feature) in all {
            do {
                if try await !feature() { failures.append(name) }
            } catch {
                failures.append("\(name): \(error)")
            }
        }
        return failures
    }
}

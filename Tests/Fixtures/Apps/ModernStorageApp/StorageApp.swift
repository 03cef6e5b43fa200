// Only these imports, as on iOS: SwiftUI brings UIKit, Foundation and Observation.
import BackgroundTasks
import SwiftUI
import os.lock
import os.log
import os.signpost

enum Mode: String { case quiet, loud }

/// The macro needs Observation, which this file does not import.
@Observable final class Feed {
    var items = 0
}

final class Model: ObservableObject {
    @Published var launches = 0
    init() { print("the model is made") }
}

final class Counter: @unchecked Sendable {
    private var lock = os_unfair_lock()
    private var count = 0

    func add() {
        os_unfair_lock_lock(&lock)
        defer { os_unfair_lock_unlock(&lock) }
        os_unfair_lock_assert_owner(&lock)
        count += 1
    }

    var value: Int {
        os_unfair_lock_lock(&lock)
        defer { os_unfair_lock_unlock(&lock) }
        return count
    }

    /// Whether another thread finds the lock held, and then free.
    func tryElsewhere() async -> (held: Bool, free: Bool) {
        let lock = os_unfair_lock_t.allocate(capacity: 1)
        lock.initialize(to: os_unfair_lock())
        nonisolated(unsafe) let shared = lock
        @Sendable func isFree() -> Bool {
            guard os_unfair_lock_trylock(shared) else { return false }
            os_unfair_lock_unlock(shared)
            return true
        }
        let answers = DispatchQueue(label: "lock").sync { () -> (Bool, Bool) in
            os_unfair_lock_lock(shared)
            let held = onAnotherThread(isFree)
            os_unfair_lock_unlock(shared)
            os_unfair_lock_assert_not_owner(shared)
            return (!held, onAnotherThread(isFree))
        }
        lock.deallocate()
        return answers
    }

    private func onAnotherThread(_ body: @escaping @Sendable () -> Bool) -> Bool {
        nonisolated(unsafe) var answer = false
        let done = DispatchSemaphore(value: 0)
        Thread {
            answer = body()
            done.signal()
        }.start()
        done.wait()
        return answer
    }
}

@main
struct StorageApp: App {
    @AppStorage("launches") private var launches = 0
    @AppStorage("mode") private var mode = Mode.quiet
    @AppStorage("name") private var name: String?
    @StateObject private var model = Model()
    @State private var feed = Feed()
    @Environment(\.scenePhase) private var phase

    private static let log = Logger(subsystem: "org.example.modernstorage", category: "storage")

    var body: some Scene {
        WindowGroup {
            ContentView()
                .environmentObject(model)
                .environment(feed)
        }
        .onChange(of: phase) {
            model.launches += 1
            print("the same model: \(model.launches)")
        }
        .backgroundTask(.appRefresh("org.example.modernstorage.refresh")) { await refresh() }
        .backgroundTask(.appRefresh("org.example.modernstorage.locks")) { await locks() }
    }

    @MainActor private func refresh() async {
        print("stored: \(launches), \(mode), \(name ?? "none")")
        launches += 1
        mode = mode == .quiet ? .loud : .quiet
        $name.wrappedValue = name == nil ? "kept" : nil

        withObservationTracking {
            _ = feed.items
        } onChange: {
            print("the feed changes")
        }
        feed.items += 1

        let problem: (any Error)? = CocoaError(.fileNoSuchFile)
        let none: (any Error)? = nil
        Self.log.error("problem: \(problem is CocoaError), none: \(none, privacy: .public)")
        Self.log.error("private: \(problem)")

        guard let url = URL(string: UIApplication.openSettingsURLString) else { return }
        print("opened: \(await UIApplication.shared.open(url))")
        await withCheckedContinuation { done in
            UIApplication.shared.open(url, options: [:]) { isOpen in
                print("on the main thread: \(Thread.isMainThread), opened: \(isOpen)")
                done.resume()
            }
        }
    }

    private nonisolated func locks() async {
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<20_000 { counter.add() } } }
        }
        let other = await counter.tryElsewhere()
        print("counted: \(counter.value), held: \(other.held), free: \(other.free)")
    }
}

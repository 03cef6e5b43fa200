import BackgroundTasks
import SwiftUI

// An app with scenes in the Swift 6 language mode, and with a model on the main actor.
@MainActor
final class Model {
    private(set) var refreshes = 0

    func refresh() async {
        refreshes += 1
        await Task.yield()
        print("refreshed \(refreshes) times, on the main thread: \(Thread.isMainThread)")
    }

    func schedule() {
        let request = BGAppRefreshTaskRequest(identifier: "org.example.modernscene.refresh")
        request.earliestBeginDate = .now + 3600
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            print("refused: \(error.localizedDescription)")
        }
    }
}

@main
struct ModernSceneApp: App {
    @Environment(\.scenePhase) private var phase
    private let model = Model()

    var body: some Scene {
        WindowGroup {
            Text("Never shown")
        }
        .onChange(of: phase) { _, new in
            if new == .background { model.schedule() }
        }
        .backgroundTask(.appRefresh("org.example.modernscene.refresh")) {
            await model.refresh()
            await model.schedule()
        }
    }
}

import BackgroundTasks
import SwiftUI

func scheduleAppRefresh() {
    let request = BGAppRefreshTaskRequest(identifier: "org.example.scene.refresh")
    request.earliestBeginDate = Calendar.current.date(byAdding: .hour, value: 1, to: .now)
    try? BGTaskScheduler.shared.submit(request)
}

struct ContentView: View {
    var body: some View {
        Text("Weather")
    }
}

@main
struct SceneApp: App {
    @Environment(\.scenePhase) private var phase

    var body: some Scene {
        WindowGroup {
            ContentView()
        }
        .onChange(of: phase) { newPhase in
            switch newPhase {
            case .background: scheduleAppRefresh()
            default: break
            }
        }
        .backgroundTask(.appRefresh("org.example.scene.refresh")) {
            print("refreshing \(Bundle.main.bundleIdentifier ?? "nobody")")
            scheduleAppRefresh()
            await Task.yield()
        }
        .backgroundTask(.appRefresh("org.example.scene.slow")) {
            await withTaskCancellationHandler {
                print("slow begins")
                try? await Task.sleep(nanoseconds: 60_000_000_000)
                print("slow ends, cancelled: \(Task.isCancelled)")
            } onCancel: {
                print("slow is cancelled")
            }
        }
        .backgroundTask(.appRefresh) { identifier in
            print("any other: \(identifier ?? "none")")
        }
    }
}

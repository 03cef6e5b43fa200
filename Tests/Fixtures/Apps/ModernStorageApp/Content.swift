import SwiftUI

// The content of a window with the modifiers that tutorials put on it. It is never evaluated.
struct ContentView: View {
    @Environment(\.scenePhase) private var phase
    @Environment(Feed.self) private var feed
    @EnvironmentObject private var model: Model

    var body: some View {
        Text("Feed")
            .padding()
            .onAppear { feed.items += model.launches }
            .onChange(of: phase) { old, new in print("\(old) \(new)") }
            .onChange(of: feed.items) { print("items") }
            .task { await load() }
            .task(id: feed.items) { await load() }
            .onOpenURL { url in print(url) }
    }

    private func load() async {}
}

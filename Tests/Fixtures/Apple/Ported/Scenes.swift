import Foundation
import UIKit.UIApplication
import class UIKit.UIDevice
import os.log

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if canImport(Combine)
    import Combine
#endif
#if os(macOS) || os(Linux)
    let activity = NSBackgroundActivityScheduler(identifier: "com.example.feed.tidy")
#endif

// import Combine; NWPathMonitor() in a comment is no use, and neither are these names of the app's own.
enum Icon { case `import`, autoreleasepool }

struct Store {
    let data: [String: Data]
    func publisher(for name: String) -> String { name }

    func load(_ url: URL) async throws -> Data {
        let text = "import UserNotificationsUI, UNLocationNotificationTrigger"
        _ = (text, Icon.import, Icon.autoreleasepool)
        #if canImport(ObjectiveC)
            autoreleasepool { trim() }
        #endif
        let session = URLSession(configuration: .default)
        session.downloadTask(with: url) { _, _, _ in }.resume()
        return try await session.data(from: url).0
    }
}

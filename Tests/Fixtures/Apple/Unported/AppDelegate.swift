import UIKit
#if os(iOS)
    import BackgroundTasks
#endif

final class AppDelegate: NSObject {
    @objc func refresh() {}

    func register() {
        #if os(macOS)
            print("no tasks")
        #elseif os(iOS) && !targetEnvironment(macCatalyst)
            BGTaskScheduler.shared.register(
                forTaskWithIdentifier: "com.example.feed.refresh", using: q, launchHandler: h)
        #endif
        let timer = Timer(timeInterval: 1, target: self, selector: #selector(refresh), userInfo: nil)
        UIApplication.shared.setMinimumBackgroundFetchInterval(3600)
        progress.observe(\.fractionCompleted) { _, _ in }
        label.addObserver(self, forKeyPath: #keyPath(UILabel.text), context: nil)
    }
}

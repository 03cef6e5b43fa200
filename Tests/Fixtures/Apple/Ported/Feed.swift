import BackgroundTasks

#if canImport(UIKit)
    import UIKit
#endif

#if canImport(ObjectiveC)
    @objc final class Bridge: NSObject {}
#endif

/// "#if os(iOS)" in a comment is no directive, /* and neither is @objc in a nested one */.
enum Identifiers: String {
    case refresh = "com.example.feed.refresh"
    case clean = "com.example.feed.clean"
}

struct Feed {
    static let pattern = #"@objc "quoted" #selector \(not) an interpolation"#
    let text = """
        #if os(iOS)
        @objc \(names.map { "\($0) @objc" }.joined())
        """
    let expression = /"@objc[^"]/
    let `default` = 4 / 2

    func register(with scheduler: BGTaskScheduler) {
        scheduler.register(forTaskWithIdentifier: Identifiers.refresh.rawValue, using: nil) { task in
            refresh(task as! BGAppRefreshTask)
        }
        scheduler.register(forTaskWithIdentifier: Identifiers.clean.rawValue, using: .main) { task in
            clean(task as! BGProcessingTask)
        }
        scheduler.register(forTaskWithIdentifier: "com.example.feed.export.*", using: nil) { task in
            export(task as! BGContinuedProcessingTask)
        }
    }

    func start() throws {
        #if os(iOS)
            let name = UIDevice.current.name
        #elseif os(Linux)
            let name = "Linux"
        #endif
        #if os(Linux)
            try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "com.example.feed.refresh"))
        #else
            try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "com.example.feed.refresh"))
        #endif
        _ = BGContinuedProcessingTaskRequest(
            identifier: "com.example.feed.export.\(UUID())", title: name, subtitle: "")
    }
}

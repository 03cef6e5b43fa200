extension TemplateNames {
    /// The files of a plugin in Swift: a package with one source file, a manifest and a test.
    ///
    /// - Parameter sdk: The directory of the package that the plugin depends on.
    /// - Returns: The files, in the order in which they are written.
    func swiftFiles(sdk: String) -> [TemplateFile] {
        [
            TemplateFile(path: "Package.swift", text: package(sdk)),
            TemplateFile(path: "Sources/\(name)/\(name).swift", text: swiftSource),
            TemplateFile(path: "Tests/\(name)Tests/\(name)Tests.swift", text: swiftTest),
            TemplateFile(path: "\(name).yaml", text: swiftManifest),
            TemplateFile(path: "README.md", text: swiftReadme),
            TemplateFile(path: ".gitignore", text: ".build/\n"),
        ]
    }

    private func package(_ sdk: String) -> String {
        let identity = sdk.split(separator: "/").last.map(String.init) ?? sdk
        let path = sdk.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "\(name)",
                products: [.library(name: "\(name)", type: .dynamic, targets: ["\(name)"])],
                dependencies: [.package(path: "\(path)")],
                targets: [
                    // A file that imports SwiftUI, UIKit, UserNotifications, OSLog or os needs that product
                    // beside BackgroundTasks; os is in OSLog. Background sessions of URLSession need the
                    // trait BackgroundTransfers in the dependency above: .package(path: "...", traits:
                    // ["BackgroundTransfers"])
                    .target(
                        name: "\(name)", dependencies: [.product(name: "BackgroundTasks", package: "\(identity)")],
                        swiftSettings: [
                            // The test program has its own 'main', so the plugin's '@main' gets another name,
                            // which the runner also finds.
                            .unsafeFlags([
                                "-Xfrontend", "-entry-point-function-name", "-Xfrontend", "bgtask_app_main",
                            ])
                        ]),
                    .testTarget(
                        name: "\(name)Tests",
                        dependencies: [
                            "\(name)", .product(name: "BackgroundTasksTesting", package: "\(identity)"),
                        ]),
                ]
            )

            """
    }

    private var swiftSource: String {
        """
        import BackgroundTasks

        @main
        struct \(type): BackgroundPlugin {
            static let refresh = "\(bundle).refresh"

            static func registerHandlers(with scheduler: BGTaskScheduler) {
                scheduler.register(forTaskWithIdentifier: refresh, using: nil) { task in
                    // Called when the host asks the task to stop.
                    task.expirationHandler = { task.setTaskCompleted(success: false) }
                    print(summary(of: ["one", "two"]))
                    submitNext()
                    task.setTaskCompleted(success: true)
                }
            }

            /// Called after the plugin was installed or changed, and by `bgtask open`; submits the first
            /// request.
            static func didEnterBackground() { submitNext() }

            /// Requests the next launch, 15 minutes from now at the earliest; the host decides when it
            /// begins.
            static func submitNext() {
                let request = BGAppRefreshTaskRequest(identifier: refresh)
                request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
                do {
                    try BGTaskScheduler.shared.submit(request)
                } catch {
                    print("not submitted: \\(error)")
                }
            }

            /// Replace this function with your work.
            static func summary(of items: [String]) -> String { "\\(items.count) items are new" }
        }

        """
    }

    private var swiftTest: String {
        """
        import BackgroundTasksTesting
        import Testing

        @testable import \(name)

        @Suite(.timeLimit(.minutes(1))) struct \(type)Tests {
            @Test func `a launch succeeds and requests the next one`() async throws {
                try await withTestApp(permitting: [\(type).refresh: .appRefresh]) { app in
                    app.start(\(type).self)
                    let launch = try app.launch(\(type).refresh)
                    #expect(await launch.ended() == .completed(success: true))
                    #expect(app.pending.map(\\.identifier) == [\(type).refresh])
                }
            }

            @Test func `the summary counts`() {
                #expect(\(type).summary(of: ["a", "b"]) == "2 items are new")
            }
        }

        """
    }

    private var swiftManifest: String {
        """
        apiVersion: bgtask/v1
        bundle: \(bundle)
        library: \(library)
        modes: [fetch]
        tasks:
          - identifier: \(bundle).refresh
            kind: appRefresh

        """
    }

    private var swiftReadme: String {
        """
        # \(name)

        A background task for bgtask: `swift test` tests it, `bgtask dev --watch` builds and runs it whenever a file changes.

        """
    }
}

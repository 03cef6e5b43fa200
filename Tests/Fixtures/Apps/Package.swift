// swift-tools-version: 6.2
//
// Handlers for the tests, written for iOS from Apple's documentation alone. They are built as plugins in
// Swift 5 mode, the modern ones in Swift 6 mode. The package is like a user's: `Tests/IntegrationTests` runs
// its products under a real host.
import PackageDescription

let apps = [
    "RetrofittedApp", "SceneApp", "DelegateApp", "RulesApp", "FeaturesApp", "LogApp", "ConditionsApp",
    "AdaptorApp", "ProcessActivitiesApp", "RequestsApp", "ModernApp", "ModernSceneApp",
    "SubmittingApp", "EndingApp", "ExportApp", "ActivityApp", "HabitsApp", "WindowApp", "ModernStorageApp",
    "CorpusApp", "NotificationsApp",
]
let frameworks = ["BackgroundTasks", "UIKit", "SwiftUI", "OSLog", "UserNotifications", "Network"]

/// A test program already has a `main`, so the app's is renamed to `bgtask_app_main`, which the runner also
/// looks for.
let launchCodeBesideTests = SwiftSetting.unsafeFlags([
    "-Xfrontend", "-entry-point-function-name", "-Xfrontend", "bgtask_app_main",
])

/// The settings of modern apps: the Swift 6 language mode; a warning from an imported module is an error.
let swift6: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

func settings(of app: String) -> [SwiftSetting] {
    if app.hasPrefix("Modern") { return swift6 }
    return app == "RulesApp" ? [launchCodeBesideTests] : []
}

let package = Package(
    name: "Apps",
    products: apps.map { .library(name: $0, type: .dynamic, targets: [$0]) },
    dependencies: [.package(path: "../../../Sources/SDK", traits: ["BackgroundTransfers"])],
    targets: apps.map {
        .target(
            name: $0, dependencies: frameworks.map { .product(name: $0, package: "SDK") }, path: $0,
            swiftSettings: settings(of: $0))
    }
        + ["DesktopApp", "ClientApp"].map {
            .executableTarget(
                name: $0, dependencies: [.product(name: "BackgroundTasks", package: "SDK")], path: $0)
        } + [
            .testTarget(
                name: "HandlerTests",
                dependencies: ["RulesApp"]
                    + ["BackgroundTasksTesting", "Network"].map { .product(name: $0, package: "SDK") },
                path: "HandlerTests")
        ],
    swiftLanguageModes: [.v5]
)

// swift-tools-version: 6.2
//
// Handlers for the tests, written as for iOS, to Apple's documentation alone, and built as plugins in Swift 5 mode. A
// package as a user would have it: `Tests/IntegrationTests` builds it, and runs what it made under a real host.
import PackageDescription

let apps = ["RetrofittedApp", "SceneApp", "DelegateApp", "RulesApp", "FeaturesApp"]
let frameworks = ["BackgroundTasks", "UIKit", "SwiftUI", "OSLog"]

/// A package with tests has a `main` already: the app's gets the other name that the runner looks for.
let launchCodeBesideTests = SwiftSetting.unsafeFlags([
    "-Xfrontend", "-entry-point-function-name", "-Xfrontend", "bgtask_app_main",
])

let package = Package(
    name: "Apps",
    products: apps.map { .library(name: $0, type: .dynamic, targets: [$0]) },
    dependencies: [.package(path: "../../../Sources/SDK")],
    targets: apps.map {
        .target(
            name: $0, dependencies: frameworks.map { .product(name: $0, package: "SDK") }, path: $0,
            swiftSettings: $0 == "RulesApp" ? [launchCodeBesideTests] : [])
    } + [
        .executableTarget(
            name: "DesktopApp", dependencies: [.product(name: "BackgroundTasks", package: "SDK")],
            path: "DesktopApp"),
        .testTarget(
            name: "HandlerTests",
            dependencies: ["RulesApp", .product(name: "BackgroundTasksTesting", package: "SDK")],
            path: "HandlerTests"),
    ],
    swiftLanguageModes: [.v5]
)

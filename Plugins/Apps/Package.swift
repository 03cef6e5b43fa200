// swift-tools-version: 6.2
//
// Shipped plugins, written as an iOS developer would write them. Like a user's package, this one depends only
// on the SDK.
import PackageDescription

/// A test program already has a `main`, so the app's own gets the other name that the runner looks for.
let launchCodeBesideTests = SwiftSetting.unsafeFlags([
    "-Xfrontend", "-entry-point-function-name", "-Xfrontend", "bgtask_app_main",
])

/// SwiftPM links all tests of a package into one program, together with the launch code of each plugin.
///
/// The tests call none of that code, so several definitions do no harm.
let severalLaunchCodes = LinkerSetting.unsafeFlags(["-Xlinker", "--allow-multiple-definition"])

let frameworks: [Target.Dependency] = ["BackgroundTasks", "OSLog", "SwiftUI"].map {
    .product(name: $0, package: "SDK")
}

func plugin(_ name: String) -> [Target] {
    [
        .target(name: name, dependencies: frameworks, path: name, swiftSettings: [launchCodeBesideTests]),
        .testTarget(
            name: name + "Tests",
            dependencies: [
                .target(name: name), .product(name: "BackgroundTasksTesting", package: "SDK"),
            ],
            path: name + "Tests", linkerSettings: [severalLaunchCodes]),
    ]
}

let plugins = ["DirectoryExport", "FeedDigest", "MirrorKeeper"]

let package = Package(
    name: "ShippedApps",
    products: plugins.map { .library(name: $0, type: .dynamic, targets: [$0]) },
    dependencies: [.package(path: "../../Sources/SDK")],
    targets: plugins.flatMap(plugin),
    swiftLanguageModes: [.v6]
)

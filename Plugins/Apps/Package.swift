// swift-tools-version: 6.2
//
// Plugins that are shipped, written as an iOS developer would: a package as a user's, which depends on the
// SDK alone.
import PackageDescription

/// A package with tests has a `main` already: the app's gets the other name that the runner looks for.
let launchCodeBesideTests = SwiftSetting.unsafeFlags([
    "-Xfrontend", "-entry-point-function-name", "-Xfrontend", "bgtask_app_main",
])

/// All tests of a package are linked into one program, and with them the launch code of each plugin: none is
/// called there.
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

// swift-tools-version: 6.2
// The package for plugins and apps. It is separate from the host's package for two reasons: authors of
// plugins need not build the host, and a module with the name `os` in the host's build folder would satisfy
// `#if canImport(os)` in packages that the host uses (Documentation/Decisions/0004).
import PackageDescription

/// The same settings as in the host's package: warnings are errors, and all modules are checked for data
/// races.
let swiftSettings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Opt-in for background sessions of `URLSession`, because Foundation's part for networks comes with them: a
/// process that is cloned with it starts later and needs more memory (Documentation/Decisions/0061).
let transfers = "BackgroundTransfers"

let package = Package(
    name: "SDK",
    products: [
        .library(name: "BackgroundTasks", targets: ["BackgroundTasks"]),
        .library(name: "BackgroundTasksTesting", targets: ["BackgroundTasksTesting"]),
        .library(name: "CHandlerABI", targets: ["CHandlerABI"]),
        .library(name: "Network", targets: ["Network"]),
        .library(name: "OSLog", targets: ["OSLog", "os"]),
        .library(name: "UIKit", targets: ["UIKit"]),
        .library(name: "SwiftUI", targets: ["SwiftUI"]),
        .library(name: "UserNotifications", targets: ["UserNotifications"]),
    ],
    traits: [
        .trait(
            name: transfers, description: "Background sessions of URLSession, whose transfers the host makes."
        )
    ],
    targets: [
        .target(name: "CHandlerABI", path: "CHandlerABI"),
        .target(name: "CObjects", path: "CObjects"),
        .target(name: "CLocks", path: "CLocks"),
        // The names after the dot in `import os.log` and `import UIKit.UIApplication`.
        .target(name: "AppleSubmodules", path: "AppleSubmodules"),
        // The host's package also builds this target, for the command line.
        .target(name: "ControlChannel", path: "ControlChannel", swiftSettings: swiftSettings),
        .target(
            name: "BackgroundTasksTesting", dependencies: ["BackgroundTasks"], path: "BackgroundTasksTesting",
            swiftSettings: swiftSettings),
        .target(
            name: "BackgroundTasks",
            dependencies: [
                "CHandlerABI", "ControlChannel",
                .target(name: "FoundationSessions", condition: .when(traits: [transfers])),
            ], path: "BackgroundTasks", swiftSettings: swiftSettings),
        .target(name: "FoundationSessions", path: "FoundationSessions", swiftSettings: swiftSettings),
        .target(
            name: "UIKit", dependencies: ["AppleSubmodules", "BackgroundTasks", "CObjects"], path: "UIKit",
            swiftSettings: swiftSettings),
        .target(
            name: "SwiftUI", dependencies: ["BackgroundTasks", "UIKit"], path: "SwiftUI",
            swiftSettings: swiftSettings),
        .target(
            name: "os", dependencies: ["AppleSubmodules", "BackgroundTasks", "CLocks"], path: "os",
            swiftSettings: swiftSettings),
        .target(
            name: "UserNotifications", dependencies: ["BackgroundTasks"], path: "UserNotifications",
            swiftSettings: swiftSettings),
        .target(
            name: "Network", dependencies: ["BackgroundTasks"], path: "Network", swiftSettings: swiftSettings),
        .target(
            name: "OSLog", dependencies: ["BackgroundTasks", "os"], path: "OSLog",
            swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c17
)

// swift-tools-version: 6.2
//
// The folders under Sources/ are the layers of Documentation/Architecture.md; the last folder of a path is the
// target's name. Which target may import which is held by .ci/layers, who may import a package by .ci/check.
import PackageDescription

/// Swift settings of every target: warnings are errors, everything is checked for data races.
let swiftSettings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Swift settings of the targets that decide: optimized in every build, because tests and simulations play them for years of
/// virtual time; still testable.
let decidingSettings = swiftSettings + [.unsafeFlags(["-O"])]

/// C settings of every target.
let cSettings: [CSetting] = [
    .treatAllWarnings(as: .error),
    .enableWarning("all"),
    .enableWarning("extra"),
]

/// Links a C executable or library with libc alone.
///
/// SwiftPM links C targets with the Swift driver, which adds the Swift runtime, libstdc++ and a run path into the
/// toolchain; in this mode it adds none of them (a spawn costs 615 us instead of 1680). `LinkageTests` holds it.
let withoutSwiftRuntime: LinkerSetting = .unsafeFlags(["-enable-experimental-feature", "Embedded"])

/// Exports a plugin's entry function and nothing else; found from the package, wherever it is checked out.
let exportsEntryOnly: LinkerSetting = .unsafeFlags([
    "-Xlinker", "--version-script=\(Context.packageDirectory)/Plugins/exports.map",
])

let package = Package(
    name: "bgtask",
    products: [
        .executable(name: "bgtaskd", targets: ["bgtaskd"]),
        .executable(name: "bgtask", targets: ["bgtask"]),
        .executable(name: "bgtask-runner", targets: ["bgtask-runner"]),
        .library(name: "CHandlerABI", targets: ["CHandlerABI"]),
        .library(name: "ControlClient", targets: ["ControlClient"]),
        // What Benchmarks/ measures from a package of its own.
        .library(
            name: "HostLibraries",
            targets: [
                "LinuxSystem", "Launching", "Recording", "RequestStore", "RunnerWire", "Scheduling",
                "Simulation",
                "TaskModel",
            ]),
        .library(name: "FeedRefresher", type: .dynamic, targets: ["FeedRefresher"]),
        .library(name: "TreeHasher", type: .dynamic, targets: ["TreeHasher"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        // Without its traits: the files are read by StrictFiles, which says where a mistake is.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // MARK: Model
        .target(name: "TaskModel", path: "Sources/Model/TaskModel", swiftSettings: decidingSettings),

        // MARK: Linux
        .target(name: "CLinuxShims", path: "Sources/Linux/CLinuxShims", cSettings: cSettings),
        .target(
            name: "LinuxSystem", dependencies: ["CLinuxShims", "TaskModel"],
            path: "Sources/Linux/LinuxSystem",
            swiftSettings: swiftSettings),

        // MARK: Wire
        .target(
            name: "RunnerWire", dependencies: ["TaskModel"], path: "Sources/Wire/RunnerWire",
            swiftSettings: swiftSettings),
        .target(
            name: "ControlWire", dependencies: ["TaskModel"], path: "Sources/Wire/ControlWire",
            swiftSettings: swiftSettings),

        // MARK: Runner
        .systemLibrary(
            name: "CFFI", path: "Sources/Runner/CFFI", pkgConfig: "libffi", providers: [.apt(["libffi-dev"])]),
        .systemLibrary(
            name: "CSeccomp", path: "Sources/Runner/CSeccomp", pkgConfig: "libseccomp",
            providers: [.apt(["libseccomp-dev"])]),
        .executableTarget(
            name: "bgtask-runner", dependencies: ["CHandlerABI", "CFFI", "CSeccomp"],
            path: "Sources/Runner/bgtask-runner", cSettings: cSettings + [.define("_GNU_SOURCE")],
            linkerSettings: [withoutSwiftRuntime]),

        // MARK: SDK
        .target(name: "CHandlerABI", path: "Sources/SDK/CHandlerABI", cSettings: cSettings),
        // The SDK's package builds it too, for plugins and apps.
        .target(name: "ControlChannel", path: "Sources/SDK/ControlChannel", swiftSettings: swiftSettings),
        .target(
            name: "ControlClient",
            dependencies: [
                "ControlChannel", "ControlWire", "LinuxSystem", "TaskModel",
            ],
            path: "Sources/SDK/ControlClient", swiftSettings: swiftSettings),

        // MARK: Host
        .target(
            name: "Calendars", dependencies: ["TaskModel"], path: "Sources/Host/Calendars",
            swiftSettings: swiftSettings),
        .target(
            name: "StrictFiles",
            dependencies: ["LinuxSystem", "TaskModel", .product(name: "Yams", package: "Yams")],
            path: "Sources/Host/StrictFiles", swiftSettings: swiftSettings),
        // Optimized in every build: a debug build's digest of a plugin took seconds, which its developer waits for.
        .target(
            name: "Digests", path: "Sources/Host/Digests",
            swiftSettings: swiftSettings + [.unsafeFlags(["-O"])]),
        .target(
            name: "HandlerRegistry",
            dependencies: [
                "Calendars", "Digests", "LinuxSystem", "RunnerWire", "StrictFiles", "TaskModel",
            ],
            path: "Sources/Host/HandlerRegistry", swiftSettings: swiftSettings),
        .target(
            name: "Authoring",
            dependencies: ["HandlerRegistry", "LinuxSystem", "StrictFiles", "TaskModel"],
            path: "Sources/Host/Authoring", swiftSettings: swiftSettings),
        .target(
            name: "RequestStore",
            dependencies: ["LinuxSystem", "TaskModel", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Sources/Host/RequestStore", swiftSettings: swiftSettings),
        .target(
            name: "Scheduling",
            dependencies: ["TaskModel", .product(name: "HeapModule", package: "swift-collections")],
            path: "Sources/Host/Scheduling", swiftSettings: decidingSettings),
        .target(
            name: "HostSettings",
            dependencies: [
                "LinuxSystem", "Scheduling", "StrictFiles", "TaskModel",
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            path: "Sources/Host/HostSettings", swiftSettings: swiftSettings),
        .target(
            name: "SystemConditions", dependencies: ["LinuxSystem", "TaskModel"],
            path: "Sources/Host/SystemConditions", swiftSettings: swiftSettings),
        .target(
            name: "Launching",
            dependencies: [
                "LinuxSystem", "RunnerWire", "TaskModel",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources/Host/Launching", swiftSettings: swiftSettings),
        .target(
            name: "Recording", dependencies: ["ControlWire", "LinuxSystem", "Scheduling", "TaskModel"],
            path: "Sources/Host/Recording", swiftSettings: swiftSettings),
        .target(
            name: "Simulation",
            dependencies: [
                "Recording", "Scheduling", "TaskModel",
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            path: "Sources/Host/Simulation", swiftSettings: swiftSettings),
        .target(
            name: "HostCore",
            dependencies: [
                "ControlWire", "HandlerRegistry", "HostSettings", "Launching", "RequestStore", "Scheduling",
                "TaskModel", .product(name: "DequeModule", package: "swift-collections"),
            ],
            path: "Sources/Host/HostCore", swiftSettings: decidingSettings),
        .target(
            name: "TaskHost",
            dependencies: [
                "Calendars", "HandlerRegistry", "HostCore", "HostSettings", "Launching", "LinuxSystem",
                "Recording", "RequestStore", "Scheduling", "SystemConditions", "TaskModel",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Sources/Host/TaskHost", swiftSettings: swiftSettings),
        .target(
            name: "ControlServer",
            dependencies: [
                "ControlWire", "LinuxSystem", "StrictFiles", "TaskModel",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Sources/Host/ControlServer", swiftSettings: swiftSettings),

        // MARK: Commands
        .executableTarget(
            name: "bgtaskd",
            dependencies: [
                "ControlServer", "HostSettings", "LinuxSystem", "RequestStore", "TaskHost", "TaskModel",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Sources/Commands/bgtaskd", swiftSettings: swiftSettings),
        .executableTarget(
            name: "bgtask", dependencies: ["BgtaskCommands"], path: "Sources/Commands/bgtask",
            swiftSettings: swiftSettings),
        .target(
            name: "BgtaskCommands",
            dependencies: [
                "Authoring", "Calendars", "ControlClient", "ControlWire", "HandlerRegistry", "HostSettings",
                "LinuxSystem", "Recording", "Scheduling", "Simulation", "TaskModel",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/Commands/BgtaskCommands", swiftSettings: swiftSettings),

        // MARK: Plugins
        .systemLibrary(
            name: "CSQLite", path: "Plugins/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .target(
            name: "TreeHasher", dependencies: ["CHandlerABI"], path: "Plugins/TreeHasher",
            cSettings: cSettings + [.define("_GNU_SOURCE")],
            linkerSettings: [withoutSwiftRuntime, exportsEntryOnly]),
        .target(
            name: "FeedRefresher", dependencies: ["CHandlerABI", "CSQLite"], path: "Plugins/FeedRefresher",
            swiftSettings: swiftSettings, linkerSettings: [exportsEntryOnly]),

        // MARK: Tests
        .target(
            name: "TaskHostTestSupport",
            dependencies: ["HandlerRegistry", "LinuxSystem", "RequestStore", "Scheduling", "TaskModel"],
            path: "Tests/Support/TaskHostTestSupport", swiftSettings: decidingSettings),
        // Uses a store from a process that a test can kill; never shipped.
        .executableTarget(
            name: "store-exerciser", dependencies: ["RequestStore", "TaskModel"],
            path: "Tests/Support/store-exerciser", swiftSettings: swiftSettings),
        .testTarget(name: "TaskModelTests", dependencies: ["TaskModel"], swiftSettings: swiftSettings),
        .testTarget(
            name: "CalendarsTests", dependencies: ["Calendars", "TaskModel"], swiftSettings: swiftSettings),
        .testTarget(
            name: "LinuxSystemTests", dependencies: ["LinuxSystem", "TaskHostTestSupport", "TaskModel"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "RunnerWireTests", dependencies: ["RunnerWire", "TaskModel"], swiftSettings: swiftSettings),
        .testTarget(
            name: "RunnerTests",
            dependencies: ["LinuxSystem", "RunnerWire", "TaskHostTestSupport", "TaskModel", "bgtask-runner"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HandlerRegistryTests",
            dependencies: [
                "Digests", "HandlerRegistry", "LinuxSystem", "RunnerWire", "TaskHostTestSupport", "TaskModel",
                "bgtask-runner",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "AuthoringTests",
            dependencies: [
                "Authoring", "HandlerRegistry", "LinuxSystem", "TaskHostTestSupport", "TaskModel", "bgtask",
                "bgtaskd", "bgtask-runner",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "RequestStoreTests",
            dependencies: [
                "LinuxSystem", "RequestStore", "TaskHostTestSupport", "TaskModel", "store-exerciser",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "SchedulingTests", dependencies: ["Scheduling", "TaskHostTestSupport", "TaskModel"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["Recording", "Scheduling", "Simulation", "TaskHostTestSupport", "TaskModel"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HostSettingsTests",
            dependencies: ["HostSettings", "LinuxSystem", "Scheduling", "TaskHostTestSupport", "TaskModel"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "SystemConditionsTests",
            dependencies: ["LinuxSystem", "SystemConditions", "TaskHostTestSupport", "TaskModel"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "LaunchingTests",
            dependencies: [
                "Launching", "LinuxSystem", "RunnerWire", "TaskHostTestSupport", "TaskModel", "bgtask-runner",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "ControlTests",
            dependencies: [
                "BgtaskCommands", "ControlChannel", "ControlClient", "ControlServer", "ControlWire",
                "LinuxSystem",
                "TaskHostTestSupport", "TaskModel", "bgtask",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HostCoreTests",
            dependencies: [
                "HandlerRegistry", "HostCore", "HostSettings", "Launching", "RequestStore", "Scheduling",
                "TaskHostTestSupport", "TaskModel",
            ],
            swiftSettings: decidingSettings),
        .testTarget(
            name: "TaskHostTests", dependencies: ["Scheduling", "TaskHost", "TaskModel"],
            swiftSettings: swiftSettings),
        .testTarget(name: "LinkageTests", swiftSettings: swiftSettings),
        .testTarget(
            name: "PluginTests", dependencies: ["CHandlerABI", "CSQLite", "HandlerRegistry", "TaskModel"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "ControlClient", "ControlWire", "LinuxSystem", "TaskHostTestSupport", "TaskModel", "bgtask",
                "bgtaskd", "bgtask-runner",
            ],
            swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c17
)

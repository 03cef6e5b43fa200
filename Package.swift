// swift-tools-version: 6.2
//
// The folders under Sources/ are the layers of Documentation/Architecture.md. The last folder of a target's
// path is its name. .ci/layers limits which target may import which, and .ci/check which targets may import a
// package.
import PackageDescription

/// The Swift settings of every target: warnings are errors, and the compiler checks for data races.
let swiftSettings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The Swift settings of targets that make decisions: every build optimizes them.
///
/// Tests and simulations run these targets through years of virtual time. Their internals stay visible to
/// tests.
let optimized: [SwiftSetting] = [.unsafeFlags(["-O"])]

/// The C settings of every target.
let cSettings: [CSetting] = [
    .treatAllWarnings(as: .error),
    .enableWarning("all"),
    .enableWarning("extra"),
]

/// Links a C executable or library with libc alone.
///
/// SwiftPM links C targets with the Swift driver, which adds the Swift runtime, libstdc++ and a run path into
/// the toolchain. In embedded mode the driver adds none of them, and a spawn takes 615 us instead of 1,680
/// us. `LinkageTests` checks this.
let withoutSwiftRuntime: LinkerSetting = .unsafeFlags(["-enable-experimental-feature", "Embedded"])

/// Links a release of a program with everything that it uses, C library included.
///
/// This is for programs that load nothing at run time. `bgtask` starts in 3.7 ms instead of 14 ms
/// (Documentation/Decisions/0009).
let fullyStatic: [LinkerSetting] = [
    .unsafeFlags(["-static-executable"], .when(configuration: .release)),
    // A static FoundationEssentials needs these libraries and names them itself. The dynamic one, of a
    // release build without --static-swift-stdlib, does not name them.
    .linkedLibrary("_FoundationCShims", .when(configuration: .release)),
    .linkedLibrary("_FoundationCollections", .when(configuration: .release)),
    .linkedLibrary("swiftSynchronization", .when(configuration: .release)),
]

/// Leaves the names of all functions out of a release of a program that loads no libraries.
///
/// The driver exports them from a program with a static Swift runtime, so that plugins could use them. The
/// host then has 92.1 MB instead of 87.4 MB.
let exportsNothing: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "--no-export-dynamic"], .when(configuration: .release))
]

/// Exports a plugin's entry function and nothing else; found from the package, wherever it is checked out.
let exportsEntryOnly: LinkerSetting = .unsafeFlags([
    "-Xlinker", "--version-script=\(Context.packageDirectory)/Plugins/exports.map",
])

// MARK: Packages

func product(_ name: String, of package: String) -> Target.Dependency {
    .product(name: name, package: package)
}

let argumentParser = product("ArgumentParser", of: "swift-argument-parser")
let configuration = product("Configuration", of: "swift-configuration")
let database = product("GRDB", of: "GRDB.swift")
let deque = product("DequeModule", of: "swift-collections")
let heap = product("HeapModule", of: "swift-collections")
let logging = product("Logging", of: "swift-log")
let serviceLifecycle = product("ServiceLifecycle", of: "swift-service-lifecycle")
let nio = ["NIOCore", "NIOPosix"].map { product($0, of: "swift-nio") }
let nioHTTP = product("NIOHTTP1", of: "swift-nio")
let nioTLS = product("NIOSSL", of: "swift-nio-ssl")
let hummingbird = ["Hummingbird", "HummingbirdCore"].map { product($0, of: "hummingbird") }

// MARK: Kinds of targets

/// A Swift module at `LAYER/NAME`.
func module(
    _ name: String, in layer: String, uses dependencies: [Target.Dependency] = [],
    settings: [SwiftSetting] = [], links: [LinkerSetting] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "\(layer)/\(name)",
        swiftSettings: swiftSettings + settings, linkerSettings: links.isEmpty ? nil : links)
}

/// A Swift program at `LAYER/NAME`.
func program(
    _ name: String, in layer: String, uses dependencies: [Target.Dependency], links: [LinkerSetting] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "\(layer)/\(name)", swiftSettings: swiftSettings,
        linkerSettings: links.isEmpty ? nil : links)
}

/// A C library of a Debian package, found by pkg-config; its module map is at `LAYER/NAME`.
func installed(_ name: String, in layer: String, pkgConfig: String, debian: String) -> Target {
    .systemLibrary(name: name, path: "\(layer)/\(name)", pkgConfig: pkgConfig, providers: [.apt([debian])])
}

/// The tests at `Tests/NAME`.
func tests(
    _ name: String, use dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = []
) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: swiftSettings + settings)
}

let package = Package(
    name: "bgtask",
    products: [
        .executable(name: "bgtaskd", targets: ["bgtaskd"]),
        .executable(name: "bgtask", targets: ["bgtask"]),
        .executable(name: "bgtask-runner", targets: ["bgtask-runner"]),
        .executable(name: "bgtask-transfer", targets: ["bgtask-transfer"]),
        .executable(name: "bgtask-task", targets: ["bgtask-task"]),
        .library(name: "CHandlerABI", targets: ["CHandlerABI"]),
        .library(name: "ControlClient", targets: ["ControlClient"]),
        // The targets that the separate package Benchmarks/ measures.
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
        // No traits: StrictFiles reads the configuration files, because it reports the position of a mistake.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // MARK: Model
        module("TaskModel", in: "Sources/Model", settings: optimized),

        // MARK: Linux
        .target(name: "CLinuxShims", path: "Sources/Linux/CLinuxShims", cSettings: cSettings),
        module("LinuxSystem", in: "Sources/Linux", uses: ["CLinuxShims", "TaskModel"]),

        // MARK: Wire
        module("RunnerWire", in: "Sources/Wire", uses: ["TaskModel"]),
        module("ControlWire", in: "Sources/Wire", uses: ["TaskModel"]),

        // MARK: Runner
        installed("CFFI", in: "Sources/Runner", pkgConfig: "libffi", debian: "libffi-dev"),
        installed("CSeccomp", in: "Sources/Runner", pkgConfig: "libseccomp", debian: "libseccomp-dev"),
        .executableTarget(
            name: "bgtask-runner", dependencies: ["CHandlerABI", "CFFI", "CSeccomp"],
            path: "Sources/Runner/bgtask-runner", cSettings: cSettings + [.define("_GNU_SOURCE")],
            linkerSettings: [withoutSwiftRuntime]),
        .executableTarget(
            name: "bgtask-task", path: "Sources/Runner/bgtask-task",
            cSettings: cSettings + [.define("_GNU_SOURCE")], linkerSettings: [withoutSwiftRuntime]),
        installed("CCurl", in: "Sources/Runner", pkgConfig: "libcurl", debian: "libcurl4-openssl-dev"),
        .executableTarget(
            name: "bgtask-transfer", dependencies: ["CCurl", "CHandlerABI", "CSeccomp"],
            path: "Sources/Runner/bgtask-transfer", cSettings: cSettings + [.define("_GNU_SOURCE")],
            linkerSettings: [withoutSwiftRuntime]),

        // MARK: SDK
        .target(name: "CHandlerABI", path: "Sources/SDK/CHandlerABI", cSettings: cSettings),
        // The package of the SDK also builds this target, for plugins and apps.
        module("ControlChannel", in: "Sources/SDK"),
        module(
            "ControlClient", in: "Sources/SDK",
            uses: ["ControlChannel", "ControlWire", "LinuxSystem", "TaskModel"]),

        // MARK: Host
        module("Calendars", in: "Sources/Host", uses: ["TaskModel"]),
        installed("CYAML", in: "Sources/Host", pkgConfig: "yaml-0.1", debian: "libyaml-dev"),
        installed("CSodium", in: "Sources/Host", pkgConfig: "libsodium", debian: "libsodium-dev"),
        module("Signatures", in: "Sources/Host", uses: ["CSodium", "Digests", "LinuxSystem"]),
        module("StrictFiles", in: "Sources/Host", uses: ["CYAML", "LinuxSystem", "TaskModel"]),
        module(
            "Pushes", in: "Sources/Host",
            uses: ["CSodium", "ControlWire", "Digests", "LinuxSystem", "TaskModel"]),
        module("Digests", in: "Sources/Host", uses: ["CSodium"]),
        module(
            "HandlerRegistry", in: "Sources/Host",
            uses: [
                "Calendars", "Digests", "LinuxSystem", "RunnerWire", "Signatures", "StrictFiles", "TaskModel",
            ]),
        module(
            "Authoring", in: "Sources/Host",
            uses: ["Calendars", "HandlerRegistry", "LinuxSystem", "StrictFiles", "TaskModel"]),
        module("RequestStore", in: "Sources/Host", uses: ["LinuxSystem", "TaskModel", database]),
        module("MemoryStore", in: "Sources/Host", uses: ["TaskModel"], settings: optimized),
        module("Scheduling", in: "Sources/Host", uses: ["TaskModel", heap], settings: optimized),
        module(
            "HostSettings", in: "Sources/Host",
            uses: [
                "LinuxSystem", "Pushes", "Scheduling", "Signatures", "StrictFiles", "TaskModel",
                configuration,
            ]),
        module("SystemConditions", in: "Sources/Host", uses: ["LinuxSystem", "StrictFiles", "TaskModel"]),
        module("Launching", in: "Sources/Host", uses: ["LinuxSystem", "RunnerWire", "TaskModel"] + nio),
        module(
            "Transferring", in: "Sources/Host", uses: ["Digests", "LinuxSystem", "RunnerWire", "TaskModel"]),
        module("LogFiles", in: "Sources/Host", uses: ["LinuxSystem", "TaskModel"]),
        module(
            "Recording", in: "Sources/Host", uses: ["ControlWire", "LinuxSystem", "Scheduling", "TaskModel"]),
        module(
            "HostCore", in: "Sources/Host",
            uses: [
                "ControlWire", "HandlerRegistry", "HostSettings", "Scheduling", "TaskModel", deque, heap,
            ], settings: optimized),
        // Simulation must link neither NIO nor GRDB, because the command line tool links it.
        module(
            "Simulation", in: "Sources/Host",
            uses: [
                "HandlerRegistry", "HostCore", "HostSettings", "MemoryStore", "Recording", "Scheduling",
                "TaskModel", deque, heap,
            ], settings: optimized),
        module(
            "TaskHost", in: "Sources/Host",
            uses: [
                "Calendars", "Digests", "HandlerRegistry", "HostCore", "HostSettings", "Launching",
                "LinuxSystem", "LogFiles", "Pushes", "Recording", "RequestStore", "Scheduling", "Signatures",
                "StrictFiles", "SystemConditions", "TaskModel", "Transferring", deque, logging,
                serviceLifecycle,
            ]),
        module(
            "ControlServer", in: "Sources/Host",
            uses: ["ControlWire", "LinuxSystem", "LogFiles", "StrictFiles", "TaskModel"] + hummingbird + nio
                + [logging, serviceLifecycle]),

        module(
            "PushServer", in: "Sources/Host",
            uses: ["LinuxSystem", "Pushes", "TaskModel"] + nio + [nioHTTP, nioTLS, logging, serviceLifecycle]),

        module(
            "UnifiedPush", in: "Sources/Host",
            uses: ["LinuxSystem", "Pushes", "TaskModel", logging, serviceLifecycle]),

        module(
            "DesktopNotices", in: "Sources/Host",
            uses: ["LinuxSystem", "TaskModel", logging, serviceLifecycle]),

        // MARK: Commands
        program(
            "bgtaskd", in: "Sources/Commands",
            uses: [
                "ControlServer", "ControlWire", "DesktopNotices", "HostSettings", "LinuxSystem", "LogFiles",
                "PushServer",
                "Pushes", "RequestStore", "Signatures", "TaskHost", "TaskModel", "UnifiedPush",
                argumentParser, logging, serviceLifecycle,
            ],
            links: exportsNothing),
        program("bgtask", in: "Sources/Commands", uses: ["BgtaskCommands"], links: fullyStatic),
        module(
            "BgtaskCommands", in: "Sources/Commands",
            uses: [
                "Authoring", "Calendars", "ControlClient", "ControlWire", "HandlerRegistry", "HostSettings",
                "LinuxSystem", "Recording", "Scheduling", "Signatures", "Simulation", "StrictFiles",
                "TaskModel",
                argumentParser,
            ]),

        // MARK: Plugins
        installed("CSQLite", in: "Plugins", pkgConfig: "sqlite3", debian: "libsqlite3-dev"),
        .target(
            name: "TreeHasher", dependencies: ["CHandlerABI"], path: "Plugins/TreeHasher",
            cSettings: cSettings + [.define("_GNU_SOURCE")],
            linkerSettings: [withoutSwiftRuntime, exportsEntryOnly]),
        module("FeedRefresher", in: "Plugins", uses: ["CHandlerABI", "CSQLite"], links: [exportsEntryOnly]),

        // MARK: Tests
        module(
            "TaskHostTestSupport", in: "Tests/Support",
            uses: [
                "Digests", "HandlerRegistry", "LinuxSystem", "MemoryStore", "RequestStore", "Scheduling",
                "TaskModel",
            ], settings: optimized),
        // A program that uses a store, so that a test can kill it. It is never shipped.
        program(
            "store-exerciser", in: "Tests/Support",
            uses: ["RequestStore", "TaskHostTestSupport", "TaskModel"]),
        tests("TaskModelTests", use: ["TaskModel"]),
        tests("CalendarsTests", use: ["Calendars", "TaskModel"]),
        tests("LinuxSystemTests", use: ["LinuxSystem", "TaskHostTestSupport", "TaskModel"]),
        tests("RunnerWireTests", use: ["RunnerWire", "TaskModel"]),
        tests(
            "RunnerTests",
            use: ["LinuxSystem", "RunnerWire", "TaskHostTestSupport", "TaskModel", "bgtask-runner"]),
        tests(
            "HandlerRegistryTests",
            use: [
                "Digests", "HandlerRegistry", "LinuxSystem", "RunnerWire", "Signatures",
                "TaskHostTestSupport",
                "TaskModel", "bgtask", "bgtask-runner",
            ]),
        tests(
            "AuthoringTests",
            use: [
                "Authoring", "HandlerRegistry", "LinuxSystem", "TaskHostTestSupport", "TaskModel", "bgtask",
                "bgtaskd", "bgtask-runner",
            ]),
        tests(
            "RequestStoreTests",
            use: [
                "LinuxSystem", "MemoryStore", "RequestStore", "TaskHostTestSupport", "TaskModel",
                "store-exerciser", database,
            ]),
        tests("SchedulingTests", use: ["Scheduling", "TaskHostTestSupport", "TaskModel"]),
        tests(
            "SimulationTests",
            use: [
                "HostCore", "MemoryStore", "Recording", "Scheduling", "Simulation", "TaskHostTestSupport",
                "TaskModel",
            ]),
        tests("LogFilesTests", use: ["LinuxSystem", "LogFiles", "TaskModel"]),
        tests("DesktopNoticesTests", use: ["DesktopNotices", "TaskModel"]),
        tests("PushesTests", use: ["LinuxSystem", "Pushes", "TaskHostTestSupport", "TaskModel"]),
        tests(
            "HostSettingsTests",
            use: ["HostSettings", "LinuxSystem", "Scheduling", "TaskHostTestSupport", "TaskModel"]),
        tests(
            "SystemConditionsTests",
            use: ["LinuxSystem", "SystemConditions", "TaskHostTestSupport", "TaskModel"]),
        tests(
            "LaunchingTests",
            use: [
                "Launching", "LinuxSystem", "RunnerWire", "TaskHostTestSupport", "TaskModel", "bgtask-runner",
            ]
        ),
        tests(
            "ControlTests",
            use: [
                "BgtaskCommands", "Calendars", "ControlChannel", "ControlClient", "ControlServer",
                "ControlWire", "LinuxSystem", "LogFiles", "TaskHostTestSupport", "TaskModel", "bgtask",
                logging, serviceLifecycle,
            ] + nio),
        tests(
            "HostCoreTests",
            use: [
                "ControlWire", "HandlerRegistry", "HostCore", "HostSettings", "Launching", "MemoryStore",
                "RequestStore",
                "Scheduling", "TaskHostTestSupport", "TaskModel",
            ], settings: optimized),
        tests(
            "TaskHostTests",
            use: [
                "HandlerRegistry", "HostCore", "Launching", "LinuxSystem", "Scheduling", "SystemConditions",
                "TaskHost", "TaskModel", logging,
            ]),
        tests(
            "TransferringTests", use: ["LinuxSystem", "TaskHostTestSupport", "TaskModel", "Transferring"]),
        tests("LinkageTests", use: ["TaskHostTestSupport"]),
        tests(
            "PluginTests",
            use: ["CHandlerABI", "CSQLite", "HandlerRegistry", "TaskHostTestSupport", "TaskModel"]),
        tests(
            "IntegrationTests",
            use: [
                "ControlClient", "ControlWire", "Digests", "LinuxSystem", "Pushes", "TaskHostTestSupport",
                "TaskModel", "Transferring", "bgtask", "bgtaskd", "bgtask-runner", "bgtask-task",
                "bgtask-transfer",
            ]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c17
)

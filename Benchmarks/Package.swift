// swift-tools-version: 6.2
//
// A separate package, so that builds and tests of the project do not build it. `make bench-parts` runs it.
import PackageDescription

let withoutSwiftRuntime: LinkerSetting = .unsafeFlags(["-enable-experimental-feature", "Embedded"])
let exportsEntryOnly: LinkerSetting = .unsafeFlags([
    "-Xlinker", "--version-script=\(Context.packageDirectory)/../Plugins/exports.map",
])

let package = Package(
    name: "bgtask-benchmarks",
    products: [
        .library(name: "BenchmarkC", type: .dynamic, targets: ["BenchmarkC"]),
        .library(name: "BenchmarkSwift", type: .dynamic, targets: ["BenchmarkSwift"]),
    ],
    dependencies: [.package(name: "bgtask", path: "..")],
    targets: [
        .executableTarget(
            name: "bgtask-benchmarks",
            dependencies: [
                .product(name: "HostLibraries", package: "bgtask")
            ]),
        // A small C program makes the bare forks, because a fork of the benchmark program would include its
        // heap.
        .executableTarget(
            name: "fork-floor", cSettings: [.define("_GNU_SOURCE")], linkerSettings: [withoutSwiftRuntime]),
        .target(
            name: "BenchmarkC", dependencies: [.product(name: "CHandlerABI", package: "bgtask")],
            linkerSettings: [withoutSwiftRuntime, exportsEntryOnly]),
        .target(
            name: "BenchmarkSwift", dependencies: [.product(name: "CHandlerABI", package: "bgtask")],
            linkerSettings: [exportsEntryOnly]),
    ],
    cLanguageStandard: .c17
)

// swift-tools-version: 6.2
//
// The Swift app that the whole-host benchmarks run: a package like that of any app's author.
import PackageDescription

let package = Package(
    name: "BenchApp",
    products: [
        .library(name: "BenchApp", type: .dynamic, targets: ["BenchApp"]),
        .library(name: "BenchAppAfresh", type: .dynamic, targets: ["BenchApp", "Afresh"]),
    ],
    dependencies: [.package(path: "../../../Sources/SDK")],
    targets: [
        .target(
            name: "BenchApp", dependencies: [.product(name: "BackgroundTasks", package: "SDK")],
            path: "Sources"),
        .target(name: "Afresh", path: "Afresh"),
    ]
)

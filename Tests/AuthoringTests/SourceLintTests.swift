import Authoring
import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

/// `bgtask lint --sources`, run as a program on sources in the style of iOS developers.
@Suite(.system, .timeLimit(.minutes(2))) struct SourceLintTests {
    private func lines(_ folder: String, _ manifest: String? = nil) -> (status: Int32, lines: [String]) {
        let files = manifest.map { [$0] } ?? []
        let answer = Command.run(
            [Products.path("bgtask"), "lint", "--sources", "\(fixtures)/\(folder)"] + files,
            environment: ["NO_COLOR": "1"])
        let lines = answer.output.split(separator: "\n").map {
            String($0).replacing("\(fixtures)/\(folder)/", with: "")
        }
        return (answer.status, lines)
    }

    @Test func `ported sources have nothing, whatever their strings and comments look like`() {
        let (status, lines) = lines("Ported", "\(fixtures)/Ported/feed.yaml")
        #expect(
            status == 0 && lines == ["No problems found in 1 manifest and 2 Swift files."], "\(lines)"
        )
    }

    @Test(arguments: [
        "AppDelegate.swift:2:1: error: '#if os(iOS)' is false on Linux, so the code down to line 4 (BackgroundTasks)"
            + " is silently left out. Write '#if canImport(BackgroundTasks)'",
        "AppDelegate.swift:7:5: error: '@objc' is an error on Linux",
        "AppDelegate.swift:12:9: error: '#elseif os(iOS) && !targetEnvironment(macCatalyst)' is false on Linux",
        "AppDelegate.swift:16:68: error: '#selector' is an error",
        "AppDelegate.swift:17:30: error: 'setMinimumBackgroundFetchInterval' belongs to the background fetch before iOS 13",
        "AppDelegate.swift:18:18: error: '.observe(\\.' is an error",
        "AppDelegate.swift:19:15: error: 'addObserver(_:forKeyPath:)' is an error",
        "AppDelegate.swift:19:45: error: '#keyPath' is an error",
        "Simulator.swift:4:5: warning: '#if targetEnvironment(simulator)' is false on Linux",
        "Whole.swift:1:1: warning: '_simulateLaunchForTaskWithIdentifier' is for Apple's debugger. Use this"
            + " command instead: bgtask launch",
        "Whole.swift:2:1: error: '#if !os(Linux)' is false on Linux, so the whole file is silently left out",
    ])
    func `each trap is told at its place, with what to write`(beginning: String) {
        let (status, lines) = lines("Unported")
        #expect(status == 1)
        #expect(lines.contains { $0.hasPrefix(beginning) }, "\(lines.joined(separator: "\n"))")
    }

    @Test func `nothing else is told`() {
        let (_, lines) = lines("Unported")
        #expect(lines.count == 11, "\(lines.joined(separator: "\n"))")
    }

    /// Each of these is an error of the compiler, except for the last two, which fail on an iPhone, too.
    @Test func `what exists only on an iPhone is found at its place, with what to write`() {
        let (status, lines) = lines("Traps")
        #expect(status == 1)
        let expected = [
            "Entry.swift:2:1: error: 'import UIKit.UIGestureRecognizerSubclass' is an error":
                "Write 'import UIKit'",
            "Legacy.swift:1:1: error: 'import Combine' is an error on Linux": "Use Swift concurrency",
            "Legacy.swift:2:1: error: 'import CoreData'": "behind '#if canImport(CoreData)'",
            "Legacy.swift:3:1: error: 'import CryptoKit'": "swift-crypto",
            "Legacy.swift:6:1: error: 'import UserNotificationsUI'": "'#if canImport(UserNotificationsUI)'",
            "Legacy.swift:8:1: error: '@UIApplicationMain' crashes the Swift compiler": "Write '@main'",
            "Legacy.swift:10:22: error: 'NWConnection' does not exist": "only NWPathMonitor",
            "Legacy.swift:18:40: warning: 'usesInterfaceType' is true for '.other' only": "isExpensive",
            "Legacy.swift:12:27: error: 'UIHostingController' does not exist": "out of the plugin's target",
            "Legacy.swift:15:36: error: 'publisher(for:)' is an error": "notifications(named: name)",
            "Legacy.swift:16:13: warning: a notification with a trigger starts no process":
                "earliestBeginDate",
            "Legacy.swift:17:9: error: 'autoreleasepool' does not exist": "Remove it",
            "Mac.swift:3:1: error: '#if os(macOS)' is false on Linux": "Write '#if os(macOS) || os(Linux)'",
            "Transfers.swift:3:34: error: 'URLSessionDownloadDelegate' is in the module FoundationNetworking":
                "Write 'import BackgroundTasks', and add the trait BackgroundTransfers",
            "Transfers.swift:5:25: warning: a background session needs the trait BackgroundTransfers":
                #"traits: ["BackgroundTransfers"]"#,
            "Transfers.swift:8:17: warning: a background session makes no data tasks": "download task",
            "Transfers.swift:9:17: warning: a background session supports no completion": "Delegate",
            "Transfers.swift:10:17: warning: a background session supports no completion": "Delegate",
            "Transfers.swift:13:17: error: a background session has no publishers": "download task",
            "Transfers.swift:12:22: error: 'XMLParser' is in the module FoundationXML":
                "import FoundationXML",
            "Views.swift:6:9: error: 'NavigationStack' does not exist on Linux":
                "WindowGroup { EmptyView() }",
            "Views.swift:7:13: error: 'List' does not exist on Linux": "out of the plugin's target",
            "Views.swift:9:26: error: 'String(localized:)' is an error on Linux": "NSLocalizedString",
            "main.swift:1:1: error: a module can't have both main.swift and '@main'": "Keep '@main'",
        ]
        for (beginning, remedy) in expected {
            #expect(
                lines.contains { $0.hasPrefix(beginning) && $0.contains(remedy) },
                "\(beginning) in\n\(lines.joined(separator: "\n"))")
        }
        #expect(lines.count == expected.count, "\(lines.joined(separator: "\n"))")
    }

    @Test func `only background sessions are told of, and what their apps often do wrong`() {
        let (status, lines) = lines("Sessions")
        #expect(status == 1)
        let expected = [
            "Export.swift:7:23: error: '.observe(\\.' is an error on Linux": "didSet",
            "Export.swift:8:15: error: 'scheduledTimer(... selector:)' is an error": "withTimeInterval",
            "Export.swift:10:56: error: submit refuses a continued task without a title": "Give it the title",
            "Export.swift:15:1: error: '#if !os(Linux)' is false on Linux": "'#if canImport(UIKit)'",
            "Photos.swift:6:25: warning: a background session needs the trait": "Package.swift",
            "Photos.swift:26:16: warning: a background session makes no data tasks": "download task",
            "Photos.swift:27:25: warning: an upload task in a background session must be from a file":
                "uploadTask(with:fromFile:)",
            "Photos.swift:28:20: warning: an upload task in a background session must be": "fromFile",
            "Photos.swift:30:14: warning: a background session supports no completion": "Delegate",
            "Photos.swift:31:36: warning: a background session needs the trait": "Package.swift",
            "Photos.swift:31:81: warning: a background session makes no data tasks": "download task",
            "Photos.swift:32:34: warning: a background session supports no async methods": "Delegate",
            "Photos.swift:36:33: warning: a background session needs the trait": "Package.swift",
            "Photos.swift:46:51: warning: this closure runs too late: the file of 'location' was":
                "Move the file in the method itself",
            "Photos.swift:56:90: warning: 'serverTrust' is always nil on Linux": "certificates",
        ]
        for (beginning, remedy) in expected {
            #expect(
                lines.contains { $0.hasPrefix(beginning) && $0.contains(remedy) },
                "\(beginning) in\n\(lines.joined(separator: "\n"))")
        }
        #expect(lines.count == expected.count, "\(lines.joined(separator: "\n"))")
    }

    @Test func `with the trait, a file without a background session needs no further import`() throws {
        let folder = try Folder()
        try folder.write(
            "Sources/Feed/Feed.swift", "import SwiftUI\nlet s = URLSession(configuration: .ephemeral)\n")
        func output() -> String {
            Command.run(
                [Products.path("bgtask"), "lint", "--sources", folder.path + "/Sources"],
                environment: ["NO_COLOR": "1"]
            ).output
        }
        #expect(output().contains("'URLSession' is in the module FoundationNetworking"))
        try folder.write("Package.swift", ".package(path: \"a\", traits: [\"BackgroundTransfers\"])\n")
        #expect(!output().contains("FoundationNetworking"))
    }

    @Test func `a background session with its trait and its task is right`() throws {
        let folder = try Folder()
        let source =
            "import BackgroundTasks\nlet c = URLSessionConfiguration.background(withIdentifier: \"a\")\n"
        try folder.write("Sources/Feed/Feed.swift", source)
        func warning(_ manifest: String? = nil) -> String {
            let arguments = ["lint", "--sources", folder.path + "/Sources"] + [manifest].compactMap(\.self)
            return Command.run([Products.path("bgtask")] + arguments, environment: ["NO_COLOR": "1"]).output
        }
        #expect(warning().contains("needs the trait BackgroundTransfers of the SDK, and a task of the kind"))
        try folder.write("Package.swift", "// traits: [\"BackgroundTransfers\"]\n")
        #expect(warning().contains("needs the trait BackgroundTransfers of the SDK, and a task of the kind"))
        try folder.write("Package.swift", ".package(path: \"a\", traits: [\"BackgroundTransfers\"])\n")
        #expect(warning().contains("a background session needs a task of the kind transferEvents"))
        try folder.write(
            "feed.yaml",
            """
            apiVersion: bgtask/v1
            bundle: com.example.feed
            library: libFeed.so
            tasks:
              - identifier: com.example.feed.transfers
                kind: transferEvents

            """)
        let answer = warning(folder.path + "/feed.yaml")
        #expect(!answer.contains("a background session needs"), "\(answer)")
    }

    @Test func `a main.swift alone is a mistake only if it launches an app`() throws {
        let folder = try Folder()
        try folder.write("main.swift", "import Foundation\nprint(1)\n")
        #expect(bgtask("lint", "--sources", folder.path).status == 0)
        try folder.write("main.swift", "import UIKit\nUIApplicationMain(0, nil, nil, \"A\")\n")
        let answer = bgtask("lint", "--sources", folder.path)
        #expect(
            answer.status == 1
                && answer.output.contains("main.swift:2:1: error: SwiftPM can't build a plugin"),
            "\(answer)")
    }

    @Test func `identifiers are held against the manifest, both ways`() {
        let (status, lines) = lines("Unported", "\(fixtures)/Ported/feed.yaml")
        #expect(status == 1)
        let manifest = "\(fixtures)/Ported/feed.yaml"
        for beginning in [
            "Simulator.swift:7:55: error: 'com.example.feed.unheard' is requested and not permitted by \(manifest)",
            "Simulator.swift:8:47: warning: the identifier is an expression",
            "Whole.swift:7:83: error: 'com.example.feed.refresh' is requested as processing, and \(manifest):6 has"
                + " kind appRefresh",
            "\(manifest):8:17: warning: 'com.example.feed.clean' is permitted, but no source registers",
            "\(manifest):10:17: warning: 'com.example.feed.export.*' is permitted",
        ] {
            #expect(
                lines.contains { $0.hasPrefix(beginning) },
                "\(beginning) in\n\(lines.joined(separator: "\n"))")
        }
        #expect(lines.count == 16, "\(lines.joined(separator: "\n"))")
    }

    @Test func `with every registration known, a missing handler is an error`() throws {
        let folder = try Folder()
        try folder.write("a.swift", "let none = 1\n")
        let answer = bgtask("lint", "--sources", folder.path, "\(fixtures)/Ported/feed.yaml")
        #expect(answer.status == 1, "\(answer)")
        #expect(
            answer.output.contains("error: 'com.example.feed.clean' is permitted, but no source"), "\(answer)"
        )
    }

    @Test func `another condition is not the remedy if Linux takes an earlier clause`() throws {
        let folder = try Folder()
        try folder.write(
            "a.swift", "#if os(Linux)\nlet a = 1\n#elseif os(iOS)\nimport BackgroundTasks\n#endif\n")
        let answer = bgtask("lint", "--sources", folder.path)
        #expect(
            answer.output.contains(
                "a.swift:3:1: error: '#elseif os(iOS)' is false on Linux, so the code down to line 5 "
                    + "(BackgroundTasks) is silently left out. Linux takes the clause '#if os(Linux)' before "
                    + "it: move the code there, or out of the '#if'"), "\(answer)")
    }

    @Test func `the scene modifier registers`() throws {
        let folder = try Folder()
        try folder.write(
            "App.swift",
            #"WindowGroup {}.backgroundTask(.appRefresh("com.example.feed.refresh")) { await refresh() }"#)
        let answer = bgtask("lint", "--sources", folder.path, "\(fixtures)/Ported/feed.yaml")
        #expect(!answer.output.contains("feed.refresh'"), "\(answer)")
    }

    @Test func `JSON has every problem with its place`() throws {
        let rows = try #require(
            try json("lint", "--sources", "\(fixtures)/Unported", "--json") as? [[String: Any]])
        #expect(rows.count == 11)
        #expect(
            rows.contains {
                $0["line"] as? Int == 7 && $0["column"] as? Int == 5 && $0["severity"] as? String == "error"
            })
    }

    @Test func `nothing to look at is a mistake of the command line`() throws {
        let folder = try Folder()
        let empty = bgtask("lint", "--sources", folder.path)
        #expect(empty.status == 1 && empty.output.contains("it contains no Swift files"), "\(empty)")
        let missing = bgtask("lint", "--sources", folder.path + "/none")
        #expect(missing.status == 1 && missing.output.contains("No such file"), "\(missing)")
        #expect(bgtask("lint").status == 2)
    }

    /// The lexer reads files that are still being written, so it must finish on any text.
    @Test func `every prefix and every damaged copy of a file is read to its end`() throws {
        let folder = try Folder()
        let bytes = Array(try Data(contentsOf: URL(filePath: "\(fixtures)/Ported/Feed.swift")))
        var random = SeededNumbers(seed: 7)
        for length in stride(from: 0, to: bytes.count, by: 29) {
            var damaged = Array(bytes.prefix(length))
            for _ in 0..<4 where !damaged.isEmpty {
                let place = Int(random.next() % UInt64(damaged.count))
                damaged[place] = [34, 35, 40, 41, 47, 92, 10, 123, 200][Int(random.next() % 9)]
            }
            try Data(bytes.prefix(length)).write(to: URL(filePath: folder.path + "/a.swift"))
            try Data(damaged).write(to: URL(filePath: folder.path + "/b.swift"))
            let report = try SourceLinter.lint(
                sources: folder.path, manifests: ["\(fixtures)/Ported/feed.yaml"])
            #expect(report.fileCount == 2)
        }
    }
}

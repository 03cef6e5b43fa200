import Foundation
import TaskHostTestSupport
import Testing

/// `bgtask manifest from-plist`, run as a program.
@Suite(.system, .timeLimit(.minutes(2))) struct PlistTests {
    private func plist(_ body: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict>\(body)</dict></plist>
        """
    }

    private func texts(_ key: String, _ values: String...) -> String {
        "<key>\(key)</key><array>\(values.map { "<string>\($0)</string>" }.joined())</array>"
    }

    private let photos = "<key>CFBundleIdentifier</key><string>com.example.photos</string>"

    @Test func `kinds are guessed from words and modes, each guess says so, and lint finds nothing wrong`()
        throws
    {
        let folder = try Folder()
        let file = try folder.write(
            "Info.plist",
            plist(
                photos + "<key>CFBundleName</key><string>Photos</string>"
                    + texts(
                        "BGTaskSchedulerPermittedIdentifiers", "com.example.photos.feedRefresh",
                        "com.example.photos.db_cleaning", "com.example.photos.export.*",
                        "com.example.photos.x")
                    + texts("UIBackgroundModes", "fetch", "processing", "remote-notification", "audio")))
        let answer = bgtask("manifest", "from-plist", file, "--output", folder.path + "/photos.yaml")
        #expect(answer.status == 0, "\(answer)")
        let manifest = try folder.read("photos.yaml")
        #expect(
            manifest.contains("bundle: com.example.photos\nlibrary: libPhotos.so  # guessed\n"), "\(manifest)"
        )
        #expect(manifest.contains("modes: [fetch, processing, remote-notification]"))
        for line in [
            "identifier: com.example.photos.feedRefresh\n    kind: appRefresh  # guessed: 'refresh' in the name",
            "identifier: com.example.photos.db_cleaning\n    kind: processing  # guessed: 'clean' in the name",
            "identifier: com.example.photos.export.*\n    kind: continuedProcessing  # guessed: only continued",
            "identifier: com.example.photos.x\n    kind: appRefresh  # guessed: nothing in the name",
            "identifier: com.example.photos.push\n    kind: push  # for 'remote-notification'",
            "# The mode 'audio' is left out: tasks can't play sound",
        ] {
            #expect(manifest.contains(line), "\(line) in\n\(manifest)")
        }
        #expect(answer.output.contains("note: the kind of com.example.photos.x is a guess, appRefresh"))
        let lint = bgtask("lint", folder.path + "/photos.yaml")
        #expect(lint.status == 0 && lint.output == "No problems found in 1 manifest.\n", "\(lint)")
        let again = bgtask("manifest", "from-plist", file, "--output", folder.path + "/photos.yaml")
        #expect(again.status == 1 && again.output.contains("it already exists"), "\(again)")
    }

    @Test func `an app that only has a background session gets the task for its events`() throws {
        let folder = try Folder()
        let file = try folder.write("Info.plist", plist(photos))
        let guessed = bgtask("manifest", "from-plist", file)
        #expect(guessed.status == 0, "\(guessed)")
        #expect(
            guessed.output.contains(
                "  - identifier: com.example.photos.transfers\n    kind: transferEvents  # guessed: only"),
            "\(guessed)")
        try folder.write("None/a.swift", "let x = 1\n")
        let none = bgtask("manifest", "from-plist", file, "--sources", folder.path + "/None")
        #expect(none.status == 1 && none.output.contains("permits no identifiers"), "\(none)")
        for (source, identifier) in [
            ("URLSessionConfiguration.background(withIdentifier: \"com.example.photos.up\")", "up"),
            ("URLSessionConfiguration.background(withIdentifier: name())", "transfers"),
            ("Scene().backgroundTask(.urlSession(\"com.example.photos.swift\")) { }", "swift"),
        ] {
            try folder.write("Sources/a.swift", "let x = \(source)\n")
            let answer = bgtask("manifest", "from-plist", file, "--sources", folder.path + "/Sources")
            let task =
                "identifier: com.example.photos.\(identifier)\n    kind: transferEvents  # for the session in a.swift:1\n"
            #expect(answer.status == 0 && answer.output.contains(task), "\(answer)")
            let manifest = try folder.write("m.yaml", answer.output)
            #expect(bgtask("lint", manifest).status == 0, "\(answer)")
        }
    }

    @Test func `build settings come from a configuration file and the files that it includes`() throws {
        let folder = try Folder()
        let file = try folder.write(
            "Info.plist",
            plist(
                "<key>CFBundleIdentifier</key><string>$(PRODUCT_BUNDLE_IDENTIFIER)</string>"
                    + "<key>CFBundleExecutable</key><string>${PRODUCT_NAME:rfc1034identifier}</string>"
                    + texts(
                        "BGTaskSchedulerPermittedIdentifiers", "$(PRODUCT_BUNDLE_IDENTIFIER).refresh",
                        "$(PREFIX).photos.clean")
                    + texts("UIBackgroundModes", "fetch", "processing")))
        try folder.write("Base.xcconfig", "PREFIX = com.example // of all apps\n")
        let settings = try folder.write(
            "Photos.xcconfig",
            """
            // The settings of the app.
            #include "Base.xcconfig"
            #include? "Local.xcconfig"
            PRODUCT_BUNDLE_IDENTIFIER = $(PREFIX).photos
            PRODUCT_BUNDLE_IDENTIFIER[sdk=macosx*] = org.mac
            PRODUCT_NAME = My Photos
            """)
        let without = bgtask("manifest", "from-plist", file)
        #expect(without.status == 1 && without.output.contains("--build-settings App.xcconfig"), "\(without)")
        let answer = bgtask("manifest", "from-plist", file, "--build-settings", settings)
        #expect(answer.status == 0, "\(answer)")
        for line in [
            "bundle: com.example.photos\n", "library: libMy-Photos.so",
            "identifier: com.example.photos.refresh",
            "identifier: com.example.photos.clean",
        ] {
            #expect(answer.output.contains(line), "\(line) in\n\(answer.output)")
        }
        try folder.write("Base.xcconfig", "#include \"Photos.xcconfig\"\n")
        let circle = bgtask("manifest", "from-plist", file, "--build-settings", settings)
        #expect(circle.status == 1 && circle.output.contains("include each other"), "\(circle)")
        try folder.write("Base.xcconfig", "PREFIX\n")
        let wrong = bgtask("manifest", "from-plist", file, "--build-settings", settings)
        #expect(wrong.status == 1 && wrong.output.contains("line 1 is neither 'NAME = value'"), "\(wrong)")
    }

    @Test func `settings that refer to each other end, and the identifier is refused`() throws {
        let folder = try Folder()
        let file = try folder.write(
            "Info.plist", plist("<key>CFBundleIdentifier</key><string>$(A)</string>"))
        let settings = try folder.write("App.xcconfig", "A = $(B)\nB = $(A)\n")
        let answer = bgtask("manifest", "from-plist", file, "--build-settings", settings)
        #expect(answer.status == 1 && answer.output.contains("which Xcode replaces"), "\(answer)")
    }

    @Test func `a continued task that is registered at its use gets a note about clients`() throws {
        let folder = try Folder()
        let file = try folder.write(
            "Info.plist",
            plist(photos + texts("BGTaskSchedulerPermittedIdentifiers", "com.example.photos.render.*")))
        let late = """
            func render() {
                let identifier = "unused"
                scheduler.register(forTaskWithIdentifier: "com.example.photos.render.\\(UUID())", using: nil) { _ in }
            }
            """
        try folder.write("Sources/Render.swift", late)
        let answer = bgtask("manifest", "from-plist", file, "--sources", folder.path + "/Sources")
        #expect(
            answer.output.contains(
                "# Render.swift:3 registers an identifier of 'com.example.photos.render.*'")
                && answer.output.contains("write 'client: true'"), "\(answer)")
        try folder.write(
            "Sources/Launch.swift",
            "scheduler.register(forTaskWithIdentifier: \"com.example.photos.render.*\", using: nil) { _ in }")
        let early = bgtask("manifest", "from-plist", file, "--sources", folder.path + "/Sources")
        #expect(early.status == 0 && !early.output.contains("client: true"), "\(early)")
    }

    @Test func `a file that is not a property list is refused with what the parser says`() throws {
        let folder = try Folder()
        let file = try folder.write(
            "Info.plist", "<?xml version=\"1.0\"?>\n<plist><dict><key>A</dict></plist>\n")
        let answer = bgtask("manifest", "from-plist", file)
        #expect(answer.status == 1, "\(answer)")
        #expect(answer.output.contains("it is not a property list: Close tag on line "), "\(answer)")
    }

    @Test func `a binary list and sources give certain kinds`() throws {
        let folder = try Folder()
        let list: [String: Any] = [
            "CFBundleIdentifier": "com.example.photos",
            "BGTaskSchedulerPermittedIdentifiers": [
                "com.example.photos.refresh", "com.example.photos.sync", "com.example.photos.render.*",
            ],
            "UIBackgroundModes": ["fetch", "processing"],
        ]
        try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            .write(to: URL(filePath: folder.path + "/Info.plist"))
        // The names of the first two tasks suggest the wrong kinds: each would get the kind of the other.
        try folder.write(
            "Sources/Tasks.swift",
            """
            enum Identifiers { static let nightly = "com.example.photos.refresh" }
            let request = BGProcessingTaskRequest(identifier: Identifiers.nightly)
            // BGAppRefreshTaskRequest(identifier: "com.example.photos.refresh")
            scheduler.register(forTaskWithIdentifier: "com.example.photos.sync", using: nil) { task in
                handle(task as! BGAppRefreshTask)
            }
            let c = BGContinuedProcessingTaskRequest(identifier: "com.example.photos.render.\\(UUID())", title: "", subtitle: "")
            """)
        let draft = try #require(
            try json(
                "manifest", "from-plist", folder.path + "/Info.plist", "--sources", folder.path + "/Sources",
                "--library", "libP.so", "--json") as? [String: Any])
        let tasks = try #require(draft["tasks"] as? [[String: Any]])
        #expect(tasks.map { $0["kind"] as? String } == ["processing", "appRefresh", "continuedProcessing"])
        #expect(tasks.allSatisfy { $0["isGuessed"] as? Bool == false })
        #expect(tasks.map { $0["reason"] as? String }.first == "as in Tasks.swift:2")
        #expect(draft["library"] as? String == "libP.so")
        let manifest = try folder.write("p.yaml", try #require(draft["manifest"] as? String))
        #expect(!(try folder.read("p.yaml").contains("guessed:")))
        #expect(bgtask("lint", manifest).status == 0)
    }

    @Test(arguments: [
        (["fetch"], "sync", "appRefresh"), (["processing"], "refresh", "processing"),
        ([], "render", "continuedProcessing"), ([], "cleanup", "processing"),
        (["fetch", "processing"], "sync.refresh", "appRefresh"),
        (["fetch", "processing"], "DBMaintenance", "processing"),
    ])
    func `modes decide before words, and what lint would miss is added`(
        modes: [String], name: String, kind: String
    ) throws {
        let folder = try Folder()
        let list =
            modes.isEmpty
            ? ""
            : "<key>UIBackgroundModes</key><array>\(modes.map { "<string>\($0)</string>" }.joined())</array>"
        let file = try folder.write(
            "Info.plist",
            plist(photos + texts("BGTaskSchedulerPermittedIdentifiers", "com.example.photos.\(name)") + list))
        let answer = bgtask("manifest", "from-plist", file, "--output", folder.path + "/m.yaml")
        let manifest = try folder.read("m.yaml")
        #expect(answer.status == 0 && manifest.contains("    kind: \(kind)  # guessed"), "\(manifest)")
        #expect(bgtask("lint", folder.path + "/m.yaml").status == 0, "\(manifest)")
    }

    @Test func `build settings are named with the option that helps`() throws {
        let folder = try Folder()
        let file = try folder.write(
            "Info.plist",
            plist(
                "<key>CFBundleIdentifier</key><string>$(PRODUCT_BUNDLE_IDENTIFIER)</string>"
                    + texts("BGTaskSchedulerPermittedIdentifiers", "$(PRODUCT_BUNDLE_IDENTIFIER).refresh")))
        let refused = bgtask("manifest", "from-plist", file)
        #expect(refused.status == 1, "\(refused)")
        #expect(
            refused.output.contains("'$(PRODUCT_BUNDLE_IDENTIFIER)', which Xcode replaces")
                && refused.output.contains("--bundle com.example.app"), "\(refused)")
        let asJSON = try #require(try json("manifest", "from-plist", file, "--json") as? [String: Any])
        #expect((asJSON["remedy"] as? String)?.contains("--bundle") == true, "\(asJSON)")
        let given = bgtask("manifest", "from-plist", file, "--bundle", "com.example.feed")
        #expect(
            given.status == 0 && given.output.contains("identifier: com.example.feed.refresh"), "\(given)")
    }

    @Test(arguments: [
        ("not a plist", "not a property list"),
        ("<plist version=\"1.0\"><array/></plist>", "its root is not a dictionary"),
        ("<plist version=\"1.0\"><dict/></plist>", "no CFBundleIdentifier"),
        (
            "<plist version=\"1.0\"><dict><key>CFBundleIdentifier</key><string>a.b</string>"
                + "<key>UIBackgroundModes</key><array><string>fetch</string></array></dict></plist>",
            "BGTaskSchedulerPermittedIdentifiers is missing"
        ),
        (
            "<plist version=\"1.0\"><dict><key>CFBundleIdentifier</key><string>a.b</string>"
                + "<key>UIBackgroundModes</key><string>fetch</string></dict></plist>",
            "UIBackgroundModes is not an array"
        ),
        (
            "<plist version=\"1.0\"><dict><key>CFBundleIdentifier</key><string>a.b</string>"
                + "<key>BGTaskSchedulerPermittedIdentifiers</key><array><string>c d</string></array></dict></plist>",
            "the identifier 'c d'"
        ),
        (
            "<plist version=\"1.0\"><dict><key>CFBundleIdentifier</key><string>a.b</string>"
                + "<key>BGTaskSchedulerPermittedIdentifiers</key><array><string>c.d.*</string></array></dict></plist>",
            "does not begin with 'a.b.'"
        ),
    ])
    func `what can't be used is refused by its key`(text: String, finding: String) throws {
        let folder = try Folder()
        let file = try folder.write("Info.plist", text)
        let answer = bgtask("manifest", "from-plist", file)
        #expect(answer.status == 1 && answer.output.contains(finding), "\(answer)")
        #expect(answer.output.contains("bgtask: \(file): "), "\(answer)")
    }
}

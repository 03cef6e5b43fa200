import Foundation
import TaskHostTestSupport
import Testing

/// `bgtask new`, run as a program: the written files build, and their test passes.
@Suite(.system, .timeLimit(.minutes(10))) struct NewTests {
    /// The path of the repository's root, derived from the path of this file.
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path
    private static let hasSDK = FileManager.default.fileExists(
        atPath: "\(repository)/Sources/SDK/Package.swift")

    @Test func `a plugin in C builds, and its own test runs it in a host`() throws {
        let folder = try Folder()
        let made = bgtask("new", "c", "photo-feed", "--directory", folder.path + "/p")
        #expect(made.status == 0 && made.output.contains("\(folder.path)/p/photo-feed.yaml"), "\(made)")
        let test = Command.run(
            ["make", "-C", folder.path + "/p", "test"], environment: ["TMPDIR": folder.path])
        #expect(test.status == 0, "\(test.output)")
        #expect(test.output.contains("org.example.photo-feed.work"))
        #expect(
            test.output.contains("succeeded after") && test.output.contains("attempt 1: 20 steps"),
            "\(test.output)")
        #expect(folder.has("p/libphoto-feed.so"))
        // The plugin contains its header, so it can be built anywhere, even without this program.
        #expect(try !folder.read("p/Makefile").contains("BGTASK_HEADERS ?= /"))
        let moved = Command.run(
            "sh", "-c",
            "cp -r \(folder.path)/p \(folder.path)/q && rm \(folder.path)/q/*.so && make -C \(folder.path)/q")
        #expect(moved.status == 0 && folder.has("q/libphoto-feed.so"), "\(moved)")
    }

    @Test(arguments: [
        ("cpp", "c++", "attempt 1: 20 steps"), ("rust", "cargo", "attempt 1: 20 steps"),
        ("python", "/usr/bin/python3", "100 % 20/20 working"),
    ])
    func `a plugin in another language is right, and runs in a host`(
        template: String, needs: String, end: String
    ) throws {
        guard Command.run("sh", "-c", "command -v \(needs)").status == 0 else {
            print("skipped: \(template) needs \(needs), which is not installed")
            return
        }
        let folder = try Folder()
        let made = bgtask("new", template, "photo-feed", "--directory", folder.path + "/p")
        #expect(made.status == 0, "\(made)")
        let environment = ["TMPDIR": folder.path]
        let test = Command.run(["make", "-C", folder.path + "/p", "test"], environment: environment)
        #expect(test.status == 0 && test.output.contains("No problems found"), "\(test.output)")
        let run = Command.run(
            [Products.path("bgtask"), "dev", "--once", folder.path + "/p"], environment: environment)
        #expect(
            run.status == 0 && run.output.contains(end) && run.output.contains("succeeded after"),
            "\(run.output)")
    }

    @Test(arguments: [("cpp", "photo-feed.cpp"), ("rust", "Cargo.toml")])
    func `dev builds without a Makefile`(template: String, source: String) throws {
        guard template == "cpp" || Command.run("sh", "-c", "command -v cargo").status == 0 else {
            print("skipped: cargo is not installed")
            return
        }
        let folder = try Folder()
        #expect(bgtask("new", template, "photo-feed", "--directory", folder.path + "/p").status == 0)
        try FileManager.default.removeItem(atPath: folder.path + "/p/Makefile")
        let environment = ["TMPDIR": folder.path]
        let run = Command.run(
            [Products.path("bgtask"), "dev", "--once", folder.path + "/p"], environment: environment)
        #expect(run.status == 0 && run.output.contains("attempt 1: 20 steps"), "\(run.output)")
        // The errors of the build name the user's files.
        let file = template == "cpp" ? source : "src/lib.rs"
        try folder.write("p/" + file, "nonsense\n")
        let broken = Command.run(
            [Products.path("bgtask"), "dev", "--once", folder.path + "/p"], environment: environment)
        #expect(broken.status == 1 && broken.output.contains("\(file):1:"), "\(broken.output)")
    }

    @Test func `a test of a plugin that exports more than its entry fails`() throws {
        let folder = try Folder()
        _ = bgtask("new", "c", "hello", "--directory", folder.path)
        try folder.write("exports.map", "{ global: *; };\n")
        let source = try folder.read("hello.c")
        try folder.write(
            "hello.c", source + "__attribute__((visibility(\"default\"))) int leak(void) { return 1; }\n")
        let test = Command.run(["make", "-C", folder.path, "test"], environment: ["TMPDIR": folder.path])
        #expect(test.status == 2 && test.output.contains("exports more or less than"), "\(test.output)")
    }

    @Test func `a job without a plugin is right, and runs`() throws {
        let folder = try Folder()
        let made = bgtask(
            "new", "call", "greeter", "--directory", folder.path, "--bundle", "com.example.greet")
        #expect(made.status == 0, "\(made)")
        let test = Command.run("make", "-C", folder.path, "test")
        #expect(test.status == 0 && test.output.contains("No problems found in 1 manifest."), "\(test)")
        let run = Command.run(
            [Products.path("bgtask"), "dev", "--once", folder.path], environment: ["TMPDIR": folder.path])
        #expect(run.status == 0 && run.output.contains("com.example.greet.call Hello from greeter"), "\(run)")
    }

    @Test func `no file is overwritten, and none is written beside one that is there`() throws {
        let folder = try Folder()
        try folder.write("Makefile", "mine\n")
        let made = bgtask("new", "c", "hello", "--directory", folder.path)
        #expect(
            made.status == 1 && made.output.contains("\(folder.path)/Makefile: it already exists"),
            "\(made)")
        #expect(try folder.read("Makefile") == "mine\n" && !folder.has("hello.c"))
    }

    @Test(arguments: [
        (["c", "1st"], "does not begin with a letter"), (["c", "a/b"], "contains the character '/'"),
        (["swift", "photo-feed"], "The name of a Swift module uses A-Z a-z 0-9 and _"),
        (["swift", "Foundation"], "would hide a module"), (["c", ""], "does not begin with a letter"),
        (["call", String(repeating: "a", count: 61)], "it has 61 bytes"),
    ])
    func `a name that can't be is refused with what it may be`(arguments: [String], finding: String) throws {
        let folder = try Folder()
        let answer = Command.run(
            [Products.path("bgtask"), "new"] + arguments + ["--directory", folder.path + "/p"])
        #expect(answer.status == 1 && answer.output.contains(finding), "\(answer)")
        #expect(!folder.has("p"))
    }

    @Test func `without an SDK a Swift plugin is refused with where it was looked for`() throws {
        let folder = try Folder()
        let answer = Command.run(
            [Products.path("bgtask"), "new", "swift", "Feed", "--directory", folder.path + "/p"],
            environment: ["BGTASK_SDK": folder.path + "/none"])
        #expect(
            answer.status == 1 && answer.output.contains("nor in \(folder.path)/none")
                && answer.output.contains("--sdk"), "\(answer)")
        #expect(!folder.has("p"))
    }

    /// The package of the project itself has no such products, which only the build would say.
    @Test func `of a checkout of the project, a Swift plugin depends on the SDK in it`() throws {
        let folder = try Folder()
        try folder.write("bgtask/Package.swift", "")
        try folder.write("bgtask/Sources/SDK/Package.swift", "")
        _ = try json(
            "new", "swift", "Feed", "--directory", folder.path + "/p", "--sdk", folder.path + "/bgtask",
            "--json")
        #expect(try folder.read("p/Package.swift").contains("bgtask/Sources/SDK\")"))
    }

    @Test func `a Swift plugin depends on the SDK that was named`() throws {
        let folder = try Folder()
        try folder.write("Kit/Package.swift", "")
        let json = try #require(
            try json(
                "new", "swift", "Feed", "--directory", folder.path + "/p", "--sdk", folder.path + "/Kit",
                "--json")
                as? [String: Any])
        #expect((json["files"] as? [String])?.count == 6, "\(json)")
        let package = try folder.read("p/Package.swift")
        #expect(
            package.contains(".package(path: \"\(folder.path)/Kit\")") && package.contains("package: \"Kit\"")
        )
        #expect(try folder.read("p/Sources/Feed/Feed.swift").contains("struct Feed: BackgroundPlugin"))
        let lint = bgtask("lint", "--sources", folder.path + "/p/Sources", folder.path + "/p/Feed.yaml")
        #expect(lint.status == 0, "\(lint)")
    }

    @Test(.enabled(if: hasSDK, "Sources/SDK/Package.swift is not there: there is nothing to install"))
    func `an installed SDK is a package of sources alone`() throws {
        let folder = try Folder()
        try folder.write("SDK/left-over", "of an older version\n")
        let installed = Command.run("\(Self.repository)/.ci/install-sdk", folder.path + "/SDK")
        #expect(installed.status == 0, "\(installed)")
        #expect(folder.has("SDK/CHandlerABI/include/bgtask.h") && folder.has("SDK/BackgroundTasks"))
        for name in ["left-over", ".build", "Tests", "ControlClient", "Package.resolved"] {
            #expect(!folder.has("SDK/\(name)"), "\(name)")
        }
        let package = Command.run("swift", "package", "--package-path", folder.path + "/SDK", "dump-package")
        #expect(package.status == 0, "\(package)")
    }

    @Test(
        .enabled(if: hasSDK, "Sources/SDK/Package.swift is not there: no Swift plugin can be built"))
    func `a Swift plugin builds, its test passes, and dev runs it`() throws {
        let folder = try Folder()
        let made = bgtask("new", "swift", "Feed", "--directory", folder.path + "/p")
        #expect(made.status == 0, "\(made)")
        let environment = ["TMPDIR": folder.path]
        let test = Command.run(
            ["swift", "test", "--package-path", folder.path + "/p"], environment: environment)
        #expect(test.status == 0, "\(test.output)")
        let run = Command.run(
            [Products.path("bgtask"), "dev", "--once", folder.path + "/p"], environment: environment)
        #expect(run.status == 0 && run.output.contains("2 items are new"), "\(run.output)")
    }
}

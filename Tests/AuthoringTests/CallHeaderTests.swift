import Foundation
import TaskHostTestSupport
import Testing

/// `bgtask lint` and `bgtask new call` with the headers of this machine: zlib.h and those of the C library.
@Suite(.system) struct CallHeaderTests {
    private static let manifests = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "manifests").path

    private func manifest(_ header: String, _ library: String, _ lines: String) -> String {
        """
        apiVersion: bgtask/v1
        bundle: com.example.headers
        modes: [processing]
        tasks:
          - identifier: com.example.headers.call
            kind: processing
            call:
              library: \(library)
              header: \(header)
        \(lines.split(separator: "\n").map { "      " + $0 }.joined(separator: "\n"))

        """
    }

    private func lint(_ header: String, _ library: String, _ lines: String) throws -> Command.Answer {
        let folder = try Folder()
        return bgtask("lint", try folder.write("call.yaml", manifest(header, library, lines)))
    }

    @Test func `lint says how many arguments a function takes`() throws {
        let answer = try lint(
            "zlib.h", "libz.so.1",
            """
            steps:
              - {function: compress2, returns: int, arguments: [null, null, null, {ulong: 1}]}
            """)
        #expect(answer.status == 1)
        #expect(
            answer.output.contains("call.yaml:11:22: error: compress2 takes 5 arguments (zlib.h:"),
            "\(answer)")
        #expect(answer.output.contains("and the call passes 4. zlib.h:"), "\(answer)")
        #expect(
            answer.output.contains(
                "int compress2(Bytef *dest, uLongf *destLen, const Bytef *source, uLong sourceLen, int level)"
            ))
    }

    @Test(arguments: [
        (
            "[null, {inout: int, as: n, from: 0}, null, {ulong: 1}, {int: 1}]",
            "argument 2 of compress2 is 'uLongf *destLen'", "4 bytes instead of 8. Use the type ulong"
        ),
        (
            "[null, null, {int: 5}, {ulong: 1}, {int: 1}]",
            "argument 3 of compress2 is 'const Bytef *source'",
            "the call passes int. Write {string: ...}, {use: NAME} or {buffer: SIZE, as: NAME}"
        ),
        (
            "[null, null, null, {int: 1}, {int: 1}]", "argument 4 of compress2 is 'uLong sourceLen'",
            "the call passes int. Write {ulong: ...}"
        ),
        (
            "[null, null, null, {ulong: 1}, {string: x}]", "argument 5 of compress2 is 'int level'",
            "the call passes a text. Write a number: {int: ...}"
        ),
        (
            "[null, null, null, {ulong: 1}, {double: 1}]", "argument 5 of compress2 is 'int level'",
            "the call passes double. Write {int: ...}"
        ),
    ])
    func `lint says which argument has another type, and what to write`(
        arguments: String, which: String, remedy: String
    ) throws {
        let answer = try lint(
            "zlib.h", "libz.so.1",
            "steps:\n  - {function: compress2, returns: int, arguments: \(arguments)}")
        #expect(answer.status == 1)
        #expect(answer.output.contains(which) && answer.output.contains(remedy), "\(answer)")
        #expect(answer.output.split(separator: "\n").count == 1, "\(answer)")
    }

    @Test(arguments: [
        ("{function: zlibVersion, returns: int}", "zlibVersion returns string (zlib.h:"),
        ("{function: compressBound, returns: uint, arguments: [{ulong: 1}]}", "Write returns: ulong"),
        ("{function: gzclearerr, returns: int, arguments: [null]}", "gzclearerr returns void"),
        (
            "{function: gzprintf, returns: int, arguments: [null, {string: x}, {int: 1}]}",
            "gzprintf has variable arguments (...) from position 3, and the call has no 'variadicFrom'"
        ),
        (
            "{function: compressBound, returns: ulong, variadicFrom: 2, arguments: [{ulong: 1}]}",
            "compressBound has no variable arguments (...)"
        ),
        ("{function: get_crc_table, returns: string}", "Write returns: pointer"),
    ])
    func `lint compares results and variable arguments`(step: String, finding: String) throws {
        let answer = try lint("zlib.h", "libz.so.1", "steps:\n  - \(step)")
        #expect(answer.status == 1 && answer.output.contains(finding), "\(answer)")
    }

    @Test func `lint compares callbacks, structs and buffers`() throws {
        let good = """
            structs:
              div_t: {size: 8, members: {quot: {offset: 0, type: int}, rem: {offset: 4, type: int}}}
            callbacks:
              compare: {returns: int, parameters: [pointer, pointer]}
            steps:
              - {function: div, returns: {struct: div_t}, as: r, arguments: [{int: 7}, {int: 2}]}
              - {function: pthread_once, returns: int, arguments: [{inout: int, as: o, from: 0}, {callback: compare}]}
              - {function: qsort, arguments: [null, {size: 0}, {size: 4}, {callback: compare}]}
              - {function: localtime_r, returns: pointer, arguments: [{inout: long, as: t, from: 0}, {buffer: 56, as: tm}]}
              - {function: execv, returns: int, arguments: [{string: /bin/true}, {argv: [a]}]}
            """
        let headers = "[stdlib.h, time.h, unistd.h, pthread.h]"
        let answer = try lint(headers, "libc.so.6", good)
        #expect(answer.status == 0 && answer.output == "No problems found in 1 manifest.\n", "\(answer)")
        for (old, new, finding) in [
            ("[pointer, pointer]", "[pointer]", "the callback 'compare' with 1 parameter instead of 2"),
            ("{returns: int, par", "{returns: long, par", "the callback 'compare', which returns long"),
            ("buffer: 56", "buffer: 44", "a buffer of 44 bytes. It needs 56 bytes: {buffer: 56, as: NAME}"),
            ("offset: 4, type: int}", "offset: 4, type: float}", "a struct of other members"),
            ("returns: {struct: div_t}", "returns: int", "div returns div_t"),
        ] {
            let answer = try lint(headers, "libc.so.6", good.replacing(old, with: new))
            #expect(answer.status == 1 && answer.output.contains(finding), "\(new): \(answer)")
        }
    }

    @Test func `lint says what it did not check, and why`() throws {
        let step = "steps:\n  - {function: zlibVersion, returns: string}"
        let missing = try lint("nosuch/header.h", "libz.so.1", step)
        #expect(missing.status == 0)
        #expect(
            missing.output.contains(
                "call.yaml:9:15: note: the arguments of the call were not checked: the header nosuch/header.h "
                    + "is not installed"), "\(missing)")
        #expect(missing.output.contains("No problems found in 1 manifest."), "\(missing)")
        let other = try lint("ctype.h", "libz.so.1", step)
        #expect(other.status == 0)
        #expect(
            other.output.contains(
                "warning: ctype.h does not declare zlibVersion, so its arguments were not checked"),
            "\(other)")
        let folder = try Folder()
        let path = try folder.write("call.yaml", manifest("zlib.h", "libz.so.1", step))
        let without = Command.run(
            [Products.path("bgtask"), "lint", path], environment: ["NO_COLOR": "1", "PATH": folder.path])
        #expect(without.status == 0)
        #expect(
            without.output.contains("this machine has no C compiler to read zlib.h with. Install one"),
            "\(without)")
    }

    @Test(arguments: [
        "../zlib.h", "/etc/passwd", "/usr/include/zlib.h", "-I/tmp/zlib.h", "a b.h", "zlib", "\"$(id).h\"",
        "a/./b.h", "a//b.h", "zlib.h;id.h",
    ])
    func `a manifest can name only headers of the system`(header: String) throws {
        let answer = try lint(header, "libz.so.1", "steps:\n  - {function: zlibVersion, returns: string}")
        #expect(answer.status == 1 && answer.output.contains("not a valid header: "), "\(answer)")
    }

    @Test func `headers beside a manifest, and variables of the compiler, are not read`() throws {
        let folder = try Folder()
        try folder.write("evil.h", "int zlibVersion(int a, int b);\n")
        let path = try folder.write(
            "call.yaml",
            manifest("evil.h", "libz.so.1", "steps:\n  - {function: zlibVersion, returns: string}"))
        let answer = Command.run(
            [
                "sh", "-c",
                "cd \(folder.path) && CPATH=. C_INCLUDE_PATH=. '\(Products.path("bgtask"))' lint \(path)",
            ], environment: ["NO_COLOR": "1"])
        #expect(answer.output.contains("the header evil.h is not installed"), "\(answer)")
    }

    @Test func `differences from a header are among the other problems of a file`() throws {
        let folder = try Folder()
        let first = try folder.write(
            "a.yaml", manifest("zlib.h", "libz.so.1", "steps:\n  - {function: zlibVersion, returns: int}"))
        let second = try folder.write("b.yaml", "apiVersion: bgtask/v1\n")
        let answer = bgtask("lint", first, second)
        #expect(answer.output.hasPrefix("\(first):11:22: error: zlibVersion returns string"), "\(answer)")
        #expect(answer.output.contains(second), "\(answer)")
    }

    @Test func `the shipped calls fit the headers that are installed`() throws {
        let answer = bgtask("lint", Self.manifests, Self.manifests + "/gallery", "--json")
        #expect(answer.status == 0, "\(answer)")
        let found =
            try json("lint", Self.manifests, Self.manifests + "/gallery", "--json") as? [[String: Any]]
        for problem in found ?? [] {
            let finding = problem["finding"] as? String ?? ""
            #expect(finding.contains("is not installed") || finding.contains("no function"), "\(problem)")
        }
        #expect(found != nil)
    }

    // MARK: new call

    @Test func `new call writes the types of a header, and finds the library`() throws {
        let folder = try Folder()
        let made = bgtask(
            "new", "call", "--header", "zlib.h", "compressBound", "compress2", "--directory",
            folder.path + "/p")
        #expect(made.status == 0 && made.output.contains("p/compressBound.yaml"), "\(made)")
        let text = try folder.read("p/compressBound.yaml")
        for line in [
            "library: libz.so.1", "header: zlib.h", "- function: compressBound\n          returns: ulong",
            "- {buffer: 4096, as: dest}  # Bytef *dest",
            "- {inout: ulong, as: destLen, from: 0}  # uLongf *destLen",
            "- {ulong: 0}  # uLong sourceLen", "- {int: 0}  # int level",
        ] { #expect(text.contains(line), "\(line) in \(text)") }
        let lint = bgtask("lint", folder.path + "/p/compressBound.yaml")
        #expect(lint.output == "No problems found in 1 manifest.\n", "\(lint)\n\(text)")
        let run = Command.run(
            [Products.path("bgtask"), "dev", "--once", folder.path + "/p"],
            environment: ["TMPDIR": folder.path])
        #expect(run.status == 0 && run.output.contains("succeeded after"), "\(run.output)")
    }

    @Test(arguments: [
        (["stdlib.h"], ["qsort", "div", "bsearch"]),
        (["time.h"], ["time", "localtime_r", "mktime", "strftime"]),
        (["stdio.h"], ["fopen", "fprintf", "fread", "fclose"]),
        (["zlib.h"], ["gzopen", "gzread", "gzclose"]),
        (["arpa/inet.h", "unistd.h"], ["inet_aton", "inet_ntoa", "execv", "pipe"]),
        (["math.h"], ["sqrt", "modf"]),
        (["ftw.h", "fcntl.h"], ["nftw", "open"]),
    ])
    func `a new call of any functions has no problems`(headers: [String], functions: [String]) throws {
        let folder = try Folder()
        let words =
            ["new", "call"] + headers.flatMap { ["--header", $0] } + functions
            + ["--directory", folder.path + "/p"]
        let made = Command.run([Products.path("bgtask")] + words, environment: ["NO_COLOR": "1"])
        #expect(made.status == 0, "\(made)")
        let lint = bgtask("lint", folder.path + "/p")
        #expect(
            lint.output == "No problems found in 1 manifest.\n",
            "\(lint)\n\((try? folder.read("p/\(functions[0]).yaml")) ?? "")")
    }

    @Test func `a later function gets what an earlier one returned`() throws {
        let folder = try Folder()
        _ = bgtask(
            "new", "call", "--header", "zlib.h", "gzopen", "gzclose", "--directory", folder.path + "/p")
        let text = try folder.read("p/gzopen.yaml")
        #expect(
            text.contains("as: gzfile\n") && text.contains("- {use: gzfile}  # gzFile file"), "\(text)")
    }

    @Test(arguments: [
        (
            ["--header", "zlib.h", "compress3"],
            "new call: zlib.h does not declare compress3. Did you mean 'compress"
        ),
        (
            ["--header", "zlib.h", "inflateInit"],
            "inflateInit is a macro of zlib.h, and not a function. It calls inflateInit_"
        ),
        (["--header", "nosuch.h", "f"], "nosuch.h: the header nosuch.h is not installed"),
        (["--header", "stdio.h", "vprintf"], "is va_list, which a call can't pass. Write a plugin instead"),
        (
            ["--header", "zlib.h", "--library", "libc.so.6", "compress2"],
            "libc.so.6: it has no function 'compress2', although"
        ),
        (
            ["--header", "zlib.h", "--library", "libnosuch.so.1", "compress2"],
            "it is not where 'ldconfig -p' finds libraries"
        ),
        (["--header", "../zlib.h", "compress2"], "it is not the name of a header"),
        (["--library", "libz.so.1", "compress2"], "--library needs --header."),
        (["one", "two"], "A plugin has one name."),
    ])
    func `new call says why it can't write a call`(words: [String], finding: String) throws {
        let folder = try Folder()
        let answer = Command.run(
            [Products.path("bgtask"), "new", "call"] + words + ["--directory", folder.path + "/p"],
            environment: ["NO_COLOR": "1"])
        #expect(answer.status != 0 && answer.output.contains(finding), "\(answer)")
        #expect(!folder.has("p"))
    }
}

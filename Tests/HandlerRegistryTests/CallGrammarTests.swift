import Foundation
import HandlerRegistry
import RunnerWire
import TaskHostTestSupport
import TaskModel
import Testing

/// The elements of the `call:` grammar, on a plain C library that does not use bgtask.h.
@Suite(.system) struct CallGrammarTests {
    static let source = """
        #include <stdarg.h>
        #include <stdint.h>
        #include <stdio.h>
        #include <unistd.h>
        static volatile int stopped;
        int add(int a, short b, unsigned char c) { return a + b + c; }
        double half(float a) { return a / 2; }
        unsigned char narrow(void) { return 200; }
        signed char negative(void) { return -3; }
        int sum(int count, ...) {
            va_list list; va_start(list, count); int all = 0;
            for (int i = 0; i < count; i++) all += va_arg(list, int);
            va_end(list); return all;
        }
        int refine(const char *text, long *value, double *other) { *value = *value * 2 + text[0]; *other = 1.5; return 0; }
        int check(long value, double other) { return value == 242 && other == 1.5 ? 0 : 9; }
        int work(int (*tell)(void *, long, long), void *context) {
            for (long i = 1; i <= 1000000; i++) { if (tell(context, i, 1000000) || stopped) return 4; usleep(1000); }
            return 0;
        }
        int tiny(int (*tell)(void *, long, long), void *context) { return tell(context, 3, 9); }
        int mark(const char *path) { FILE *file = fopen(path, "a"); if (!file) return -1; fputs("x", file); return fclose(file); }
        void *nothing(void) { return 0; }
        int stop(void *context) { (void)context; stopped = 1; return 0; }
        const char *why(int code) { return code == 9 ? "nine it is" : "something"; }
        int crash(void *address) { return *(int *)address; }
        """

    static func manifest(_ steps: String, more: String = "", payload: String = "{}") -> String {
        """
        apiVersion: bgtask/v1
        bundle: com.example.a
        modes: [processing]
        tasks:
          - identifier: com.example.a.call
            kind: processing
            payload: \(payload)
            call:
              library: libPlain.so
              callbacks:
                tell: {returns: int, parameters: [pointer, long, long], completed: 2, total: 3, continue: 0, stop: 1}
        \(more)
              steps:
        \(steps.split(separator: "\n").map { "        - \($0)" }.joined(separator: "\n"))

        """
    }

    private func run(
        _ steps: String, more: String = "", payload: String = "{}", with json: String? = nil,
        expireWhen: (CallLaunch) -> Bool = { _ in false }
    ) throws -> CallLaunch {
        let folder = try TemporaryFolder()
        try folder.compile("libPlain.so", Self.source)
        let program = try folder.program(Self.manifest(steps, more: more, payload: payload), payload: json)
        return try CallLaunch.run(program, expireWhen: expireWhen)
    }

    @Test(arguments: [
        "{function: add, returns: int, expect: 270, arguments: [{int: -30}, {short: 100}, {uchar: 200}]}",
        "{function: half, returns: double, expect: 1.25, arguments: [{float: 2.5}]}",
        "{function: narrow, returns: uchar, expect: 200}",
        "{function: negative, returns: int8, expect: [-3, 5]}",
        "{function: sum, returns: int, expect: 60, variadicFrom: 2, arguments: [{int: 3}, {char: 10}, {short: 20}, {int: 30}]}",
        "{function: nothing, returns: pointer, expect: null}",
        "{function: why, returns: string, expect: {not: null}, arguments: [{int: 9}]}",
        "{function: narrow, returns: uint8, expect: {atLeast: 200}}",
        "{function: getppid, library: libc.so.6, returns: int, expect: {atLeast: 0}}",
    ])
    func `a call passes and returns each type as C does`(step: String) throws {
        let launch = try run(step)
        #expect(launch.done?.success == true, "\(launch)")
    }

    @Test(arguments: [
        ("{function: narrow, returns: uchar, expect: 201}", "narrow returned 200, expected 201"),
        (
            "{function: nothing, returns: pointer, expect: {not: null}}",
            "nothing returned NULL, expected anything but NULL"
        ),
        (
            "{function: negative, returns: int8, expect: {atLeast: 0}}",
            "negative returned -3, expected at least 0"
        ),
        (
            "{function: half, returns: double, expect: [1, 2], arguments: [{float: 1}]}",
            "half returned 0.5, expected 1, 2"
        ),
    ])
    func `a result that is not expected fails the launch and says both`(step: String, message: String) throws
    {
        let launch = try run(step)
        #expect(launch.done?.success == false)
        #expect(launch.done?.message == message)
    }

    @Test func `out and inout variables carry values from call to call, the payload's among them`() throws {
        let launch = try run(
            """
            {function: refine, returns: int, expect: 0, arguments: [{string: "${payload.text}"}, {inout: long, as: value, from: "${payload.count}"}, {out: double, as: other}]}
            {function: check, returns: int, as: code, expect: 0, arguments: [{use: value}, {use: other}]}
            """, payload: "{text: string, count: integer}", with: #"{"text": "xyz", "count": 61}"#)
        #expect(launch.done?.success == true, "\(launch)")
    }

    @Test func `a failure carries the library's own text`() throws {
        let launch = try run(
            "{function: check, returns: int, as: code, expect: 0, arguments: [{long: 1}, {double: 1}]}",
            more: "      message: {function: why, arguments: [{use: code}]}")
        #expect(launch.done?.message == "check returned 9, expected 0: nine it is")
    }

    @Test func `a callback reports completed and total units`() throws {
        let launch = try run("{function: tiny, returns: int, expect: 0, arguments: [{callback: tell}, null]}")
        #expect(launch.done?.success == true)
        #expect(launch.progress.map { [$0.completed, $0.total] } == [[3, 9]])
    }

    @Test func `after expiration a callback says stop, only always steps run, and the task completes false`()
        throws
    {
        let mark = FileManager.default.temporaryDirectory.path + "/mark-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: mark) }
        let launch = try run(
            """
            {function: work, returns: int, expect: 0, arguments: [{callback: tell}, null]}
            {function: check, returns: int, arguments: [{long: 1}, {double: 1}]}
            {function: mark, returns: int, expect: 0, always: true, arguments: [{string: "\(mark)"}]}
            """
        ) { !$0.progress.isEmpty }
        #expect(launch.done?.success == false)
        #expect(launch.done?.message == "work returned 4, expected 0")
        #expect(FileManager.default.fileExists(atPath: mark))
    }

    @Test func `onExpiration is skipped while a name that it uses is NULL, and always steps too`() throws {
        let launch = try run(
            """
            {function: nothing, returns: pointer, as: gone}
            {function: work, returns: int, expect: 0, arguments: [{callback: tell}, null]}
            {function: crash, returns: int, always: true, ends: [gone], arguments: [{use: gone}]}
            """, more: "      onExpiration: {function: crash, arguments: [{use: gone}]}"
        ) { !$0.progress.isEmpty }
        #expect(launch.status == 0)
        #expect(launch.done?.message == "work returned 4, expected 0")
    }

    @Test func `a program without anything to stop is ended at once by its expiration`() throws {
        let folder = try TemporaryFolder()
        let program = try folder.program(
            Self.manifest("{function: sleep, returns: uint, arguments: [{uint: 600}]}")
                .replacing("libPlain.so", with: "libc.so.6").replacing(
                    "      callbacks:\n        tell: {returns: int, parameters: [pointer, long, long], completed: 2, total: 3, continue: 0, stop: 1}\n",
                    with: ""))
        let launch = try CallLaunch.run(program) { $0.ready }
        #expect(launch.done?.isUnstarted == true)
    }

    @Test func `a library that vanished is a failed load, told before ready`() throws {
        let folder = try TemporaryFolder()
        try folder.compile("libPlain.so", Self.source)
        var program = try folder.program(Self.manifest("{function: narrow, returns: uchar}"))
        let name = Array("libPlain.so".utf8)
        let place = try #require(program.indices.first { program[$0...].starts(with: name) })
        program[place] = UInt8(ascii: "n")
        let launch = try CallLaunch.run(program)
        #expect(!launch.ready)
        #expect(launch.loadFailed?.contains("No such file") == true, "\(launch)")
    }

    @Test func `every cut and many bent programs end in a clear answer, never in a crash`() throws {
        let folder = try TemporaryFolder()
        let program = try folder.shipped(
            "zlib-compress.yaml", payload: #"{"directory": "/nowhere", "name": "x"}"#)
        var generator = SystemRandomNumberGenerator()
        for length in stride(from: 0, to: program.count, by: 29) {
            let launch = try CallLaunch.run(Array(program.prefix(length)))
            #expect(launch.loadFailed?.contains("malformed") == true, "\(length): \(launch)")
        }
        for _ in 0..<20 {
            // Only the counts and flags of the header are changed: other changes would call real functions
            // with wrong arguments.
            var bent = program
            bent[Int.random(in: 4..<13, using: &generator)] ^= UInt8.random(in: 128...255, using: &generator)
            let launch = try CallLaunch.run(bent)
            #expect(launch.loadFailed != nil || launch.done != nil, "\(bent.prefix(16)): \(launch)")
        }
    }
}

@Suite struct PayloadTests {
    private func manifest() throws -> Manifest {
        var declaration = TaskDeclaration(
            pattern: try IdentifierPattern("com.example.a.call"), kind: .processing)
        declaration.payload = ["path": .string, "depth": .integer, "ratio": .number, "all": .boolean]
        return Manifest(
            bundle: try BundleIdentifier("com.example.a"), library: "libA.so", modes: [.processing],
            tasks: [declaration], sandbox: SandboxDeclaration())
    }

    @Test func `a payload that fits is accepted, with further keys for a handler`() throws {
        let json = #"{"path": "/x", "depth": 3, "ratio": 1, "all": false, "more": [1, {"a": null}]}"#
        try manifest().checkPayload(
            json, for: TaskIdentifier("com.example.a.call"), dataDirectory: nil)
    }

    @Test(
        arguments: [
            (
                nil,
                "'all' (boolean) is missing; 'depth' (integer) is missing; 'path' (string) is missing; 'ratio' (number) is missing"
            ),
            (
                #"{"path": 5, "depth": 1.5, "ratio": true, "all": 1}"#,
                "'all' is an integer instead of type boolean; 'depth' is a number instead of type integer; 'path' is an integer instead of type string; 'ratio' is a boolean instead of type number"
            ),
            (
                #"{"path": "a\u0000b", "depth": 3, "ratio": 1, "all": true}"#,
                "'path' contains a NUL character"
            ),
            ("[1]", "the payload is not a JSON object"),
            ("{", "the payload is not a JSON object"),
        ] as [(String?, String)])
    func `a payload that does not fit is refused, every key named`(json: String?, finding: String) throws {
        let error = try #require(throws: SubmissionError.self) {
            try manifest().checkPayload(
                json, for: TaskIdentifier("com.example.a.call"), dataDirectory: nil)
        }
        #expect(error.code == .invalidRequest)
        #expect(error.finding.hasSuffix(finding), "\(error)")
    }

    @Test func `a key of the payload that a call does not declare is refused`() throws {
        let folder = try TemporaryFolder()
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.a
            modes: [processing]
            tasks:
              - identifier: com.example.a.call
                kind: processing
                payload: {text: string}
                call:
                  library: libc.so.6
                  steps:
                    - {function: puts, returns: int, arguments: [{string: "${payload.text}"}]}

            """
        let error = try #require(throws: SubmissionError.self) {
            try folder.program(manifest, payload: #"{"text": "x", "txet": "y"}"#)
        }
        #expect(error.finding.hasSuffix("the manifest declares no key 'txet' for this task"), "\(error)")
        _ = try folder.program(manifest, payload: #"{"text": "x"}"#)
    }

    @Test func `a program over 60,000 bytes is refused by name`() throws {
        let folder = try TemporaryFolder()
        let text = String(repeating: "x", count: 40_000)
        let manifest = """
            apiVersion: bgtask/v1
            bundle: com.example.a
            modes: [processing]
            tasks:
              - identifier: com.example.a.call
                kind: processing
                payload: {text: string}
                call:
                  library: libc.so.6
                  steps:
                    - {function: strcmp, returns: int, arguments: [{string: "${payload.text}"}, {string: "${payload.text}"}]}

            """
        let error = try #require(throws: SubmissionError.self) {
            try folder.program(manifest, payload: "{\"text\": \"\(text)\"}")
        }
        #expect(error.finding.contains("the limit is 60000"), "\(error)")
    }
}

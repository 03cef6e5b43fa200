import Foundation
import HandlerRegistry
import RunnerWire
import TaskHostTestSupport
import TaskModel
import Testing

/// Loops, members of structs, files and lists of a `call:`, on a plain C library.
@Suite(.system) struct CallReachTests {
    static let source = """
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        static int position;
        static long total;
        struct entry { int number; const char *name; struct entry *next; double share; };
        static struct entry entries[3] = {
            {1, "one", &entries[1], 0.5}, {2, "two", &entries[2], 2.75}, {3, "three", 0, 1e300}};
        int next(int last) { return position < last ? (position++, 100) : 101; }
        struct entry *first(void) { return entries; }
        struct entry *none(void) { return 0; }
        int collect(long value) { total += value; return 0; }
        long sum(void) { return total; }
        int fill(struct entry *entry, int number) { entry->number = number; entry->name = "filled"; return 0; }
        int doubled(const struct entry *entry) { return entry->number * 2; }
        int length(const char *text) { return (int)strlen(text); }
        int count(char **list) { int count = 0; while (list[count]) count++; return count; }
        int shout(char **list) { return strcmp(list[1], "b c") == 0 && list[3] == 0 ? 0 : 7; }
        double ratio(void) { return 41.9; }
        double huge(void) { return 1e20; }
        int minus(void) { return -1; }
        int same(int value) { return value; }
        long wide(unsigned long value) { return (long)value; }
        int keep(void *buffer, int round) {
            int before = *(char *)buffer; memset(buffer, 'x', 8); (void)round; return before;
        }
        int crash(void *address) { return *(volatile int *)address; }
        struct pair { double x, y; };
        struct pair swap(struct pair pair, int factor) {
            return (struct pair){pair.y * factor, pair.x * factor};
        }
        struct mixed { int a; char b; long c, d; };
        struct mixed mix(struct mixed in) { return (struct mixed){in.a + 1, in.b + 1, in.c + 1, in.d + 1}; }
        const char **trouble(void) { static const char *text[2] = {"no", "the disk is full"}; return text; }
        """

    private func run(
        _ steps: String, more: String = "", payload: String = "{}", with json: String? = nil,
        expireWhen: (CallLaunch) -> Bool = { _ in false }
    ) throws -> CallLaunch {
        let folder = try TemporaryFolder()
        try folder.compile("libPlain.so", Self.source)
        // Without the callback of that manifest, which reports progress itself.
        let manifest = CallGrammarTests.manifest(steps, more: more, payload: payload)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("callbacks:") && !$0.contains("tell: {") }.joined(separator: "\n")
            .replacing("${folder}", with: folder.path)
        return try CallLaunch.run(folder.program(manifest, payload: json), expireWhen: expireWhen)
    }

    // MARK: Loops

    @Test func `a loop runs while its condition holds, and each round is a unit of progress`() throws {
        let launch = try run(
            """
            repeat: {while: {code: 100}, atMost: 50, steps: [{function: next, returns: int, as: code, expect: [100, 101], arguments: [{int: 5}]}, {function: collect, returns: int, expect: 0, arguments: [{long: 10}]}]}
            {function: sum, returns: long, expect: 50}
            """)
        // After 101, the step behind it did not run again.
        #expect(launch.done?.success == true, "\(launch)")
        #expect(launch.progress.last?.completed == 6, "five rounds and one step")
    }

    @Test func `a loop whose name has a value before it is checked before the first round`() throws {
        let launch = try run(
            """
            {function: none, returns: pointer, as: entry}
            repeat: {while: {entry: {not: null}}, atMost: 9, steps: [{function: doubled, returns: int, arguments: [{use: entry}]}, {get: {of: entry, offset: 16, type: pointer}, as: entry}]}
            """)
        #expect(launch.done?.success == true, "\(launch)")
    }

    @Test func `a loop follows a linked list by the members of its structs`() throws {
        let structs =
            "      structs: {entry: {size: 32, members: {number: {offset: 0, type: int}, name: {offset: 8, type: string}, next: {offset: 16, type: pointer}}}}"
        let launch = try run(
            """
            {function: first, returns: pointer, as: entry}
            repeat: {while: {entry: {not: null}}, atMost: 9, steps: [{get: {of: entry, member: entry.number}, as: number}, {function: collect, returns: int, arguments: [{long: {use: number}}]}, {get: {of: entry, member: entry.next}, as: entry}]}
            {function: sum, returns: long, expect: 6}
            """, more: structs)
        #expect(launch.done?.success == true, "\(launch)")
    }

    @Test func `a loop that uses up its rounds fails, and says so`() throws {
        let launch = try run(
            "repeat: {while: {code: 100}, atMost: 3, steps: [{function: next, returns: int, as: code, arguments: [{int: 1000}]}]}"
        )
        #expect(launch.done?.success == false)
        #expect(
            launch.done?.message == "repeat: after 3 rounds (atMost), 'code' still fulfills its condition")
    }

    @Test func `a failure in a loop names the step and the round`() throws {
        let launch = try run(
            """
            {function: same, returns: int, arguments: [{int: 1}]}
            repeat: {while: {code: 100}, atMost: 9, steps: [{function: same, returns: int, arguments: [{int: 0}]}, {function: next, returns: int, as: code, expect: 100, arguments: [{int: 2}]}]}
            """)
        #expect(launch.done?.message == "next returned 101, expected 100 (step 2.2, round 3)")
    }

    @Test func `an expiration ends a loop between two steps`() throws {
        let launch = try run(
            "repeat: {while: {code: 0}, atMost: 1000000000, steps: [{function: same, returns: int, as: code, arguments: [{int: 0}]}]}"
        ) { !$0.progress.isEmpty }
        #expect(launch.done?.success == false)
        #expect(launch.done?.message == "stopped between two steps", "\(launch)")
        #expect(launch.done?.isUnstarted != true)
    }

    @Test func `a buffer in a loop is empty in each round`() throws {
        let launch = try run(
            """
            repeat: {while: {code: 100}, atMost: 9, steps: [{function: keep, returns: int, expect: 0, arguments: [{buffer: 64, as: memory}, {int: 1}]}, {function: next, returns: int, as: code, arguments: [{int: 4}]}]}
            """)
        #expect(launch.done?.success == true, "\(launch)")
    }

    // MARK: Members

    @Test func `members of a struct are arguments, and can be set before a call`() throws {
        let structs =
            "      structs: {entry: {size: 32, members: {number: {offset: 0, type: int}, name: {offset: 8, type: string}}}}"
        let launch = try run(
            """
            {function: fill, returns: int, arguments: [{buffer: {struct: entry}, as: e}, {int: 4}]}
            {function: length, returns: int, expect: 6, arguments: [{field: {of: e, member: entry.name}}]}
            {set: {of: e, member: entry.number}, to: 21}
            {function: doubled, returns: int, expect: 42, arguments: [{use: e}]}
            {get: {of: e, offset: 0, type: int}, expect: 21}
            """, more: structs)
        #expect(launch.done?.success == true, "\(launch)")
    }

    @Test(arguments: [
        (
            "{function: doubled, returns: int, arguments: [{field: {of: e, offset: 8, type: int}}]}",
            "doubled: the member at offset 8 of 'e' can't be used: it is NULL"
        ),
        (
            "{set: {of: e, offset: 8, type: int}, to: 1}",
            "the member at offset 8 of 'e' can't be used: it is NULL"
        ),
        (
            "{get: {of: e, offset: 8, type: string}, as: text}",
            "the member at offset 8 of 'e' can't be used: it is NULL"
        ),
    ])
    func `a member of NULL is a failure and no crash`(step: String, message: String) throws {
        let launch = try run("{function: none, returns: pointer, as: e}\n\(step)")
        #expect(launch.done?.message == message, "\(launch)")
    }

    @Test func `a member behind the end of its memory is a failure`() throws {
        let launch = try run(
            """
            {function: fill, returns: int, arguments: [{buffer: 32, as: e}, {int: 4}]}
            {get: {of: e, offset: 25, type: pointer}, as: behind}
            """)
        #expect(
            launch.done?.message
                == "the member at offset 25 of 'e' can't be used: the member extends beyond its memory")
    }

    @Test func `structs are passed and returned by value, in registers and in memory`() throws {
        let structs = """
                  structs:
                    pair: {size: 16, members: {x: {offset: 0, type: double}, y: {offset: 8, type: double}}}
                    mixed: {size: 24, members: {a: {offset: 0, type: int}, b: {offset: 4, type: char}, c: {offset: 8, type: long}, d: {offset: 16, type: long}}}
            """
        let launch = try run(
            """
            {function: keep, returns: int, arguments: [{buffer: {struct: pair}, as: in}, {int: 1}]}
            {set: {of: in, member: pair.x}, to: 1.5}
            {set: {of: in, member: pair.y}, to: -4}
            {function: swap, returns: {struct: pair}, as: out, arguments: [{struct: pair, of: in}, {int: 2}]}
            {get: {of: out, member: pair.x}, expect: -8}
            {get: {of: out, member: pair.y}, expect: 3}
            {function: mix, returns: {struct: mixed}, as: big, arguments: [{struct: mixed, of: in2}]}
            {get: {of: big, member: mixed.b}, expect: 8}
            {get: {of: big, member: mixed.d}, expect: 10}
            """.replacing(
                "{function: mix,",
                with: """
                    {function: count, returns: int, expect: 0, arguments: [{buffer: {struct: mixed}, as: in2}]}
                    {set: {of: in2, member: mixed.b}, to: 7}
                    {set: {of: in2, member: mixed.d}, to: 9}
                    {function: mix,
                    """), more: structs)
        #expect(launch.done?.success == true, "\(launch)")
    }

    @Test func `a struct by value from NULL or from too little memory is a failure`() throws {
        let structs =
            "      structs: {pair: {size: 16, members: {x: {offset: 0, type: double}, y: {offset: 8, type: double}}}}"
        let step = "{function: swap, returns: {struct: pair}, arguments: [{struct: pair, of: in}, {int: 2}]}"
        let none = try run("{function: none, returns: pointer, as: in}\n" + step, more: structs)
        #expect(none.done?.message == "swap: in: it is NULL", "\(none)")
        let small = try run(
            "{function: keep, returns: int, arguments: [{buffer: 12, as: in}, {int: 1}]}\n" + step,
            more: structs)
        #expect(small.done?.message == "swap: in: its memory is smaller than the struct", "\(small)")
    }

    // MARK: Values

    @Test(
        arguments: [
            ("ratio", "double", "int", nil),
            (
                "huge", "double", "int",
                "same: value: it has no value, or one that does not fit the type of the argument"
            ),
            (
                "minus", "int", "uint",
                "same: value: it has no value, or one that does not fit the type of the argument"
            ),
        ] as [(String, String, String, String?)])
    func `a name of one type of numbers is converted to another, if its value fits`(
        function: String, from: String, to: String, message: String?
    ) throws {
        let launch = try run(
            """
            {function: \(function), returns: \(from), as: value}
            {function: same, returns: int, expect: 41, arguments: [{\(to): {use: value}}]}
            """)
        #expect(launch.done?.success == (message == nil), "\(launch)")
        #expect(launch.done?.message == message)
    }

    @Test func `argv passes each text as an element of its own, values of the payload too`() throws {
        let launch = try run(
            """
            {function: count, returns: int, expect: 0, arguments: [{argv: []}]}
            {function: count, returns: int, expect: 3, arguments: [{argv: [a, "${payload.text}", d]}]}
            {function: shout, returns: int, expect: 0, arguments: [{argv: [a, "${payload.text}", d]}]}
            """, payload: "{text: string}", with: #"{"text": "b c"}"#)
        #expect(launch.done?.success == true, "\(launch)")
    }

    @Test func `a key of the payload that is left out has its default`() throws {
        let steps = """
            {function: same, returns: int, expect: 6, arguments: [{int: "${payload.level}"}]}
            {function: length, returns: int, expect: 4, arguments: [{string: "${payload.text}"}]}
            """
        let keys = "{level: {type: integer, default: 6}, text: string}"
        #expect(try run(steps, payload: keys, with: #"{"text": "four"}"#).done?.success == true)
        let other = try run(steps, payload: keys, with: #"{"text": "four", "level": 7}"#)
        #expect(other.done?.message == "same returned 7, expected 6")
        let error = try #require(throws: SubmissionError.self) { try run(steps, payload: keys, with: "{}") }
        #expect(error.finding.hasSuffix("'text' (string) is missing"), "\(error)")
        #expect(!error.remedy.contains("level"), "\(error)")
    }

    // MARK: Files

    @Test func `a file is read as a text or mapped, and a text is saved up to its NUL byte`() throws {
        let folder = try TemporaryFolder()
        try folder.write("data/in.txt", "five!")
        try folder.compile("libPlain.so", Self.source)
        let manifest = CallGrammarTests.manifest(
            """
            {read: "\(folder.path)/data/in.txt", as: text}
            {map: "\(folder.path)/data/in.txt", as: mapped}
            {function: length, returns: int, expect: 5, arguments: [{use: text}]}
            {function: wide, returns: long, expect: 5, arguments: [{sizeOf: mapped}]}
            {function: first, returns: pointer, as: entry}
            {get: {of: entry, offset: 8, type: string}, as: name}
            save: {from: name, to: "\(folder.path)/data/name.txt"}
            save: {from: mapped, to: "\(folder.path)/data/copy.txt"}
            """)
        let launch = try CallLaunch.run(folder.program(manifest))
        #expect(launch.done?.success == true, "\(launch)")
        #expect(try String(contentsOfFile: folder.path + "/data/name.txt", encoding: .utf8) == "one")
        #expect(try String(contentsOfFile: folder.path + "/data/copy.txt", encoding: .utf8) == "five!")
        let refused = try CallLaunch.run(
            folder.program(
                CallGrammarTests.manifest(
                    """
                    {map: "\(folder.path)/data/in.txt", as: mapped}
                    {set: {of: mapped, offset: 0, type: char}, to: 1}
                    """)))
        #expect(
            refused.done?.message
                == "the member at offset 0 of 'mapped' can't be set: a mapped file can't be changed; use 'read' instead of 'map'"
        )
    }

    @Test func `a file that does not exist is named with the kernel's reason`() throws {
        let launch = try run("{read: /nowhere/at/all, as: text}")
        #expect(launch.done?.message == "read /nowhere/at/all: No such file or directory")
    }

    // MARK: Failures

    @Test func `the text of a failure can be a member of the struct that a function returns`() throws {
        let launch = try run(
            "{function: minus, returns: int, expect: 0}",
            more: "      message: {function: trouble, offset: 8}")
        #expect(launch.done?.message == "minus returned -1, expected 0: the disk is full")
    }

    @Test func `a crash names the step, the function and its arguments`() throws {
        let launch = try run(
            """
            {function: same, returns: int, arguments: [{int: 1}]}
            {function: none, returns: pointer, as: gone}
            {function: crash, returns: int, arguments: [{use: gone}, {int: -5}, {string: "some text"}, {double: 0.5}]}
            """)
        #expect(launch.crash == "step 3: crash(gone = NULL, -5, \"some text\", 0.5)", "\(launch)")
        #expect(launch.status == SIGSEGV)
    }

    @Test func `a crash in a loop names the round`() throws {
        let launch = try run(
            """
            {function: first, returns: pointer, as: entry}
            repeat: {while: {entry: {not: 1}}, atMost: 9, steps: [{function: crash, returns: int, arguments: [{use: entry}]}, {get: {of: entry, offset: 16, type: pointer}, as: entry}]}
            """.replacing("{not: 1}", with: "{not: null}"))
        #expect(launch.done?.success == true, "\(launch)")
        let crashed = try run(
            """
            repeat: {while: {code: 100}, atMost: 9, steps: [{function: next, returns: int, as: code, arguments: [{int: 9}]}, {function: crash, returns: int, arguments: [null]}]}
            """)
        #expect(crashed.crash == "step 1.2, round 1: crash(NULL)", "\(crashed)")
    }
}

import TaskModel
import Testing

@testable import Authoring

/// The declarations of headers, as the preprocessor prints them.
@Suite struct HeaderTests {
    private static let text = """
        # 1 "/usr/include/thing.h" 1 3
        #define THING_VERSION 3
        #define thing_init(t) thing_init_ ((t), THING_VERSION)
        typedef unsigned long size_t; typedef unsigned char Byte;
        typedef struct thing thing; typedef enum { THING_A, THING_B = '}' } thing_kind;
        struct pair { int left; double right; };
        typedef struct { struct pair pairs[2]; char mark; } inner_t;
        struct flags { unsigned a : 3; unsigned b : 5; };
        union both { int i; void *p; };
        extern int thing_init_ (thing *t, int version) __attribute__ ((__nothrow__ , __leaf__));
        # 40 "/usr/include/thing.h" 3
        __extension__ extern __inline __attribute__((always_inline)) int thing_half(int x) { return x / 2; }
        int (thing_open)(const char *restrict path, thing **out, ...), thing_close(thing *);
        void thing_sort(void *base, size_t count, int (*compare)(const void *, const void *));
        void (*thing_signal(int number, void (*handler)(int)))(int);
        struct pair thing_pair(struct pair p, inner_t inner, thing_kind kind);
        Byte *thing_bytes(Byte bytes[], char *const argv[], unsigned long long n, signed char c, _Bool yes);
        long double thing_long(__builtin_va_list list); void thing_old(); int thing_none(void);
        int broken( @ ; int thing_last(struct flags f, union both b);
        """

    private let found = HeaderParser.read(Array(Self.text.utf8))

    private func words(_ name: String) -> [String?]? {
        found.functions[name]?.signature.parameters?.map { $0.type.word?.rawValue }
    }

    @Test func `very many pointers and arrays are not read, and what follows is`() {
        let text =
            "int \(String(repeating: "*", count: 300_000)) deep(void);\n"
            + "int wide\(String(repeating: "[1]", count: 300_000));\nint after(int a);\n"
        let found = HeaderParser.read(Array(text.utf8))
        #expect(found.functions.keys.sorted() == ["after"])
    }

    @Test func `prototypes of all forms are read, and their typedefs resolved`() {
        #expect(words("thing_init_") == ["pointer", "int"])
        #expect(words("thing_half") == ["int"])
        #expect(words("thing_open") == ["string", "pointer"])
        #expect(found.functions["thing_open"]?.signature.isVariadic == true)
        #expect(words("thing_close") == ["pointer"])
        #expect(words("thing_sort") == ["pointer", "size", "pointer"])
        #expect(words("thing_signal") == ["int", "pointer"])
        #expect(found.functions["thing_signal"]?.signature.returns.word == .pointer)
        #expect(words("thing_pair") == [nil, nil, "int"])
        #expect(words("thing_bytes") == ["string", "pointer", "ulonglong", "int8", "bool"])
        #expect(words("thing_long") == [nil])
        #expect(words("thing_old") == nil && found.functions["thing_old"] != nil)
        #expect(words("thing_none") == [])
    }

    @Test func `a declaration that is not understood hides no other one`() {
        #expect(words("thing_last") == [nil, nil])
        #expect(found.functions["broken"] == nil)
    }

    @Test func `texts and places are those of the header`() {
        #expect(
            found.functions["thing_open"]?.text == "int (thing_open)(const char *path, thing **out, ...)")
        #expect(found.functions["thing_half"]?.place == "thing.h:40")
        #expect(
            found.functions["thing_sort"]?.signature.parameters?.map(\.text)
                == ["void *base", "size_t count", "int (*compare)(const void *, const void *)"])
        #expect(found.macros["thing_init"]?.replacement == "thing_init_ ((t), THING_VERSION)")
    }

    @Test func `the layouts of structs are those of the compiler`() {
        let structs = found.structs
        #expect(structs.layout(.structure("struct pair"))?.size == 16)
        let inner = found.functions["thing_pair"]?.signature.parameters?[1].type
        guard case .structure(let key)? = inner else {
            Issue.record("not a struct: \(String(describing: inner))")
            return
        }
        #expect(structs.names[key] == "inner_t")
        #expect(structs.layout(.structure(key))?.size == 40)
        #expect(structs.places(key)?.map(\.offset) == [0, 8, 16, 24, 32])
        #expect(
            structs.places(key)?.map(\.name)
                == ["pairs0_left", "pairs0_right", "pairs1_left", "pairs1_right", "mark"])
        // Bit fields and unions can't be passed.
        #expect(structs.places("struct flags") == nil)
        #expect(structs.places("union both") == nil)
        #expect(structs.layout(.structure("union both"))?.size == 8)
    }

    @Test func `every part of a header, and any nonsense, is read to its end`() {
        let bytes = Array(Self.text.utf8)
        for end in stride(from: 0, to: bytes.count, by: 7) {
            _ = HeaderParser.read(Array(bytes[..<end]))
            var changed = bytes
            changed[end] = UInt8(ascii: "(")
            _ = HeaderParser.read(changed)
        }
        _ = HeaderParser.read(Array("int a\(String(repeating: "(", count: 50_000));".utf8))
        _ = HeaderParser.read(Array(String(repeating: "struct { ", count: 50_000).utf8))
        _ = HeaderParser.read(Array("int f(int a[\(String(repeating: "(*", count: 5_000))".utf8))
        _ = HeaderParser.read(Array("struct s { struct s inner; char c[9223372036854775807][8]; };".utf8))
    }
}

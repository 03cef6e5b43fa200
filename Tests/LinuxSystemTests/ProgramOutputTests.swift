import LinuxSystem
import TaskModel
import Testing

@Suite struct ProgramOutputTests {
    private func run(
        _ script: String, timeout: Duration = .seconds(60), atMost most: Int = 1 << 20
    ) throws -> ProgramOutput {
        try ProgramOutput.run(
            ["/bin/sh", "-c", script], environment: ["A=b"], timeout: timeout, atMost: most)
    }

    @Test func `output, errors and the exit status are those of the program`() throws {
        let run = try run("pwd; echo $A; cat; echo no >&2; exit 3")
        #expect(run.end == .exited(3))
        #expect(String(decoding: run.output, as: UTF8.self) == "/\nb\n")
        #expect(String(decoding: run.errors, as: UTF8.self) == "no\n")
        #expect(try self.run("kill -9 $$").end == .signalled(9))
    }

    @Test func `a program that prints too much is killed`() throws {
        #expect(try run("while :; do echo text; done", atMost: 10_000).end == .outOfBounds)
    }

    @Test(arguments: ["sleep 1000", "exec >&- 2>&-; sleep 1000", "sleep 1000 & exit 0"])
    func `a program that takes too long is killed, with all that it started`(script: String) throws {
        #expect(try run(script, timeout: .milliseconds(50)).end == .outOfBounds)
    }

    @Test func `a program that does not exist is an error`() {
        #expect(throws: SystemCallError.self) {
            try ProgramOutput.run(["/nosuch"], environment: [], timeout: .seconds(1), atMost: 1)
        }
    }
}

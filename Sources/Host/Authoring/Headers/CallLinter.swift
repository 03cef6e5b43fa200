import HandlerRegistry
import LinuxSystem
import StrictFiles
public import TaskModel

/// Compares the calls of manifests with the C headers that they name.
///
/// Only `bgtask lint` and `bgtask new call` do this. A host never reads headers.
public struct CallLinter {
    private var source: HeaderSource

    /// - Parameter path: The value of `PATH`, in which the C compiler is searched for.
    public init(path: String) {
        source = HeaderSource(programs: HeaderPrograms(path: path))
    }

    /// The problems of the calls of a manifest; empty if the file has errors or is not a manifest.
    ///
    /// If a header can't be read, a note says that the call was not compared with it, and why.
    public mutating func problems(in file: String) -> [ManifestProblem] {
        ManifestLinter.calls(in: file).flatMap { problems(of: $0) }
    }

    private mutating func problems(of call: DeclaredCall) -> [ManifestProblem] {
        guard let first = call.headers.first else { return [] }
        let program = call.program
        let libraries = Set(program.invocations.compactMap(\.library) + [program.library]).sorted()
        let headers: HeaderDeclarations
        do throws(HeaderSource.Failure) {
            headers = try source.declarations(call.headers.map(\.name), libraries: libraries)
        } catch {
            return [
                ManifestProblem(
                    severity: .note, file: call.file, line: first.place.line, column: first.place.column,
                    finding: "the arguments of the call were not checked: \(error.finding)",
                    remedy: error.remedy)
            ]
        }
        let names = CallNameTypes(program)
        let others = [program.message, program.onExpiration].count { $0 != nil }
        let steps = program.invocations.count - others
        var problems: [ManifestProblem] = []
        for (index, (invocation, place)) in zip(program.invocations, call.functions).enumerated() {
            func add(_ severity: ManifestProblem.Severity, _ finding: String, _ remedy: String?) {
                problems.append(
                    ManifestProblem(
                        severity: severity, file: call.file, line: place.line, column: place.column,
                        finding: finding, remedy: remedy))
            }
            guard let function = headers.functions[invocation.function] else {
                let (finding, remedy) = Self.undeclared(
                    invocation.function, headers, call.headers.map(\.name), adding: "header: [...]")
                add(.warning, "\(finding), so its arguments were not checked", remedy)
                continue
            }
            let check = CallSignatureCheck(
                function: function, structs: headers.structs, callbacks: program.callbacks, names: names)
            for found in check.findings(invocation, checksResult: index < steps) {
                add(found.severity, found.finding, found.remedy)
            }
        }
        return problems
    }

    /// What to say of a function that headers do not declare, and what to do.
    ///
    /// - Parameters:
    ///   - function: The name of the function.
    ///   - found: What the headers declare.
    ///   - headers: The names of the headers.
    ///   - addition: How to name a further header.
    /// - Returns: The finding and the remedy.
    static func undeclared(
        _ function: String, _ found: HeaderDeclarations, _ headers: [String], adding addition: String
    ) -> (finding: String, remedy: String) {
        let list = headers.joined(separator: " and ")
        if let macro = found.macros[function] {
            let words = macro.replacement.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            let callee = words.lazy.map(String.init).first { found.functions[$0] != nil }
            return (
                "\(function) is a macro of \(list), and not a function",
                callee.map { "It calls \($0): \(macro.replacement.shortened)" }
                    ?? "It stands for: \(macro.replacement.shortened)"
            )
        }
        let near = Nearest.match(function, in: found.functions.keys.sorted())
        return (
            "\(list) \(headers.count == 1 ? "does" : "do") not declare \(function)",
            near.map { "Did you mean '\($0)'? Otherwise, add the header that declares it: \(addition)" }
                ?? "Add the header that declares it: \(addition)"
        )
    }
}

/// A `call:` of a manifest: C functions of installed libraries, called in order (grammar: Documentation/Call.md).
///
/// Texts may hold `${payload.KEY}`, which the host fills in per launch before it encodes the program for the runner.
public struct CallProgram: Equatable, Sendable {
    /// Where functions are looked up unless a step says otherwise.
    public var library: String

    /// Makes a program.
    public init(library: String) {
        self.library = library
    }
}

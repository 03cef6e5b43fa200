import LinuxSystem

/// The declarations of some headers of this machine.
struct HeaderSource {
    /// Why headers can't be read.
    struct Failure: Error, Equatable {
        var finding: String
        var remedy: String
    }

    let programs: HeaderPrograms
    /// The files that were read before, by the names of the headers and libraries.
    private var known: [[String]: Result<HeaderDeclarations, Failure>] = [:]

    init(programs: HeaderPrograms) {
        self.programs = programs
    }

    /// Reads headers, all of them as one file includes them.
    ///
    /// Only the preprocessor runs: nothing is compiled, and nothing of a manifest reaches it but the names
    /// of headers that exist below the system's directories.
    ///
    /// - Parameters:
    ///   - headers: The names of the headers, which ``CallHeader/isValid(_:)`` has checked.
    ///   - libraries: The libraries with the functions; their packages may have directories of their own.
    /// - Returns: What they declare.
    /// - Throws: ``Failure`` if a header or the preprocessor is missing, or if it fails.
    mutating func declarations(
        _ headers: [String], libraries: [String]
    ) throws(Failure) -> HeaderDeclarations {
        let key = headers + [""] + libraries
        if let result = known[key] { return try result.get() }
        let result = Result { () throws(Failure) in try read(headers, libraries) }
        known[key] = result
        return try result.get()
    }

    private func read(_ headers: [String], _ libraries: [String]) throws(Failure) -> HeaderDeclarations {
        let directories = HeaderDirectories(libraries: libraries, headers: headers, programs: programs)
        var includes: [String] = []
        for header in headers {
            guard let path = directories.path(of: header) else {
                throw Failure(
                    finding: "the header \(header) is not installed", remedy: remedy(for: header))
            }
            includes += ["-include", path]
        }
        guard let preprocessor = programs.preprocessor else {
            throw Failure(
                finding: "this machine has no C compiler to read \(headers.joined(separator: " and ")) with",
                remedy: "Install one: apt install gcc libc6-dev")
        }
        let options = ["-x", "c", "-dD", "-D_GNU_SOURCE"] + directories.further.flatMap { ["-I", $0] }
        let run: ProgramOutput
        do {
            run = try programs.run(preprocessor + options + includes + ["/dev/null"])
        } catch {
            throw Failure(finding: "\(error)", remedy: "Check the compiler: \(preprocessor[0]) --version")
        }
        guard run.end == .exited(0) else {
            let errors = String(decoding: run.errors, as: UTF8.self).split(separator: "\n")
            let line = errors.first { $0.contains("error") } ?? errors.first ?? "it did not end in time"
            throw Failure(
                finding: "the C preprocessor can't read \(headers.joined(separator: " and ")): \(line)",
                remedy: "Install what the header includes")
        }
        return HeaderParser.read(run.output)
    }

    /// How to get a header that is not installed; with the name of its package if apt-file knows it.
    private func remedy(for header: String) -> String {
        if let program = programs.path(of: "apt-file"),
            let found = programs.output([program, "search", "--package-only", "include/\(header)"])
        {
            let names = String(decoding: found, as: UTF8.self).split(separator: "\n").prefix(4)
            if names.count == 1 { return "Install it: apt install \(names[0])" }
            if !names.isEmpty { return "It is in one of these packages: \(names.joined(separator: ", "))" }
        }
        return "Install the development package of the library. Its name often ends in -dev or -devel; "
            + "'apt-file search include/\(header)' finds it on Debian"
    }
}

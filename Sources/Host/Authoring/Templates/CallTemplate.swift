extension TemplateNames {
    /// The files of a job without a plugin: its manifest calls a function of libc, or those of a draft.
    func callFiles(_ draft: CallDraft?) -> [TemplateFile] {
        [
            TemplateFile(path: "\(name).yaml", text: draft.map(callManifest) ?? callManifest),
            TemplateFile(
                path: "Makefile",
                text: manifestMakefile(checks: "its grammar, and that the library has the functions")),
            TemplateFile(
                path: "README.md",
                text: manifestReadme(
                    sentence: "without code: `\(name).yaml` calls functions of an installed library",
                    checks: "checks the manifest, and that the library has the functions", task: "call")),
        ]
    }

    private var callManifest: String {
        """
        # A job without a plugin: functions of an installed library, called in order. Documentation/Call.md has all keys.
        apiVersion: bgtask/v1
        bundle: \(bundle)
        modes: [processing]
        tasks:
          - identifier: \(bundle).call
            kind: processing
            call:
              library: libc.so.6              # a name as 'ldconfig -p' lists it
              steps:
                - {function: puts, returns: int, expect: {atLeast: 0}, arguments: [{string: "Hello from \(name)"}]}

        """
    }

    private func callManifest(_ draft: CallDraft) -> String {
        """
        # A job without a plugin: functions of an installed library, called in order. Documentation/Call.md has all keys.
        # The types are those of \(draft.headers.joined(separator: " and ")); 'bgtask lint' compares them again.
        # The values are empty ones: put in yours. Add 'expect' where a result says that a function failed.
        apiVersion: bgtask/v1
        bundle: \(bundle)
        modes: [processing]
        tasks:
          - identifier: \(bundle).call
            kind: processing
            call:
        \(draft.lines.map { "      " + $0 }.joined(separator: "\n"))

        """
    }
}

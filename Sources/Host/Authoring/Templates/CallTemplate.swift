extension TemplateNames {
    /// The files of a job without a plugin: its manifest calls a function of libc.
    var callFiles: [TemplateFile] {
        [
            TemplateFile(path: "\(name).yaml", text: callManifest),
            TemplateFile(
                path: "Makefile",
                text: lintMakefile(checks: "its grammar, and that the library has the functions")),
            TemplateFile(path: "README.md", text: callReadme),
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

    /// The Makefile of a job that is only a manifest.
    func lintMakefile(checks: String) -> String {
        """
        # make test checks the manifest: \(checks).
        BGTASK ?= \(bgtask)

        .PHONY: all test
        all:

        test:
        \t$(BGTASK) lint \(name).yaml

        """
    }

    private var callReadme: String {
        """
        # \(name)

        A background task for bgtask, without code: `\(name).yaml` calls functions of an installed library.

        ```
        make test     # checks the manifest, and that the library has the functions
        bgtask dev    # runs the task in a private host
        ```

        `make test` uses the `bgtask` that created these files. For another one, write `make test BGTASK=PATH`.
        To install the task, copy `\(name).yaml` into the manifests directory of the host, which
        `bgtask config show paths` prints. Then start it:

        ```
        bgtask launch \(bundle).call --wait
        ```

        """
    }
}

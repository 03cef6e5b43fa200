/// The files that jobs without a plugin have in common.
extension TemplateNames {
    /// The Makefile of a job that is only a manifest.
    func manifestMakefile(checks: String) -> String {
        """
        # make test checks the manifest: \(checks).
        BGTASK ?= \(bgtask)

        .PHONY: all test
        all:

        test:
        \t$(BGTASK) lint \(name).yaml

        """
    }

    /// The readme of a job that is only a manifest.
    ///
    /// - Parameters:
    ///   - sentence: What follows "A background task for bgtask, ", without a full stop.
    ///   - checks: What `make test` does.
    ///   - task: The last part of the task's identifier.
    /// - Returns: The text.
    func manifestReadme(sentence: String, checks: String, task: String) -> String {
        """
        # \(name)

        A background task for bgtask, \(sentence).

        ```
        make test     # \(checks)
        bgtask dev    # runs the task in a private host
        ```

        `make test` uses the `bgtask` that created these files. For another one, write `make test BGTASK=PATH`.
        To install the task, copy `\(name).yaml` into the manifests directory of the host, which
        `bgtask config show paths` prints. Then start it:

        ```
        bgtask launch \(bundle).\(task) --wait
        ```

        """
    }
}

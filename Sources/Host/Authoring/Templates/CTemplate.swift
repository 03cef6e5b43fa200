extension TemplateNames {
    /// The files of a plugin in C: one source file, its manifest, and a Makefile with a test.
    func cFiles(headers: [TemplateFile]) -> [TemplateFile] {
        headers + [
            TemplateFile(path: "\(name).c", text: source),
            TemplateFile(path: "\(name).yaml", text: cManifest),
            TemplateFile(path: "exports.map", text: Self.exports),
            TemplateFile(
                path: "Makefile",
                text: compiledMakefile(
                    source: "\(name).c", flags: "CFLAGS", command: "$(CC) $(CFLAGS) -std=c17 -D_GNU_SOURCE")),
            TemplateFile(
                path: "README.md",
                text: compiledReadme("C", source: "\(name).c", function: "run", needs: "a C compiler")),
            TemplateFile(path: ".gitignore", text: "*.so\n"),
        ]
    }

    private var source: String {
        """
        /* \(name): a plugin for bgtask. bgtask.h is the manual: it says who owns what, and which thread may
         * call which function. */
        #include <bgtask.h>
        #include <stdio.h>

        static void run(bgtask_task *task, const bgtask_host *host) {
            const bgtask_launch *launch = host->launch(task);
            const int64_t steps = 20;
            (void)host->expiration_descriptor(task); /* gives this task a grace period */

            for (int64_t step = 0; step < steps; step++) {
                if (host->expired(task, NULL)) return; /* not finished: the host puts the request back */
                /* Do one step of your work here. */
                host->progress(task, step + 1, steps, "working");
            }

            char message[64];
            snprintf(message, sizeof message, "attempt %u: %d steps", launch->attempt, (int)steps);
            host->complete(task, 1, message);
        }

        static const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof plugin, run};

        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }

        """
    }

    /// The version script of a library that exports only its entry function.
    static let exports = "{ global: bgtask_plugin_entry; local: *; };\n"

    /// The manifest of a plugin with one task.
    var cManifest: String {
        """
        apiVersion: bgtask/v1
        bundle: \(bundle)
        library: \(library)
        modes: [processing]
        tasks:
          - identifier: \(bundle).work
            kind: processing

        """
    }

    /// The Makefile of a plugin that a compiler makes of one source file.
    ///
    /// - Parameters:
    ///   - source: The name of the file.
    ///   - flags: The variable with the compiler's options.
    ///   - command: The compiler with the options that the file needs.
    /// - Returns: The text.
    func compiledMakefile(source: String, flags: String, command: String) -> String {
        """
        # make builds the plugin; make test checks it and, where there is a host, runs it.
        # On another machine: make test BGTASK=bgtask
        BGTASK ?= \(bgtask)
        BGTASK_HEADERS ?= include
        \(flags) ?= -O2 -g -Wall -Wextra

        \(library): \(source) exports.map
        \t\(command) -shared -fPIC -fvisibility=hidden -I$(BGTASK_HEADERS) \\
        \t    -o $@ \(source) -Wl,--version-script=exports.map

        .PHONY: test clean
        test: \(library)
        \t@test "$$(nm -D --defined-only \(library) | awk '{print $$NF}')" = bgtask_plugin_entry || \\
        \t    { echo '\(library) exports more or less than bgtask_plugin_entry:'; nm -D --defined-only \(library); exit 1; }
        \t$(BGTASK) lint \(name).yaml
        \t@if [ -x "$$(dirname "$$(command -v $(BGTASK))")/bgtaskd" ]; then $(BGTASK) dev --once .; \\
        \telse echo 'The plugin was built and checked, but not run: bgtaskd is not in the directory of $(BGTASK).'; fi

        clean:
        \trm -f \(library)

        """
    }

    /// The readme of a plugin that a compiler makes of one source file.
    ///
    /// - Parameters:
    ///   - language: The language of the file.
    ///   - source: The name of the file.
    ///   - function: The function in it that does the work.
    ///   - needs: What the build needs.
    ///   - others: The rows of the table about further files; by default, those of C and C++.
    /// - Returns: The text.
    func compiledReadme(
        _ language: String, source: String, function: String, needs: String,
        others: [String] = [
            "| `include/bgtask.h` | the interface to the host, and its manual; a copy, so that the plugin builds anywhere |",
            "| `include/bgtask_json.h` | functions that read the payload of a request, also a copy |",
            "| `exports.map` | the only symbol that the library exports |",
        ]
    ) -> String {
        """
        # \(name)

        A background task for bgtask, in \(language).

        | file | content |
        |---|---|
        | `\(source)` | the handler; put your work into `\(function)` |
        | `\(name).yaml` | the manifest: which task the host may start, and when |
        \(others.joined(separator: "\n"))

        ```
        make                 # builds \(library); needs only \(needs)
        make test            # checks the library and the manifest, and runs the task in a private host
        bgtask dev --watch   # builds and runs it again whenever a file changes
        ```

        `make test` uses the `bgtask` that created these files. For another one, write `make test BGTASK=PATH`.
        To install the plugin, copy `\(library)` into the plugins directory of the host and `\(name).yaml` into its
        manifests directory. `bgtask config show paths` prints both. Then start the task:

        ```
        bgtask launch \(bundle).work --wait
        ```

        """
    }
}

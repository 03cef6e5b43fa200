extension TemplateNames {
    /// The files of a plugin in C: one source file, its manifest, and a Makefile with a test.
    func cFiles(header: String) -> [TemplateFile] {
        [
            TemplateFile(path: "include/bgtask.h", text: header),
            TemplateFile(path: "\(name).c", text: source),
            TemplateFile(path: "\(name).yaml", text: cManifest),
            TemplateFile(path: "exports.map", text: "{ global: bgtask_plugin_entry; local: *; };\n"),
            TemplateFile(path: "Makefile", text: makefile),
            TemplateFile(path: "README.md", text: cReadme),
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

    private var cManifest: String {
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

    private var makefile: String {
        """
        # make builds the plugin; make test checks it and, where there is a host, runs it.
        # On another machine: make test BGTASK=bgtask
        BGTASK ?= \(bgtask)
        BGTASK_HEADERS ?= include
        CFLAGS ?= -O2 -g -Wall -Wextra

        \(library): \(name).c exports.map
        \t$(CC) $(CFLAGS) -std=c17 -D_GNU_SOURCE -shared -fPIC -fvisibility=hidden -I$(BGTASK_HEADERS) \\
        \t    -o $@ \(name).c -Wl,--version-script=exports.map

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

    private var cReadme: String {
        """
        # \(name)

        A background task for bgtask, in C.

        | file | content |
        |---|---|
        | `\(name).c` | the handler; put your work into `run` |
        | `\(name).yaml` | the manifest: which task the host may start, and when |
        | `include/bgtask.h` | the interface to the host, and its manual; a copy, so that the plugin builds anywhere |
        | `exports.map` | the only symbol that the library exports |

        ```
        make                 # builds \(library); needs a C compiler only
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

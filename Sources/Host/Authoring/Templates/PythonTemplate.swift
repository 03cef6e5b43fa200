extension TemplateNames {
    /// The files of a job that is a program in Python.
    ///
    /// - Parameter directory: The absolute path of the directory to which the files are written; the manifest
    ///   names the program by it.
    /// - Returns: The files.
    func pythonFiles(in directory: String) -> [TemplateFile] {
        [
            TemplateFile(path: "\(name).py", text: pythonSource),
            TemplateFile(path: "\(name).yaml", text: pythonManifest(directory)),
            TemplateFile(
                path: "Makefile",
                text: manifestMakefile(checks: "its grammar, and that its programs exist")),
            TemplateFile(
                path: "README.md",
                text: manifestReadme(
                    sentence:
                        "a program in Python: `\(name).py`. If you move it, change its path in `\(name).yaml`",
                    checks: "checks the manifest", task: "work")),
        ]
    }

    private func pythonManifest(_ directory: String) -> String {
        """
        # A job that is a program. Documentation/Command.md has all keys.
        apiVersion: bgtask/v1
        bundle: \(bundle)
        modes: [processing]
        tasks:
          - identifier: \(bundle).work
            kind: processing
            command:
              run: [/usr/bin/python3, "\(directory)/\(name).py"]
        sandbox:
          read: ["\(directory)"]

        """
    }

    private var pythonSource: String {
        """
        #!/usr/bin/env python3
        \"""\(name): a job for bgtask. Documentation/Command.md describes the lines that it writes to the host.\"""
        import base64
        import os
        import signal
        import sys

        STEPS = 20
        # The descriptor for lines to the host; without a host, they go to standard error.
        CONTROL = open(int(os.environ.get("BGTASK_CONTROL", 2)), "w", buffering=1, closefd=False)


        class Expired(Exception):
            \"""The host asks the job to end. A later attempt continues from the checkpoint.\"""


        def expire(_number, _frame):
            raise Expired


        def tell(*words):
            print(*words, file=CONTROL)


        def save(text):
            \"""Saves a text for the next attempt, if this one does not succeed.\"""
            tell("checkpoint", base64.b64encode(text.encode()).decode())


        def restore():
            \"""The text that an earlier attempt saved; None if there is none.\"""
            path = os.environ.get("BGTASK_CHECKPOINT")
            if path is None:
                return None
            with open(path, encoding="utf-8") as file:
                return file.read()


        def main():
            signal.signal(signal.SIGTERM, expire)
            # Lines reach 'bgtask logs' at once, and none is lost if the job is killed.
            sys.stdout.reconfigure(line_buffering=True)
            first = int(restore() or 0)
            try:
                for step in range(first, STEPS):
                    # Do one step of your work here.
                    tell("progress", step + 1, STEPS, "working")
                    save(str(step + 1))
            except Expired:
                sys.exit(75)
            print(f"attempt {os.environ.get('BGTASK_ATTEMPT', 1)}: {STEPS - first} steps")


        main()

        """
    }
}

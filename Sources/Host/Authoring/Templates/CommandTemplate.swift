extension TemplateNames {
    /// The files of a job that is a program or a shell script.
    var commandFiles: [TemplateFile] {
        [
            TemplateFile(path: "\(name).yaml", text: commandManifest),
            TemplateFile(
                path: "Makefile",
                text: manifestMakefile(checks: "its grammar, and that its programs exist")),
            TemplateFile(
                path: "README.md",
                text: manifestReadme(
                    sentence: "a shell script: `\(name).yaml` contains it",
                    checks: "checks the manifest", task: "command")),
        ]
    }

    private var commandManifest: String {
        """
        # A job that is a program. Documentation/Command.md has all keys.
        apiVersion: bgtask/v1
        bundle: \(bundle)
        modes: [processing]
        tasks:
          - identifier: \(bundle).command
            kind: processing
            command:
              # One program: run: [/usr/bin/rsync, -rlt, /srv/a/, /srv/b]
              script: |
                echo "Hello from \(name), attempt $BGTASK_ATTEMPT"
                bgtask-task progress 1 2 "half done"
                sleep 1
                bgtask-task progress 2 2 "done"

        """
    }
}

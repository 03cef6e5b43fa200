extension TemplateNames {
    /// The files of a plugin in C++: one source file, its manifest, and a Makefile with a test.
    func cppFiles(headers: [TemplateFile]) -> [TemplateFile] {
        headers + [
            TemplateFile(path: "\(name).cpp", text: cppSource),
            TemplateFile(path: "\(name).yaml", text: cManifest),
            TemplateFile(path: "exports.map", text: Self.exports),
            TemplateFile(
                path: "Makefile",
                text: compiledMakefile(
                    source: "\(name).cpp", flags: "CXXFLAGS", command: "$(CXX) $(CXXFLAGS) -std=c++17")),
            TemplateFile(
                path: "README.md",
                text: compiledReadme(
                    "C++", source: "\(name).cpp", function: "work", needs: "a C++ compiler")),
            TemplateFile(path: ".gitignore", text: "*.so\n"),
        ]
    }

    private var cppSource: String {
        """
        // \(name): a plugin for bgtask. bgtask.h is the manual: it says who owns what, and which thread may
        // call which function.
        #include <bgtask.h>

        #include <exception>
        #include <string>

        namespace {

        // The functions of the host, for the one task of this process.
        class Task {
        public:
            Task(bgtask_task *task, const bgtask_host *host) : task(task), host(host) {
                (void)host->expiration_descriptor(task); // gives this task a grace period
            }
            const bgtask_launch &launch() const { return *host->launch(task); }
            bool expired() const { return host->expired(task, nullptr) != 0; }
            void progress(int64_t completed, int64_t total, const std::string &text) {
                host->progress(task, completed, total, text.c_str());
            }
            void complete(bool success, const std::string &text) { host->complete(task, success, text.c_str()); }

        private:
            bgtask_task *task;
            const bgtask_host *host;
        };

        void work(Task &task) {
            constexpr int64_t steps = 20;
            for (int64_t step = 0; step < steps; step++) {
                if (task.expired()) return; // not finished: the host puts the request back
                // Do one step of your work here.
                task.progress(step + 1, steps, "working");
            }
            task.complete(true, "attempt " + std::to_string(task.launch().attempt) + ": " + std::to_string(steps) + " steps");
        }

        // An exception must not leave this function, because the caller is C.
        void run(bgtask_task *handle, const bgtask_host *host) noexcept {
            Task task(handle, host);
            try {
                work(task);
            } catch (const std::exception &error) {
                task.complete(false, error.what());
            }
        }

        const bgtask_plugin plugin = {BGTASK_ABI_VERSION, sizeof plugin, run};

        } // namespace

        const bgtask_plugin *bgtask_plugin_entry(void) { return &plugin; }

        """
    }
}

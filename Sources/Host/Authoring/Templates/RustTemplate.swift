extension TemplateNames {
    /// The files of a plugin in Rust: a crate, its manifest, and a Makefile with a test.
    var rustFiles: [TemplateFile] {
        [
            TemplateFile(path: "Cargo.toml", text: cargo),
            TemplateFile(path: "src/lib.rs", text: rustSource),
            TemplateFile(path: "src/bgtask.rs", text: Self.rustBindings),
            TemplateFile(path: "\(name).yaml", text: rustManifest),
            TemplateFile(path: "Makefile", text: rustMakefile),
            TemplateFile(
                path: "README.md",
                text: compiledReadme(
                    "Rust", source: "src/lib.rs", function: "work", needs: "cargo",
                    others: [
                        "| `src/bgtask.rs` | the interface to the host: a part of `bgtask.h`, which is its manual |"
                    ])),
            TemplateFile(path: ".gitignore", text: "/target\n*.so\n"),
        ]
    }

    private var cargo: String {
        """
        [package]
        name = "\(crate)"
        version = "0.1.0"
        edition = "2021"

        [lib]
        crate-type = ["cdylib"]

        # A panic must not leave the library, because the caller is C.
        [profile.dev]
        panic = "abort"

        [profile.release]
        panic = "abort"

        """
    }

    private var rustManifest: String {
        cManifest.replacing("library: \(library)", with: "library: lib\(crate).so")
    }

    private var rustMakefile: String {
        """
        # make builds the plugin; make test checks it and, where there is a host, runs it.
        # On another machine: make test BGTASK=bgtask
        BGTASK ?= \(bgtask)

        lib\(crate).so: Cargo.toml $(wildcard src/*.rs)
        \tcargo build --release
        \tcp target/release/lib\(crate).so $@

        .PHONY: test clean
        test: lib\(crate).so
        \t$(BGTASK) lint \(name).yaml
        \t@if [ -x "$$(dirname "$$(command -v $(BGTASK))")/bgtaskd" ]; then $(BGTASK) dev --once .; \\
        \telse echo 'The plugin was built and checked, but not run: bgtaskd is not in the directory of $(BGTASK).'; fi

        clean:
        \trm -rf lib\(crate).so target

        """
    }

    private var rustSource: String {
        """
        //! \(name): a plugin for bgtask.
        mod bgtask;

        use bgtask::Task;

        fn work(task: &Task) {
            const STEPS: i64 = 20;
            for step in 0..STEPS {
                if task.expired() {
                    return; // not finished: the host puts the request back
                }
                // Do one step of your work here.
                task.progress(step + 1, STEPS, "working");
            }
            task.complete(true, &format!("attempt {}: {} steps", task.attempt(), STEPS));
        }

        bgtask::plugin!(work);

        """
    }

    /// The part of bgtask.h that most handlers need.
    ///
    /// A table of the host may be longer than the struct here, because members are only added at its end.
    private static let rustBindings = """
        //! The interface to the host. The structs are the beginnings of those in bgtask.h, which is the
        //! manual: it says who owns what, and which thread may call which function. Members are only added
        //! at their ends.
        #![allow(dead_code)]
        use std::ffi::{c_char, c_int, c_void, CString};
        use std::ptr::null_mut;

        #[repr(C)]
        pub struct Launch {
            pub struct_size: usize,
            pub identifier: *const c_char,
            pub bundle: *const c_char,
            pub kind: c_int,
            pub launch_id: u64,
            pub request_id: u64,
            pub attempt: u32,
            pub fencing_token: u64,
            pub payload: *const c_void,
            pub payload_length: usize,
            pub checkpoint: *const c_void,
            pub checkpoint_length: usize,
        }

        #[repr(C)]
        pub struct Host {
            abi_version: u32,
            struct_size: usize,
            launch: extern "C" fn(*const c_void) -> *const Launch,
            progress: extern "C" fn(*mut c_void, i64, i64, *const c_char) -> c_int,
            log: extern "C" fn(*mut c_void, c_int, *const c_char),
            checkpoint: extern "C" fn(*mut c_void, *const c_void, usize) -> c_int,
            submit: *const c_void,
            cancel: *const c_void,
            pending: *const c_void,
            begin_assertion: *const c_void,
            end_assertion: *const c_void,
            complete: extern "C" fn(*mut c_void, i32, *const c_char),
            set_expiration_handler: *const c_void,
            expiration_descriptor: extern "C" fn(*mut c_void) -> c_int,
            expired: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        }

        #[repr(C)]
        pub struct Plugin {
            abi_version: u32,
            struct_size: usize,
            run: extern "C" fn(*mut c_void, *const Host),
        }

        impl Plugin {
            pub const fn new(run: extern "C" fn(*mut c_void, *const Host)) -> Self {
                Plugin { abi_version: 1, struct_size: std::mem::size_of::<Plugin>(), run }
            }
        }

        /// The running task.
        pub struct Task {
            task: *mut c_void,
            host: &'static Host,
        }

        /// The importance of a line of the log.
        pub enum Level {
            Debug = 1,
            Info = 2,
            Notice = 3,
            Warning = 4,
            Error = 5,
        }

        /// A text without NUL characters, as C needs it.
        fn text(text: &str) -> CString {
            CString::new(text.replace('\\0', " ")).unwrap_or_default()
        }

        impl Task {
            /// Called by `plugin!`; the pointers are those that the runner passes.
            pub fn new(task: *mut c_void, host: *const Host) -> Self {
                let host: &'static Host = unsafe { &*host };
                (host.expiration_descriptor)(task); // gives this task a grace period
                Task { task, host }
            }

            fn launch(&self) -> &Launch {
                unsafe { &*(self.host.launch)(self.task) }
            }

            /// The number of the attempt, from 1.
            pub fn attempt(&self) -> u32 {
                self.launch().attempt
            }

            fn bytes(pointer: *const c_void, length: usize) -> &'static [u8] {
                // The runner keeps these bytes for the life of the process.
                if pointer.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(pointer.cast(), length) } }
            }

            /// The payload of the request as JSON text; empty if there is none.
            pub fn payload(&self) -> &'static [u8] {
                Self::bytes(self.launch().payload, self.launch().payload_length)
            }

            /// What an earlier attempt saved; empty if there is nothing.
            pub fn saved(&self) -> &'static [u8] {
                Self::bytes(self.launch().checkpoint, self.launch().checkpoint_length)
            }

            /// Saves at most 48 KiB for the next attempt of the request; false if the runner refuses it.
            pub fn save(&self, bytes: &[u8]) -> bool {
                (self.host.checkpoint)(self.task, bytes.as_ptr().cast(), bytes.len()) == 0
            }

            /// Reports progress; a total of 0 means that it is not known.
            pub fn progress(&self, completed: i64, total: i64, message: &str) {
                (self.host.progress)(self.task, completed, total, text(message).as_ptr());
            }

            /// Writes a line to the log of the launch.
            pub fn log(&self, level: Level, message: &str) {
                (self.host.log)(self.task, level as c_int, text(message).as_ptr());
            }

            /// Whether the host asks the task to end.
            pub fn expired(&self) -> bool {
                (self.host.expired)(self.task, null_mut()) != 0
            }

            /// Completes the task; only the first call has an effect.
            pub fn complete(&self, success: bool, message: &str) {
                (self.host.complete)(self.task, success as i32, text(message).as_ptr());
            }
        }

        /// Exports the entry function of the plugin, whose handler is a function of a `&Task`.
        macro_rules! plugin {
            ($work:path) => {
                extern "C" fn run(task: *mut std::ffi::c_void, host: *const $crate::bgtask::Host) {
                    $work(&$crate::bgtask::Task::new(task, host));
                }

                struct Entry($crate::bgtask::Plugin);
                // The struct is never changed.
                unsafe impl Sync for Entry {}
                static ENTRY: Entry = Entry($crate::bgtask::Plugin::new(run));

                // In the edition 2024, write #[unsafe(no_mangle)].
                #[no_mangle]
                pub extern "C" fn bgtask_plugin_entry() -> *const $crate::bgtask::Plugin {
                    &ENTRY.0
                }
            };
        }
        pub(crate) use plugin;

        """
}

/// The forms of a new plugin.
public enum PluginTemplate: String, CaseIterable, Sendable {
    /// A Swift package that imports `BackgroundTasks`.
    case swift
    /// One C file that includes `bgtask.h`.
    case c
    /// One C++ file that includes `bgtask.h`.
    case cpp
    /// A Rust crate with the interface of `bgtask.h`.
    case rust
    /// A program in Python, and a manifest that runs it.
    case python
    /// Only a manifest, which calls functions of an installed library.
    case call
    /// Only a manifest, which contains a shell script.
    case command
}

/// The names that are filled into the template of a new plugin.
struct TemplateNames {
    /// The plugin's name as the user gave it, such as `photo_feed`.
    var name: String
    /// The identifier of the bundle.
    var bundle: String
    /// The path of the `bgtask` program, for the Makefile.
    var bgtask: String

    /// The name of the Swift type: the plugin's name with a capital, such as `Photo_feed`.
    var type: String { name.prefix(1).uppercased() + name.dropFirst() }
    /// The file name of the built library.
    var library: String { "lib\(name).so" }
    /// The name of the Rust crate's library, in which `-` is `_`.
    var crate: String { name.map { $0 == "-" ? "_" : String($0) }.joined() }
}

/// One file of a template.
struct TemplateFile: Equatable {
    /// The path, relative to the plugin's directory.
    var path: String
    var text: String
}

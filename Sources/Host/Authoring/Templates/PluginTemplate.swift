/// What a plugin may begin as.
public enum PluginTemplate: String, CaseIterable, Sendable {
    /// A Swift package on the module `BackgroundTasks`.
    case swift
    /// One C file on `bgtask.h`.
    case c
    /// A manifest alone, which calls functions of an installed library.
    case call
}

/// The names that a new plugin's files are filled with.
struct TemplateNames {
    /// As it was given: `photo_feed`.
    var name: String
    /// Its bundle.
    var bundle: String
    /// The command that made it.
    var bgtask: String

    /// The type in Swift: `Photo_feed`.
    var type: String { name.prefix(1).uppercased() + name.dropFirst() }
    /// The built plugin.
    var library: String { "lib\(name).so" }
}

/// One file of a template.
struct TemplateFile: Equatable {
    /// Relative to the plugin's directory.
    var path: String
    var text: String
}

import FoundationEssentials
import LinuxSystem
import StrictFiles
import TaskModel

/// Where this host's configuration comes from, besides the code.
public struct SettingsSources: Sendable {
    /// One file, wherever it is.
    struct Place: Equatable {
        var path: String
        /// `vendor`, `administrator` or `option --config`.
        var layer: String
    }

    /// The vendor's file: root's, for every host of the machine.
    let vendor: String
    /// The directory of the administrator's `bgtaskd.yaml` and `conf.d`.
    let directory: String
    /// The file that `--config` names.
    let named: String?
    let environment: [String: String]
    let options: [SettingsLayer.Value]

    /// Names the sources.
    ///
    /// - Parameters:
    ///   - root: Stands before `/usr/share` and `/etc`, for images and tests; `nil` is this system, where a
    ///     user's host has `$XDG_CONFIG_HOME/bgtask` in place of `/etc/bgtask`.
    ///   - file: `--config`; one file above the administrator's.
    ///   - environment: All variables; `nil` takes the process's.
    ///   - options: Values of the command line by the option's name, with the key each stands for.
    public init(
        root: String? = nil, file: String? = nil, environment: [String: String]? = nil,
        options: [(option: String, key: String, value: String?)] = []
    ) {
        let root = root.map(Self.absolute)
        vendor = (root ?? "") + "/usr/share/bgtask/bgtaskd.yaml"
        directory = root.map { $0 + "/etc/bgtask" } ?? HostPaths.configurationDirectory
        named = file.map(Self.absolute)
        self.environment = environment ?? SettingsEnvironment.ofProcess
        self.options = options.compactMap { option in
            guard let value = option.value, let key = SettingTable.key(named: option.key) else { return nil }
            // A path on the command line means the directory in which the user is, as everywhere in a shell.
            let isRelativePath = key.kind.isPath && !value.isEmpty && !value.hasPrefix("~/")
            return .init(
                key: key, text: isRelativePath ? Self.absolute(value) : value,
                source: "option --\(option.option)")
        }
    }

    /// Watches need whole paths, and messages are clearer with them.
    private static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        let tail = path == "." ? "" : path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        let base = FileManager.default.currentDirectoryPath
        return tail.isEmpty ? base : (base == "/" ? "" : base) + "/" + tail
    }

    var dropIns: String { directory + "/conf.d" }

    /// The files, the lowest first; those of `conf.d` that are there now.
    func places() -> [Place] {
        var places = [
            Place(path: vendor, layer: "vendor"),
            Place(path: directory + "/bgtaskd.yaml", layer: "administrator"),
        ]
        places += ((try? YAMLFiles.paths(in: dropIns)) ?? []).map { Place(path: $0, layer: "administrator") }
        if let named { places.append(Place(path: named, layer: "option --config")) }
        return places
    }

    /// What must be watched to see every change of the files.
    func watched() -> Set<String> {
        // The files of conf.d besides their directory: one may be a link to elsewhere.
        Set(places().map(\.path) + [dropIns])
    }
}

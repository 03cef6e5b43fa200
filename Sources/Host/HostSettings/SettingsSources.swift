import FoundationEssentials
import LinuxSystem
import StrictFiles
import TaskModel

/// The sources of a host's configuration, besides the default values.
public struct SettingsSources: Sendable {
    /// One file, whether it exists or not.
    struct Place: Equatable {
        var path: String
        /// `vendor`, `administrator` or `option --config`.
        var layer: String
    }

    /// The vendor's file, which applies to every host on the machine.
    let vendor: String
    /// The directory of the administrator's `bgtaskd.yaml` and `conf.d`.
    let directory: String
    /// The file that `--config` names.
    let named: String?
    let environment: [String: String]
    let options: [SettingsLayer.Value]

    /// Creates the list of sources.
    ///
    /// - Parameters:
    ///   - root: A prefix of `/usr/share` and `/etc`, for disk images and tests. `nil` means this system;
    ///     there, the host of a user other than root reads `$XDG_CONFIG_HOME/bgtask` instead of
    ///     `/etc/bgtask`.
    ///   - file: The path after `--config`; this file overrides those of the administrator.
    ///   - environment: All environment variables; `nil` means those of this process.
    ///   - options: Options of the command line: the name without `--`, the key that it sets, and the value;
    ///     a value of `nil` is ignored.
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
            // On the command line, a relative path is relative to the current directory.
            let isRelativePath = key.kind.isPath && !value.isEmpty && !value.hasPrefix("~/")
            return .init(
                key: key, text: isRelativePath ? Self.absolute(value) : value,
                source: "option --\(option.option)")
        }
    }

    /// Makes a path absolute, because the watch needs absolute paths and messages are clearer with them.
    private static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        let tail = path == "." ? "" : path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        let base = FileManager.default.currentDirectoryPath
        return tail.isEmpty ? base : (base == "/" ? "" : base) + "/" + tail
    }

    var dropIns: String { directory + "/conf.d" }

    /// The files, lowest layer first, with the files that `conf.d` contains now.
    func places() -> [Place] {
        var places = [
            Place(path: vendor, layer: "vendor"),
            Place(path: directory + "/bgtaskd.yaml", layer: "administrator"),
        ]
        places += ((try? YAMLFiles.paths(in: dropIns)) ?? []).map { Place(path: $0, layer: "administrator") }
        if let named { places.append(Place(path: named, layer: "option --config")) }
        return places
    }

    /// The files that exist now and the directory of the administrator's files: who can write there decides
    /// what the host does.
    public var paths: [String] { [directory] + places().map(\.path) }

    /// The paths to watch, so that every change of the files is noticed.
    func watched() -> Set<String> {
        // The directory is not enough: a file of `conf.d` can be a link to a file in another directory.
        Set(places().map(\.path) + [dropIns])
    }
}

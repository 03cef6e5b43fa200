import LinuxSystem
import StrictFiles
public import TaskModel

/// Converts an app's Info.plist to a manifest.
public struct PlistConversion {
    /// The size of the largest property list that is read, 1 MiB; those of apps have a few KiB.
    private static let maximumSize = 1 << 20

    private let file: String
    private let list: AppPropertyList
    private let bundle: BundleIdentifier
    private let uses: [SourceUse]
    /// The background sessions in the sources; `nil` without sources.
    private let sessions: [SourceUse]?
    private var modes: Set<BackgroundMode> = []
    private var tasks: [ManifestDraft.Task] = []
    private var notes: [String] = []

    /// Reads a property list and drafts a manifest from it.
    ///
    /// - Parameters:
    ///   - path: The Info.plist, in XML or binary format.
    ///   - bundle: The identifier of the bundle; `nil` takes it from the property list.
    ///   - library: The library's file name; `nil` guesses it.
    ///   - sources: A directory of Swift sources that show the kinds of tasks; `nil` guesses the kinds.
    ///   - settings: A configuration file of Xcode (`.xcconfig`) with the build settings that the property
    ///     list refers to; `nil` if there is none.
    /// - Returns: The manifest, with notes for its author.
    /// - Throws: ``AuthoringError`` if a file can't be read, or if the property list lacks a key or has a
    ///   wrong value.
    public static func manifest(
        fromPlist path: String, bundle: BundleIdentifier?, library: String?, sources: String?,
        settings: String? = nil
    ) throws(AuthoringError) -> ManifestDraft {
        var conversion = try Self(path, bundle, sources, settings)
        return try conversion.draft(library)
    }

    private init(
        _ path: String, _ given: BundleIdentifier?, _ sources: String?, _ settings: String?
    ) throws(AuthoringError) {
        let bytes: [UInt8]
        do {
            bytes = try FileContents.read(path, limit: Self.maximumSize)
        } catch {
            throw AuthoringError(path, "\(error)", "Give a readable Info.plist")
        }
        guard bytes.count <= Self.maximumSize else {
            throw AuthoringError(path, "it is larger than 1 MiB", "Give the app's Info.plist")
        }
        let known = if let settings { try BuildSettings(file: settings) } else { BuildSettings() }
        list = try AppPropertyList(bytes, file: path, settings: known)
        file = path
        if let given {
            bundle = given
        } else {
            bundle = try Self.bundle(of: list, in: path)
        }
        if let sources {
            uses = try SourceLinter.uses(in: sources)
            sessions = try SourceLinter.sessions(in: sources)
        } else {
            uses = []
            sessions = nil
        }
    }

    private static func bundle(of list: AppPropertyList, in file: String) throws(AuthoringError)
        -> BundleIdentifier
    {
        let remedy =
            "Give it: --bundle com.example.app, or the file that sets it: --build-settings App.xcconfig"
        guard let text = list.bundle else {
            throw AuthoringError(file, "it has no CFBundleIdentifier; Xcode adds it when it builds", remedy)
        }
        guard !text.contains("$") else {
            throw AuthoringError(
                file, "CFBundleIdentifier is '\(text)', which Xcode replaces when it builds", remedy)
        }
        do {
            return try BundleIdentifier(text)
        } catch {
            throw AuthoringError(file, "CFBundleIdentifier '\(text)': \(error)", remedy)
        }
    }

    private mutating func draft(_ library: String?) throws(AuthoringError) -> ManifestDraft {
        for text in list.modes {
            if let mode = BackgroundMode(rawValue: text) {
                modes.insert(mode)
            } else {
                notes.append("The mode '\(text)' is left out: \(ForeignModes.replacement(of: text)).")
            }
        }
        for text in list.permitted { try add(text) }
        addPush()
        addTransferEvents()
        for task in tasks where task.pattern.isWildcard { noteLateRegistration(of: task.pattern) }
        guard !tasks.isEmpty else {
            throw AuthoringError(
                file, "it permits no identifiers: BGTaskSchedulerPermittedIdentifiers is missing or empty",
                "Add the identifiers that the app registers; a manifest needs at least one")
        }
        for task in tasks {
            guard let mode = task.kind.requiredMode, modes.insert(mode).inserted else { continue }
            notes.append(
                "The mode '\(mode.rawValue)' was not in UIBackgroundModes; '\(task.pattern)' needs it.")
        }
        let order: [BackgroundMode] = [.fetch, .processing, .remoteNotification, .healthResearch]
        return ManifestDraft(
            bundle: bundle, library: library ?? guessedLibrary, isLibraryGuessed: library == nil,
            modes: order.filter(modes.contains), tasks: tasks, notes: notes)
    }

    private mutating func add(_ text: String) throws(AuthoringError) {
        let pattern = try pattern(text)
        guard !tasks.contains(where: { $0.pattern == pattern }) else {
            notes.append("'\(pattern)' is in BGTaskSchedulerPermittedIdentifiers twice.")
            return
        }
        let task =
            try said(pattern)
            ?? {
                let guess = KindGuess.kind(of: pattern, bundle: bundle, modes: modes)
                return ManifestDraft.Task(pattern: pattern, kind: guess.kind, reason: guess.reason)
            }()
        let isInside =
            pattern.base.rawValue.hasPrefix(bundle.rawValue + ".")
            || (pattern.isWildcard && pattern.base.rawValue == bundle.rawValue)
        guard task.kind != .continuedProcessing || isInside else {
            throw AuthoringError(
                file, "the continued identifier '\(pattern)' does not begin with '\(bundle).'",
                "Rename it in the app, or give the bundle that it begins with: --bundle ID")
        }
        tasks.append(task)
    }

    /// Parses an identifier, after replacing build settings that mean the bundle's identifier.
    private func pattern(_ text: String) throws(AuthoringError) -> IdentifierPattern {
        var replaced = text
        for name in ["PRODUCT_BUNDLE_IDENTIFIER", "CFBundleIdentifier"] {
            for setting in [name, name + ":rfc1034identifier"] {
                replaced = replaced.replacing("$(\(setting))", with: bundle.rawValue)
                    .replacing("${\(setting)}", with: bundle.rawValue)
            }
        }
        guard !replaced.contains("$") else {
            throw AuthoringError(
                file,
                "the identifier '\(text)' contains a build setting, which Xcode replaces when it builds",
                "Give the file that sets it, --build-settings App.xcconfig, or the Info.plist of the built app: "
                    + "App.app/Info.plist")
        }
        do {
            return try IdentifierPattern(replaced)
        } catch {
            throw AuthoringError(file, "the identifier '\(text)': \(error)", "Rename it in the app")
        }
    }

    /// The task with the kind that the sources show; `nil` if they show none.
    ///
    /// - Throws: ``AuthoringError`` if the sources show several kinds.
    private func said(_ pattern: IdentifierPattern) throws(AuthoringError) -> ManifestDraft.Task? {
        let matching = uses.filter { $0.kind != nil && $0.name.isCovered(by: pattern) }
        guard let first = matching.first, let kind = first.kind else { return nil }
        if let other = matching.first(where: { $0.kind != kind }), let otherKind = other.kind {
            throw AuthoringError(
                other.file,
                "line \(other.place.line) uses '\(pattern)' as \(otherKind.rawValue), "
                    + "\(first.file) line \(first.place.line) as \(kind.rawValue)",
                "An identifier has one kind: use two identifiers")
        }
        return ManifestDraft.Task(
            pattern: pattern, kind: kind, reason: "as in \(Self.name(of: first.file)):\(first.place.line)")
    }

    /// Adds a note if the sources register only full identifiers of a wildcard, which code does when it uses
    /// them: a launch of a plugin is a new process, in which that code does not run.
    private mutating func noteLateRegistration(of pattern: IdentifierPattern) {
        let registrations = uses.filter { $0.role == .registration && $0.name.isCovered(by: pattern) }
        guard let first = registrations.first,
            !registrations.contains(where: { $0.name == .whole(pattern.description) })
        else { return }
        notes.append(
            "\(Self.name(of: first.file)):\(first.place.line) registers an identifier of '\(pattern)' when it is "
                + "used. If the app is a plugin, register '\(pattern)' while it launches. If it is a program "
                + "that runs these tasks itself, remove 'library' and write 'client: true'.")
    }

    private mutating func addPush() {
        guard modes.contains(.remoteNotification) else { return }
        let text = bundle.rawValue + ".push"
        guard let pattern = try? IdentifierPattern(text), !tasks.contains(where: { $0.pattern == pattern })
        else { return }
        tasks.append(
            ManifestDraft.Task(
                pattern: pattern, kind: .push, reason: "for 'remote-notification'; to send one: bgtask push"))
    }

    /// Adds the tasks that the events of background sessions launch, which a property list does not name.
    private mutating func addTransferEvents() {
        for session in sessions ?? [] {
            guard case .whole(let text) = session.name else { continue }
            addTransferEvents(text, "for the session in \(Self.name(of: session.file)):\(session.place.line)")
        }
        guard !tasks.contains(where: { $0.kind == .transferEvents }) else { return }
        let name = bundle.rawValue + ".transfers"
        if let first = sessions?.first {
            addTransferEvents(name, "for the session in \(Self.name(of: first.file)):\(first.place.line)")
        } else if sessions == nil, tasks.isEmpty, modes.isDisjoint(with: [.fetch, .processing]) {
            addTransferEvents(name, "guessed: only background sessions need neither identifiers nor modes")
        }
    }

    private mutating func addTransferEvents(_ text: String, _ reason: String) {
        guard let pattern = try? IdentifierPattern(text), !pattern.isWildcard,
            !tasks.contains(where: { $0.pattern == pattern })
        else { return }
        tasks.append(ManifestDraft.Task(pattern: pattern, kind: .transferEvents, reason: reason))
    }

    /// A guess such as `libPhotos.so`, from the executable's name or else the last part of the bundle.
    private var guessedLibrary: String {
        let name = list.name ?? bundle.rawValue.split(separator: ".").last.map(String.init) ?? "App"
        return "lib" + name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
            + ".so"
    }

    private static func name(of path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}

extension SourceUse.Name {
    /// Whether the pattern permits the identifier, as far as the source shows it.
    func isCovered(by pattern: IdentifierPattern) -> Bool {
        switch self {
        case .whole(let text):
            if text == pattern.description { return true }
            guard let identifier = try? TaskIdentifier(text) else { return false }
            return pattern.matches(identifier)
        case .prefix(let text):
            return pattern.isWildcard && text.hasPrefix(pattern.base.rawValue + ".")
        case .unknown:
            return false
        }
    }
}

import StrictFiles
public import TaskModel

/// A task of a manifest, with the position of its identifier.
public struct DeclaredTask: Equatable, Sendable {
    /// The path of the manifest.
    public var file: String
    /// The line of the identifier, counted from 1.
    public var line: Int
    /// The column of the identifier, counted from 1.
    public var column: Int
    /// The task.
    public var task: TaskDeclaration
}

extension ManifestLinter {
    /// The tasks of a manifest; empty if the file has errors or is not a manifest.
    ///
    /// ``lint(files:pluginsDirectory:conditionsDirectory:)`` reports the errors.
    public static func declarations(in file: String) -> [DeclaredTask] {
        var calls = CallLibraries(CallSearch([], mustExist: false))
        guard let read = ManifestFile.read(file, isInstalled: false, calls: &calls).0 else { return [] }
        return zip(read.manifest.tasks, read.taskPlaces).map { task, place in
            DeclaredTask(file: file, line: place.line, column: place.column, task: task)
        }
    }
}

extension ManifestLinter {
    /// Reads a manifest without checking its library; `nil` if the file has errors or is not a manifest.
    ///
    /// ``lint(files:pluginsDirectory:conditionsDirectory:)`` reports the errors.
    public static func manifest(in file: String) -> Manifest? {
        var calls = CallLibraries(CallSearch([], mustExist: false))
        return ManifestFile.read(file, isInstalled: false, calls: &calls).0?.manifest
    }
}

import StrictFiles
public import TaskModel

/// A task of a manifest, with the place of its identifier.
public struct DeclaredTask: Equatable, Sendable {
    /// The manifest's file.
    public var file: String
    /// The line of its identifier, from 1.
    public var line: Int
    /// The column of its identifier, from 1.
    public var column: Int
    /// The task.
    public var task: TaskDeclaration
}

extension ManifestLinter {
    /// The tasks of a manifest; none if it has errors, which
    /// ``lint(files:pluginsDirectory:conditionsDirectory:)`` reports, or if the file is not a manifest.
    public static func declarations(in file: String) -> [DeclaredTask] {
        var calls = CallLibraries(pluginsDirectory: nil)
        guard let read = ManifestFile.read(file, isInstalled: false, calls: &calls).0 else { return [] }
        return zip(read.manifest.tasks, read.taskPlaces).map { task, place in
            DeclaredTask(file: file, line: place.line, column: place.column, task: task)
        }
    }
}

extension ManifestLinter {
    /// A manifest, without its library; `nil` if it has errors, which lint reports, or if the file is not a
    /// manifest.
    public static func manifest(in file: String) -> Manifest? {
        var calls = CallLibraries(pluginsDirectory: nil)
        return ManifestFile.read(file, isInstalled: false, calls: &calls).0?.manifest
    }
}

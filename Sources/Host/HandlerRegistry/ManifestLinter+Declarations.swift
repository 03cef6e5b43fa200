public import StrictFiles
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

/// The call of a task, with the positions of its parts.
public struct DeclaredCall: Equatable, Sendable {
    /// The path of the manifest.
    public var file: String
    /// The call.
    public var program: CallProgram
    /// The positions of the functions' names, in the order of ``CallProgram/invocations``.
    public var functions: [Place]
    /// The headers that declare the functions; empty if the manifest names none.
    public var headers: [CallHeader]
}

extension ManifestLinter {
    /// The calls of a manifest; empty if the file has errors or is not a manifest.
    public static func calls(in file: String) -> [DeclaredCall] {
        var calls = CallLibraries(CallSearch([], mustExist: false))
        guard let read = ManifestFile.read(file, isInstalled: false, calls: &calls).0 else { return [] }
        return zip(read.manifest.tasks, read.callPlaces).compactMap { task, places in
            guard let program = task.call, let places else { return nil }
            return DeclaredCall(
                file: file, program: program, functions: places.functions, headers: places.headers)
        }
    }
}

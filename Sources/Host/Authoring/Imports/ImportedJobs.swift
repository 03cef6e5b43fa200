/// A job of another scheduler, as a manifest.
public struct ImportedJob: Sendable {
    /// The manifest that does the same.
    public let manifest: CommandManifest
    /// What the manifest does not keep, or does in another way, as sentences.
    public let notes: [String]
}

/// The jobs of a file of another scheduler.
public struct ImportedJobs: Sendable {
    /// The jobs, in the order of the file; their names differ.
    public private(set) var jobs: [ImportedJob] = []
    /// What could not be read, each with the place in the file: a sentence.
    public internal(set) var failures: [String] = []

    /// The name of the jobs, if the user gave one; later ones get a number.
    private let name: String?
    private var names: [String: Int] = [:]

    /// No job yet.
    ///
    /// - Parameter name: The name of the jobs; `nil` derives it from what each runs.
    init(name: String?) { self.name = name }

    /// Adds a job, under a name of its own, with its notes in the manifest's comment.
    ///
    /// - Parameters:
    ///   - action: What the job runs.
    ///   - text: A text from which the name is derived, such as the path of the program.
    ///   - origin: Where the job comes from, as the first lines of the manifest.
    ///   - notes: What the manifest does not keep.
    ///   - configure: Sets the other properties of the manifest.
    mutating func add(
        _ action: CommandManifest.Action, named text: String, from origin: [String], notes: [String],
        _ configure: (inout CommandManifest) -> Void
    ) {
        var manifest = CommandManifest(action, named: name ?? text)
        let count = names[manifest.name, default: 0] + 1
        names[manifest.name] = count
        if count > 1 { manifest = CommandManifest(action, named: "\(manifest.name.prefix(36))-\(count)") }
        manifest.origin = origin + notes.map { "Note: \($0)" }
        configure(&manifest)
        jobs.append(ImportedJob(manifest: manifest, notes: notes))
    }
}

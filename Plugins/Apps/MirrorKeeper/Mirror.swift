import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A folder that is kept equal to a catalogue of files.
struct Mirror: Sendable {
    let catalogue: URL
    /// The folder of the files, next to the index.
    let folder: URL

    /// The number of files that are requested at the same time.
    private static let concurrency = 4

    /// Fetches the files that have changed, and removes the files that the catalogue no longer has.
    ///
    /// If one file cannot be fetched, the others are still updated.
    ///
    /// - Parameter progress: Counts files.
    /// - Returns: The numbers of fetched, unchanged, removed and failed files.
    /// - Throws: ``MirrorProblem`` for the catalogue, `CancellationError`, or an error of URLSession or the
    ///   disk.
    func update(_ progress: Progress) async throws -> Update {
        let disk = Disk(folder)
        var index = try await disk.readIndex()
        let client = Client()
        let list = try await client.catalogue(at: catalogue)
        progress.totalUnitCount = Int64(list.files.count) + 1
        var update = Update()

        try await withThrowingTaskGroup(of: (String, Result<Client.Answer, any Error>).self) { group in
            var waiting = list.files.makeIterator()
            func ask() {
                guard let file = waiting.next() else { return }
                let known = index[file.path]
                let child = Progress(totalUnitCount: 1, parent: progress, pendingUnitCount: 1)
                group.addTask {
                    defer { child.completedUnitCount = 1 }
                    do {
                        // A file that was removed or changed in the mirror's folder is fetched as if it were
                        // new.
                        let isKept = await disk.has(file.path, known?.sha256)
                        let answer = try await client.fetch(
                            file, relativeTo: catalogue, isKept ? known : nil)
                        if case .new(let data, _) = answer { try await disk.write(data, to: file.path) }
                        return (file.path, .success(answer))
                    } catch {
                        return (file.path, .failure(error))
                    }
                }
            }
            for _ in 0..<Self.concurrency { ask() }
            while let (path, result) = try await group.next() {
                try Task.checkCancellation()
                switch result {
                case .success(.same): update.same += 1
                case .success(.new(_, let entry)):
                    update.fetched += 1
                    index[path] = entry
                case .failure(let error):
                    update.failed += 1
                    Client.logger.warning(
                        "\(path, privacy: .public): \(String(describing: error), privacy: .public)")
                }
                ask()
            }
        }
        let listed = Set(list.files.map(\.path))
        for path in index.keys where !listed.contains(path) { index[path] = nil }
        update.pruned = try await disk.prune(keeping: listed)
        try await disk.writeIndex(index)
        progress.completedUnitCount += 1
        return update
    }
}

/// The numbers of files that an update handled.
struct Update: Equatable, Sendable, CustomStringConvertible {
    var fetched = 0
    var same = 0
    var failed = 0
    var pruned = 0

    var description: String { "\(fetched) fetched, \(same) unchanged, \(failed) failed, \(pruned) removed" }
}

/// A fault in a catalogue (the list of files that a server offers), or in a server's answer.
struct MirrorProblem: Error, Equatable, CustomStringConvertible {
    let description: String
}

/// The files that a catalogue lists.
struct Catalogue: Decodable, Sendable {
    struct File: Decodable, Sendable {
        /// The path in the mirror, and also the path on the server relative to the catalogue.
        let path: String
        /// The hash of the content in hexadecimal digits; `nil` means that any content is accepted.
        let sha256: String?
    }

    let files: [File]

    /// Reads a catalogue.
    ///
    /// - Throws: ``MirrorProblem`` for a path outside the mirror, or a path that two files share.
    static func read(_ data: Data) throws -> Catalogue {
        let catalogue: Catalogue
        do {
            catalogue = try JSONDecoder().decode(Catalogue.self, from: data)
        } catch {
            throw MirrorProblem(
                description: "the catalogue is not JSON of the form {\"files\": [{\"path\": ...}]}")
        }
        var seen: Set<String> = []
        for file in catalogue.files {
            let parts = file.path.split(separator: "/", omittingEmptySubsequences: false)
            guard !parts.contains(where: { ["", ".", ".."].contains($0) }), !file.path.contains("\0") else {
                throw MirrorProblem(
                    description: "the catalogue's path '\(file.path)' is outside the mirror")
            }
            guard seen.insert(file.path).inserted else {
                throw MirrorProblem(description: "the catalogue has '\(file.path)' twice")
            }
        }
        return catalogue
    }
}

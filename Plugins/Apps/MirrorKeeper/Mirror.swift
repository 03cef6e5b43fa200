import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A folder that is kept as a catalogue says.
struct Mirror: Sendable {
    let catalogue: URL
    /// Where the files are; what is known of them stands beside it.
    let folder: URL

    /// How many files are asked for at once.
    private static let concurrency = 4

    /// Fetches what has changed, and removes what the catalogue no longer has.
    ///
    /// One file that can't be had keeps none of the others from being updated.
    ///
    /// - Parameter progress: Counts files.
    /// - Returns: What was done.
    /// - Throws: ``MirrorProblem`` of the catalogue, `CancellationError`, or what URLSession and the disk
    ///   say.
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
                        // A file that was removed or changed here is fetched as if it had never been
                        // there.
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

/// What an update did.
struct Update: Equatable, Sendable, CustomStringConvertible {
    var fetched = 0
    var same = 0
    var failed = 0
    var pruned = 0

    var description: String { "\(fetched) fetched, \(same) unchanged, \(failed) failed, \(pruned) removed" }
}

/// What is wrong with a catalogue, or with what a server sends.
struct MirrorProblem: Error, Equatable, CustomStringConvertible {
    let description: String
}

/// What a catalogue lists.
struct Catalogue: Decodable, Sendable {
    struct File: Decodable, Sendable {
        /// Where it goes, and, from the catalogue's place, where it comes from.
        let path: String
        /// In hexadecimal digits; `nil` trusts the server.
        let sha256: String?
    }

    let files: [File]

    /// Reads a catalogue.
    ///
    /// - Throws: ``MirrorProblem`` for a path that leads out of the mirror, or that two files share.
    static func read(_ data: Data) throws -> Catalogue {
        let catalogue: Catalogue
        do {
            catalogue = try JSONDecoder().decode(Catalogue.self, from: data)
        } catch {
            throw MirrorProblem(
                description: "the catalogue is no JSON of the form {\"files\": [{\"path\": ...}]}")
        }
        var seen: Set<String> = []
        for file in catalogue.files {
            let parts = file.path.split(separator: "/", omittingEmptySubsequences: false)
            guard !parts.contains(where: { ["", ".", ".."].contains($0) }), !file.path.contains("\0") else {
                throw MirrorProblem(
                    description: "the catalogue's path '\(file.path)' is not one inside the mirror")
            }
            guard seen.insert(file.path).inserted else {
                throw MirrorProblem(description: "the catalogue has '\(file.path)' twice")
            }
        }
        return catalogue
    }
}

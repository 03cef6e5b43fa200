import LinuxSystem

/// Finds unit files of systemd, with their drop-ins, in the directories that systemd reads.
struct UnitFinder {
    /// The home directory, for the user's own units; `nil` if it is not known.
    let home: String?

    /// The directories, the most important one first.
    private var directories: [String] {
        let own = home.map { ["\($0)/.config/systemd/user", "\($0)/.local/share/systemd/user"] } ?? []
        let system = ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"].flatMap { root in
            ["\(root)/systemd/system", "\(root)/systemd/user"]
        }
        return own + system
    }

    /// Reads a unit.
    ///
    /// - Parameters:
    ///   - name: The name of the unit, such as `backup.timer`, or the path of its file.
    ///   - neighbour: The path of a file beside which the unit may be.
    /// - Returns: The settings, and the path of the file.
    /// - Throws: ``AuthoringError`` if there is no such file, or if it can't be read.
    func unit(
        _ name: String, beside neighbour: String? = nil
    ) throws(AuthoringError) -> (unit: UnitFile, path: String) {
        let isPath = name.contains("/")
        var places = directories
        if let slash = neighbour?.lastIndex(of: "/"), let neighbour {
            places.insert(String(neighbour[..<slash]), at: 0)
        }
        let names = [name] + (UnitName(name).template.map { [$0] } ?? [])
        let candidates = isPath ? names : names.flatMap { name in places.map { "\($0)/\(name)" } }
        guard let path = candidates.first(where: SmallFile.exists) else {
            throw AuthoringError(
                name, isPath ? "there is no such file" : "no directory of systemd has this unit",
                "Give the path of the file: bgtask import timer ./backup.timer")
        }
        var unit = UnitFile()
        unit.add(try text(of: path))
        // Those of an instance come after those of its template.
        let dropIns = names.flatMap { name in isPath ? ["\(name).d"] : places.map { "\($0)/\(name).d" } }
        for directory in dropIns.reversed() {
            for file in ((try? DirectoryTree.names(in: directory)) ?? [])
            where file.hasSuffix(".conf") {
                unit.add(try text(of: "\(directory)/\(file)"))
            }
        }
        return (unit, path)
    }

    private func text(of path: String) throws(AuthoringError) -> String {
        do {
            return String(
                decoding: try FileContents.read(path, atMost: CrontabImport.maximumSize), as: UTF8.self)
        } catch {
            throw AuthoringError(path, "the file can't be read: \(error)", "Give another file")
        }
    }
}

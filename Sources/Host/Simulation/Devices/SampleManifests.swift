public import TaskModel

/// The manifests of a generated device if the user gives none: one bundle for each kind of work.
public enum SampleManifests {
    /// Creates the manifests: frequent news, photos on the charger, a nightly backup, and maps on request;
    /// and once a day, new pictures before they are looked at, and an upload at a good moment.
    ///
    /// - Throws: An error if an identifier below is not valid, which tests exclude.
    public static func make() throws -> [Manifest] {
        var refresh = try declaration("com.example.news.refresh", .appRefresh)
        refresh.schedule = Schedule(every: .seconds(1800), tolerance: .seconds(600))
        refresh.requiresNetworkConnectivity = true
        var cleanup = try declaration("com.example.photos.cleanup", .processing)
        cleanup.schedule = Schedule(every: .seconds(86_400), tolerance: .seconds(6 * 3600))
        cleanup.requiresExternalPower = true
        var backup = try declaration("com.example.backup.nightly", .processing)
        backup.schedule = Schedule(
            timing: .calendar(expression: "02:00", timeZone: "UTC"), tolerance: .seconds(4 * 3600))
        backup.requiresNetworkConnectivity = true
        var pictures = try declaration("com.example.photos.prefetch", .appRefresh)
        pictures.schedule = Schedule(every: .seconds(86_400), tolerance: .seconds(12 * 3600))
        pictures.isPrefetch = true
        var upload = try declaration("com.example.photos.upload", .processing)
        upload.schedule = Schedule(every: .seconds(86_400), tolerance: .seconds(12 * 3600))
        upload.network = .any
        upload.requiresNetworkConnectivity = true
        let maps = try declaration("com.example.maps.download", .continuedProcessing)
        return [
            try manifest("com.example.backup", [.processing], [backup]),
            try manifest("com.example.maps", [], [maps]),
            try manifest("com.example.news", [.fetch], [refresh]),
            try manifest("com.example.photos", [.fetch, .processing], [cleanup, pictures, upload]),
        ]
    }

    private static func declaration(_ identifier: String, _ kind: TaskKind) throws -> TaskDeclaration {
        TaskDeclaration(pattern: try IdentifierPattern(identifier), kind: kind)
    }

    private static func manifest(
        _ bundle: String, _ modes: Set<BackgroundMode>, _ tasks: [TaskDeclaration]
    ) throws -> Manifest {
        Manifest(
            bundle: try BundleIdentifier(bundle), library: "sample.so", modes: modes, tasks: tasks,
            sandbox: SandboxDeclaration())
    }
}

import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

/// Names for shell completion, which the running host knows.
///
/// The completion script of each shell calls `bgtask` for them. Without a host, there are none.
enum LiveNames {
    /// How many of the newest launches and oldest requests are offered.
    private static let shown = 20
    /// The longest wait for a busy host, in seconds; usually, its answer takes milliseconds.
    private static let patience = 10

    /// Identifiers of tasks.
    static let tasks = kind { client, prefix in
        try await client.names(beginningWith: prefix).tasks.identifiers
    }

    /// Identifiers of bundles.
    static let bundles = kind { client, prefix in
        try await client.names(beginningWith: prefix).bundles.identifiers
    }

    /// Identifiers of tasks, the newest launches and the oldest pending requests.
    static let targets = kind { client, prefix in
        let tasks = try await client.names(beginningWith: prefix).tasks.identifiers
        return try await launches(client) + requests(client) + tasks
    }

    /// The newest launches.
    static let launches = kind { client, _ in try await launches(client) }

    /// Keys of conditions, ready for a value.
    static let conditions = kind { client, _ in try await client.conditions().map { $0.key + "=" } }

    private static func launches(_ client: ControlClient) async throws -> [String] {
        try await client.launchPage(after: nil, limit: shown).launches.map(\.launch.description)
    }

    private static func requests(_ client: ControlClient) async throws -> [String] {
        try await client.pendingSummaries(after: nil, limit: shown).requests.map(\.request.description)
    }

    private static func kind(
        _ find: @escaping @Sendable (ControlClient, TaskIdentifier?) async throws -> [String]
    ) -> CompletionKind {
        .custom { words, _, prefix in
            let prefix = try? TaskIdentifier(prefix)
            let client = ControlClient(socketPath: socket(of: words), timeout: patience)
            return (try? await find(client, prefix)) ?? []
        }
    }

    /// The socket that the command would use.
    private static func socket(of words: [String]) -> String {
        let option = words.firstIndex(of: "--socket").map { words.index(after: $0) }
        let paths = ControlSocketSearch.candidates(
            option: option.flatMap { words.indices.contains($0) ? words[$0] : nil },
            environment: Surroundings.current.environment)
        return CommonOptions.socketPath(among: paths)
    }
}

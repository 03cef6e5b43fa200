import TaskModel

/// Numbers of requests in one column: `7 8`.
enum StoredRequests {
    static func encode(_ requests: [RequestID]) -> String {
        requests.map { "\($0.rawValue)" }.joined(separator: " ")
    }

    static func decode(_ text: String) -> [RequestID] {
        // Nearly all requests have none.
        if text.isEmpty { return [] }
        return text.split(separator: " ").compactMap { Int64($0) }.map(RequestID.init(rawValue:))
    }
}

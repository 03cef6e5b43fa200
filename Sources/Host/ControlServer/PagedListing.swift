import Hummingbird
import NIOCore
import TaskModel

/// Names of the forms of a listing, for the header field `Content-Type`.
enum MediaType {
    /// One JSON value.
    static let json = "application/json"
    /// One JSON array in each line.
    static let rows = "application/jsonl"
}

/// A listing of any length, which the host makes page by page while the client reads it.
///
/// So the whole listing is never in memory, and the work ends when the client disconnects.
struct PagedListing<Row: Sendable, Cursor: Sendable>: Sendable {
    /// The greatest number of rows; `nil` for all.
    let limit: Int?
    /// The greatest number of rows of a page.
    let pageLength: Int
    /// Makes the page after a row, with at most this many rows; it gets `nil` for the first page.
    let page: @Sendable (Cursor?, Int) async throws -> ListingPage<Row, Cursor>

    /// The response with the whole listing.
    ///
    /// After the first page, an error closes the connection before the body is complete.
    ///
    /// - Parameters:
    ///   - type: The media type.
    ///   - end: What follows the last row.
    ///   - encode: Encodes the rows of a page, and learns whether it is the first.
    /// - Returns: The response.
    /// - Throws: An error of the first page, which becomes the status of the response.
    func response(
        _ type: String, end: String = "",
        _ encode: @escaping @Sendable ([Row], _ isFirst: Bool) throws -> [UInt8]
    ) async throws -> Response {
        let length = min(limit ?? .max, pageLength)
        let first = try await page(nil, length)
        let body = ResponseBody { writer in
            var current = first
            var left = limit
            var isFirst = true
            while true {
                left = left.map { $0 - current.rows.count }
                let next = left == 0 ? nil : current.next
                let count = min(left ?? .max, pageLength)
                // The host makes the next page while this one is encoded and written.
                async let following = after(next, count)
                let bytes = try await withTaskExecutorPreference(globalConcurrentExecutor) {
                    [rows = current.rows, isFirst] in try encode(rows, isFirst)
                }
                if !bytes.isEmpty { try await writer.write(ByteBuffer(bytes: bytes)) }
                isFirst = false
                guard let part = try await following else { break }
                current = part
            }
            if !end.isEmpty { try await writer.write(ByteBuffer(string: end)) }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: type], body: body)
    }

    /// The page after a row; `nil` if there is none.
    private func after(_ cursor: Cursor?, _ count: Int) async throws -> ListingPage<Row, Cursor>? {
        guard let cursor else { return nil }
        return try await page(cursor, count)
    }
}

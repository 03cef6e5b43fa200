import TaskModel
import Testing

/// The text of a transfer's metrics, which comes from a process that speaks to the network.
@Suite struct TransferMetricsTests {
    private static let text =
        "1760000000123 10 200 3000 3100 45000 90000 2 11 0 180 95 127.0.0.1 8080 127.0.0.1 40001"

    @Test func `a valid text is read, and kept as it is`() throws {
        let metrics = try #require(TransferMetrics(Self.text))
        #expect(metrics.begin == WallTime(milliseconds: 1_760_000_000_123))
        #expect(metrics.nameLookup == .microseconds(10) && metrics.connect == .microseconds(200))
        #expect(metrics.secureConnect == .milliseconds(3) && metrics.request == .microseconds(3100))
        #expect(metrics.firstByte == .milliseconds(45) && metrics.total == .milliseconds(90))
        #expect(metrics.redirects == 2 && metrics.version == 11 && !metrics.isReused)
        #expect(metrics.responseHeaderBytes == 180 && metrics.requestHeaderBytes == 95)
        #expect(metrics.remoteAddress == "127.0.0.1" && metrics.remotePort == 8080)
        #expect(metrics.localPort == 40001 && metrics.text == Self.text)
    }

    @Test func `a connection that did not come about has no address`() throws {
        let metrics = try #require(TransferMetrics("1 0 0 0 0 0 5 0 0 1 0 0 - 0 - 0"))
        #expect(metrics.remoteAddress == "" && metrics.localAddress == "" && metrics.isReused)
    }

    @Test(arguments: [
        "", "1 2 3", text + " 1", text.replacing("45000", with: "-1"), text.replacing("45000", with: "x"),
        text.replacing("1760000000123", with: "99999999999999999"),
        text.replacing("127.0.0.1", with: String(repeating: "1", count: 65)),
    ])
    func `any other text is no metrics`(text: String) { #expect(TransferMetrics(text) == nil) }
}

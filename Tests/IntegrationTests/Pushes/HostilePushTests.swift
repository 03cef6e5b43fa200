import Foundation
import TaskHostTestSupport
import Testing

/// What someone without the secret, who can reach the listener, can do to a host.
@Suite(.system) struct HostilePushTests {
    /// The longest time for a call of the control socket while the listener is attacked. Alone, it takes 3
    /// ms; the other tests of this machine run at the same time.
    private static let longestCall = Duration.seconds(2)

    /// Checks that the control socket answers quickly, and that a signed push is accepted.
    private func expectService(_ pushes: PushHost, _ what: Comment) throws {
        let clock = ContinuousClock()
        let time = try clock.measure { _ = try pushes.host.launches() }
        #expect(time < Self.longestCall, what)
        let answer = try pushes.sender.send(pushes.sender.request())
        #expect(answer?.status == 202, what)
    }

    @Test func `a thousand connections that say nothing keep no sender out`() throws {
        let pushes = try PushHost()
        try pushes.share()
        var connections: [Int32] = []
        defer { for connection in connections { close(connection) } }
        for _ in 1...1000 { connections.append(try pushes.sender.connect()) }
        // They come from the sender's own address, so only the newest are there.
        try expectService(pushes, "1,000 connections")
        let listing = Command.run("ls", "/proc/\(pushes.host.processIdentifier)/fd")
        #expect(listing.output.split(separator: "\n").count < 250, "the host holds few descriptors")
    }

    @Test func `slow heads, slow bodies, floods of chunks and huge bodies end with a status of the 400s`()
        throws
    {
        let pushes = try PushHost()
        try pushes.share()
        let sender = pushes.sender
        // A head that never ends, and a body that never comes: both stay open during the rest of the test.
        let slow = try sender.connect()
        PushSender.write(Array("POST /v1/pushes/com.example.mail HTTP/1.1\r\nwebhook-id: ".utf8), to: slow)
        let half = try sender.connect()
        PushSender.write(Array(sender.request().dropLast(1)), to: half)

        let head = "POST /v1/pushes/com.example.mail HTTP/1.1\r\n"
        let endless = try sender.connect()
        PushSender.write(Array((head + String(repeating: "x: y\r\n", count: 100_000)).utf8), to: endless)
        #expect(PushSender.answer(from: endless).map { $0.status == 400 } != false)
        close(endless)
        try expectService(pushes, "an endless head")

        let long = try sender.connect()
        PushSender.write(Array((head + "x: " + String(repeating: "y", count: 100_000)).utf8), to: long)
        #expect(PushSender.answer(from: long).map { $0.status == 400 } != false)
        close(long)
        try expectService(pushes, "a long header")

        let chunked = sender.request(headers: ["Transfer-Encoding: chunked"], without: "Content-Length")
        let start = Array(chunked.prefix { _ in true }.dropLast(PushSender.silent.utf8.count))
        let flood = try sender.connect()
        PushSender.write(start, to: flood)
        for _ in 1...200
        where !PushSender.write(Array(String(repeating: "1\r\n \r\n", count: 1000).utf8), to: flood) { break }
        #expect(PushSender.answer(from: flood).map { $0.status == 413 } != false)
        close(flood)
        try expectService(pushes, "a flood of chunks")

        let huge = try sender.connect()
        PushSender.write(start, to: huge)
        let chunk = Array("100000\r\n".utf8) + [UInt8](repeating: 0x20, count: 0x100000) + Array("\r\n".utf8)
        for _ in 1...64 where !PushSender.write(chunk, to: huge) { break }
        #expect(PushSender.answer(from: huge).map { $0.status == 413 } != false)
        close(huge)
        try expectService(pushes, "a body of 64 MiB")

        #expect(try sender.send([0, 0xFF, 0xFE, 0x0D, 0x0A, 0x0D, 0x0A])?.status == 400)
        #expect(try sender.send(sender.request("\u{FF}").map { $0 == 0xC3 ? 0xFF : $0 })?.status == 401)
        var rng = SystemRandomNumberGenerator()
        for _ in 1...100 {
            let noise = (0..<Int.random(in: 1...3000)).map { _ in UInt8.random(in: 0...255, using: &rng) }
            let status = try sender.send(noise + Array("\r\n\r\n\r\n\r\n".utf8))?.status
            #expect(status.map { (400...499).contains($0) } != false)
        }
        try expectService(pushes, "noise")

        // The deadline of 10 s ends the two that were slow.
        #expect(PushSender.answer(from: slow)?.status == 408)
        #expect(PushSender.answer(from: half)?.status == 408)
        close(slow)
        close(half)
        #expect(pushes.host.stop() == 0)
    }
}

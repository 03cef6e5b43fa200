import Glibc
import RunnerWire

/// Progress frames per second through a pipe and the host's decoder, compared with a loop that only reads
/// bytes.
struct FrameBenchmark {
    private let clock = ContinuousClock()
    /// Sequence numbers wrap after 65,536 frames, so a buffer of that many frames can be sent repeatedly.
    private static let framesPerBuffer = 65_536
    private static let buffers = 16

    func run() throws {
        print(
            "\nProgress frames, one writing and one reading thread (floor: the same bytes, read and dropped)")
        var encoder = FrameEncoder()
        var bytes: [UInt8] = []
        for number in 0..<Self.framesPerBuffer {
            bytes += try encoder.encode(
                TaskProgressMessage(completed: Int64(number), total: 1 << 20, message: nil))
        }
        var reads = 0
        let floor = try rate(of: bytes) { reads += $0.count }
        var decoder = FrameDecoder()
        var seen: Int64 = 0
        let decoded = try rate(of: bytes) { chunk in
            try decoder.consume(chunk) { (kind, body) throws(WireError) in
                guard kind == TaskProgressMessage.kind else { return }
                seen &+= try TaskProgressMessage(fields: body).completed
            }
        }
        guard reads == bytes.count * Self.buffers, seen > 0 else { throw BenchmarkError("frames were lost") }
        print(cell("read only", 44, right: false) + cell(decimal(floor / 1e6, 2) + " M/s", 12))
        print(
            cell("read and decode", 44, right: false) + cell(decimal(decoded / 1e6, 2) + " M/s", 12)
                + cell(decimal(decoded / floor, 2) + " x", 12))
    }

    private func rate(of bytes: [UInt8], _ consume: (UnsafeRawBufferPointer) throws -> Void) throws -> Double
    {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw BenchmarkError("pipe: \(errno)") }
        let (readEnd, writeEnd) = (ends[0], ends[1])
        defer { close(readEnd) }
        let writer = Writer(descriptor: writeEnd, bytes: bytes, times: Self.buffers)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(writer)
        let made = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Writer>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard made == 0 else { throw BenchmarkError("pthread_create: \(made)") }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { buffer.deallocate() }
        let start = clock.now
        while true {
            let count = read(readEnd, buffer.baseAddress, buffer.count)
            guard count > 0 else { break }
            try consume(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        let time = (clock.now - start).seconds
        pthread_join(thread, nil)
        return Double(Self.framesPerBuffer * Self.buffers) / time
    }

    /// Writes the same bytes repeatedly, then closes the descriptor.
    private final class Writer: Sendable {
        let descriptor: Int32
        let bytes: [UInt8]
        let times: Int

        init(descriptor: Int32, bytes: [UInt8], times: Int) {
            self.descriptor = descriptor
            self.bytes = bytes
            self.times = times
        }

        func run() {
            bytes.withUnsafeBytes { bytes in
                guard let first = bytes.baseAddress else { return }
                for _ in 0..<times {
                    var sent = 0
                    while sent < bytes.count {
                        let count = write(
                            descriptor, first + sent, min(65_536, bytes.count - sent))
                        guard count > 0 else { break }
                        sent += count
                    }
                }
            }
            close(descriptor)
        }
    }
}

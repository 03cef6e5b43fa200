/// Splits a stream of bytes into frames, and never holds more than one of them.
///
/// Chunks can have any size and can end anywhere. The decoder refuses a length that is out of bounds before
/// it keeps any byte of the frame, so a hostile peer can make it hold at most 64 KiB. After an error, drop
/// the peer, because the rest of the stream has no meaning.
public struct FrameDecoder: Sendable {
    /// The beginning of a frame that has not arrived completely.
    private var partial: [UInt8] = []
    /// The sequence number that the next frame must have; 0 follows 65,535.
    private var expectedSequence: UInt16 = 0

    /// Creates a decoder for the start of a stream, where the sequence number is 0.
    public init() {}

    /// Whether the decoder has received only part of a frame; the end of the stream is then a violation.
    public var isInsideFrame: Bool { !partial.isEmpty }

    /// The bytes held for an incomplete frame; at most 65,539.
    public var heldBytes: Int { partial.count }

    /// Takes the next bytes of the stream, and passes every frame that they complete to `receive`, in order.
    ///
    /// - Parameters:
    ///   - chunk: The bytes; the decoder reads them only during the call.
    ///   - receive: Called with each frame's kind, and a reader of its body that is valid only during the
    ///     call.
    /// - Throws: ``WireError`` for an invalid frame header, or the error of `receive`.
    public mutating func consume(
        _ chunk: UnsafeRawBufferPointer,
        _ receive: (_ kind: UInt8, _ body: FieldReader) throws(WireError) -> Void
    ) throws(WireError) {
        var rest = chunk[...]
        if !partial.isEmpty {
            try completePartial(from: &rest, receive)
        }
        while rest.count >= FrameLimits.headerSize {
            let length = try Self.length(of: UnsafeRawBufferPointer(rebasing: rest))
            let size = 4 + length
            guard rest.count >= size else { break }
            let frame = UnsafeRawBufferPointer(rebasing: rest.prefix(size))
            rest = rest.dropFirst(size)
            try handOver(frame, receive)
        }
        if rest.count >= 4 {
            _ = try Self.length(of: UnsafeRawBufferPointer(rebasing: rest))
        }
        partial.append(contentsOf: rest)
    }

    public mutating func consume(
        _ chunk: [UInt8], _ receive: (_ kind: UInt8, _ body: FieldReader) throws(WireError) -> Void
    ) throws(WireError) {
        let outcome: Result<Void, WireError> = chunk.withUnsafeBytes { bytes in
            do throws(WireError) {
                try consume(bytes, receive)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
    }

    /// Must be called at the end of the stream.
    ///
    /// - Throws: ``WireError`` if the stream ends inside a frame.
    public func finish() throws(WireError) {
        if isInsideFrame {
            throw WireError(.truncated, "the stream ended \(partial.count) bytes into a frame")
        }
    }

    private mutating func completePartial(
        from rest: inout Slice<UnsafeRawBufferPointer>,
        _ receive: (UInt8, FieldReader) throws(WireError) -> Void
    ) throws(WireError) {
        take(4, from: &rest)
        guard partial.count >= 4 else { return }
        let length = try partial.withUnsafeBytesThrowing(Self.length(of:))
        take(4 + length, from: &rest)
        guard partial.count == 4 + length else { return }
        // The buffer is emptied first, so that the frame is consumed even if `receive` throws.
        let frame = partial
        partial.removeAll(keepingCapacity: true)
        try frame.withUnsafeBytesThrowing { (bytes) throws(WireError) in try handOver(bytes, receive) }
    }

    /// Moves bytes from `rest` to ``partial`` until ``partial`` contains `size` bytes or `rest` is empty.
    private mutating func take(_ size: Int, from rest: inout Slice<UnsafeRawBufferPointer>) {
        let missing = size - partial.count
        guard missing > 0 else { return }
        partial.append(contentsOf: rest.prefix(missing))
        rest = rest.dropFirst(missing)
    }

    private static func length(of start: UnsafeRawBufferPointer) throws(WireError) -> Int {
        let length = UInt32(littleEndian: start.loadUnaligned(as: UInt32.self))
        guard length >= UInt32(FrameLimits.minimumLength), length <= UInt32(FrameLimits.maximumLength) else {
            throw WireError(
                .frameLength,
                "a frame claims \(length) bytes; \(FrameLimits.minimumLength) to "
                    + "\(FrameLimits.maximumLength) are allowed")
        }
        return Int(length)
    }

    private mutating func handOver(
        _ frame: UnsafeRawBufferPointer, _ receive: (UInt8, FieldReader) throws(WireError) -> Void
    ) throws(WireError) {
        let sequence = UInt16(littleEndian: frame.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
        guard sequence == expectedSequence else {
            throw WireError(.sequenceGap, "a frame has sequence \(sequence), not \(expectedSequence)")
        }
        expectedSequence &+= 1
        try receive(
            frame[4], FieldReader(UnsafeRawBufferPointer(rebasing: frame.dropFirst(FrameLimits.headerSize))))
    }
}

extension Array where Element == UInt8 {
    /// Like `withUnsafeBytes`, but keeps the type of the error.
    func withUnsafeBytesThrowing<Value>(
        _ body: (UnsafeRawBufferPointer) throws(WireError) -> Value
    ) throws(WireError) -> Value {
        let outcome: Result<Value, WireError> = withUnsafeBytes { bytes in
            do throws(WireError) {
                return .success(try body(bytes))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}

/// Deliveries of several files into one directory.
extension FileDelivery {
    /// A complete file, and where it belongs.
    public struct Parcel: Sendable {
        let source: String
        let place: String
        let mark: String

        /// Creates a parcel; the parameters are those of ``FileDelivery/put(_:at:outside:mark:)``.
        public init(_ source: String, at place: String, mark: String) {
            (self.source, self.place, self.mark) = (source, place, mark)
        }

        /// The directory of the place.
        public var directory: String { FileDelivery.split(place).directory }
    }

    /// What became of a parcel.
    public enum Delivery: Sendable {
        /// The file is in its place, durably.
        case done
        /// The place is on another file system; nothing was done.
        case distant
        /// The file is not in its place, or not durably.
        case failed(SystemCallError)
    }

    /// Puts files into their places in one directory, without copying a byte: as
    /// ``put(_:at:outside:mark:)`` for each, but the directory is found and synced once.
    ///
    /// - Parameters:
    ///   - parcels: The files; all have the same ``Parcel/directory``.
    ///   - protected: A directory, without links in its path, in which no file may appear; `nil` for none.
    /// - Returns: What became of each, in the same order.
    public static func link(_ parcels: [Parcel], outside protected: String? = nil) -> [Delivery] {
        guard let path = parcels.first?.directory else { return [] }
        var found: [Delivery] = []
        do throws(SystemCallError) {
            let directory = try PlaceDirectory(path)
            for parcel in parcels { found.append(link(parcel, into: directory, outside: protected)) }
            if found.contains(where: \.isDone) { try syncDirectory(path) }
        } catch {
            let failures = found.map { $0.isDone ? Delivery.failed(error) : $0 }
            return failures
                + [Delivery](repeating: .failed(error), count: parcels.count - failures.count)
        }
        return found
    }

    private static func link(
        _ parcel: Parcel, into directory: borrowing PlaceDirectory, outside protected: String?
    ) -> Delivery {
        do throws(SystemCallError) {
            // Once for each, because a directory can be moved meanwhile.
            try check(directory, outside: protected, for: parcel.place)
            let isDone = try deliver(
                parcel.source, into: directory, as: split(parcel.place).name, at: parcel.place,
                mark: parcel.mark, mayCopy: false)
            return isDone ? .done : .distant
        } catch {
            return .failed(error)
        }
    }
}

extension FileDelivery.Delivery {
    /// Whether the file is in its place.
    fileprivate var isDone: Bool {
        if case .done = self { true } else { false }
    }
}

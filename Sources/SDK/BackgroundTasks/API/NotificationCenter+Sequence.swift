public import Foundation

/// Apple's sequence of notifications, which Foundation on Linux does not have.
extension NotificationCenter {
    /// The notifications of a name, from the beginning of the loop, until it ends or its task is cancelled.
    ///
    /// This is what to write on Linux in place of a subscription of Combine.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - object: Only notifications that this object posts; `nil` means those of all.
    /// - Returns: The sequence, which observes nothing yet.
    public nonisolated func notifications(
        named name: Notification.Name, object: (any AnyObject & Sendable)? = nil
    ) -> Notifications {
        Notifications(center: self, name: name, object: object)
    }

    /// The notifications of a name, as a sequence.
    public final class Notifications: AsyncSequence, Sendable {
        private let center: NotificationCenter
        private let name: Notification.Name
        private let object: (any AnyObject & Sendable)?

        fileprivate init(
            center: NotificationCenter, name: Notification.Name, object: (any AnyObject & Sendable)?
        ) {
            (self.center, self.name, self.object) = (center, name, object)
        }

        /// Begins to observe; notifications wait here until they are asked for.
        public func makeAsyncIterator() -> Iterator {
            Iterator(center: center, name: name, object: object)
        }

        /// Takes one notification after another.
        public struct Iterator: AsyncIteratorProtocol {
            private var stream: AsyncStream<Carried>.Iterator

            fileprivate init(
                center: NotificationCenter, name: Notification.Name, object: (any AnyObject & Sendable)?
            ) {
                let (stream, news) = AsyncStream.makeStream(of: Carried.self)
                let observer = Observer(
                    token: center.addObserver(forName: name, object: object, queue: nil) {
                        news.yield(Carried(notification: $0))
                    })
                // The centre outlives the observer; a cancelled task or a loop that ends releases the stream.
                news.onTermination = { [weak center] _ in center?.removeObserver(observer.token) }
                self.stream = stream.makeAsyncIterator()
            }

            /// Waits for the next notification; `nil` after the task was cancelled.
            public mutating func next() async -> Notification? { await stream.next()?.notification }
        }
    }
}

/// A notification on its way from the thread that posts it; as on Apple's systems, what is in it must be safe
/// to use there.
private struct Carried: @unchecked Sendable {
    let notification: Notification
}

/// The token of an observer, which only its centre uses.
private struct Observer: @unchecked Sendable {
    let token: any NSObjectProtocol
}

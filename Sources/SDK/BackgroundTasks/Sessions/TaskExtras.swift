#if BackgroundTransfers
    import Foundation
    import FoundationNetworking
    import Synchronization

    /// What an app sets on a task, and Foundation does not keep on Linux.
    struct TaskExtras: Sendable {
        var earliestBeginDate: Date?
        var expectedToSend: Int64?
        var expectedToReceive: Int64?
        /// The transfer whose bytes the task continues; empty if its resume data were not valid.
        var resumes: String?
        /// What was sent and received; `nil` until the host has said something.
        var bytes: Bytes?

        /// What a task has sent and received, as Foundation's properties of the same names count it.
        struct Bytes: Sendable {
            var received: Int64 = 0
            var expectedToReceive: Int64 = 0
            var sent: Int64 = 0
            var expectedToSend: Int64 = 0
        }

        /// An app may read the bytes of a task that has ended, so an entry stays as long as its task.
        private struct Entry: Sendable {
            weak var task: URLSessionTask?
            var extras = TaskExtras()
        }

        private static let table = Mutex<[ObjectIdentifier: Entry]>([:])

        static func of(_ task: URLSessionTask) -> TaskExtras {
            // Another task may have been at the same address.
            table.withLock { table in
                table[ObjectIdentifier(task)].flatMap { $0.task === task ? $0.extras : nil }
            } ?? TaskExtras()
        }

        static func change(_ task: URLSessionTask, _ change: (inout TaskExtras) -> Void) {
            table.withLock { table in
                var extras = TaskExtras()
                if let entry = table[ObjectIdentifier(task)], entry.task === task { extras = entry.extras }
                change(&extras)
                table[ObjectIdentifier(task)] = Entry(task: task, extras: extras)
            }
        }

        /// Forgets the tasks that no longer exist.
        static func sweep() {
            table.withLock { table in table = table.filter { $0.value.task != nil } }
        }
    }

    /// Members of Foundation's classes that are not public; found by reflection, which the tests check.
    enum Inside {
        /// The stored property of an object with this name, also of a base class.
        static func value(_ name: String, of object: Any) -> Any? {
            var mirror: Mirror? = Mirror(reflecting: object)
            while let present = mirror {
                if let child = present.children.first(where: { $0.label == name }) {
                    return unwrapped(child.value)
                }
                mirror = present.superclassMirror
            }
            return nil
        }

        private static func unwrapped(_ value: Any) -> Any? {
            let mirror = Mirror(reflecting: value)
            return mirror.displayStyle == .optional ? mirror.children.first?.value : value
        }

        /// The file that an upload task sends; `nil` if it sends none.
        static func file(of task: URLSessionTask) -> URL? {
            guard let body = value("knownBody", of: task) else { return nil }
            return Mirror(reflecting: body).children.first { $0.label == "file" }?.value as? URL
        }

        /// Whether a task has a completion handler.
        static func hasHandler(_ task: URLSessionTask, in session: URLSession) -> Bool {
            guard let registry = value("taskRegistry", of: session),
                let behaviours = value("behaviours", of: registry)
            else { return false }
            for entry in Mirror(reflecting: behaviours).children {
                let pair = Mirror(reflecting: entry.value).children.map(\.value)
                guard pair.count == 2, pair[0] as? Int == task.taskIdentifier else { continue }
                return Mirror(reflecting: pair[1]).children.first?.label?.hasSuffix("CompletionHandler")
                    ?? false
            }
            return false
        }
    }
#endif

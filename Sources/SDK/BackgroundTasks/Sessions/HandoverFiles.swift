#if BackgroundTransfers
    import Foundation
    import FoundationNetworking

    /// The files that the app and the host exchange, and the requests that name them.
    enum HandoverFiles {
        /// The directory in the bundle's data directory; the host knows it by the same name.
        static var directory: URL? {
            App.shared.host.launchedFor?.dataDirectory.map {
                URL(fileURLWithPath: $0).appendingPathComponent(".transfers", isDirectory: true)
            }
        }

        /// The file of a download that has ended; `nil` if the app has handled it before.
        ///
        /// A response such as 404 has no file here, so the delegate gets an empty one.
        static func downloaded(_ name: String?, transfer: String) -> URL? {
            if let name, let file = directory?.appendingPathComponent(name) {
                return FileManager.default.fileExists(atPath: file.path) ? file : nil
            }
            let empty = FileManager.default.temporaryDirectory.appendingPathComponent("\(transfer).download")
            return FileManager.default.createFile(atPath: empty.path, contents: nil) ? empty : nil
        }

        /// The body of the answer to an upload; `nil` if there is none.
        ///
        /// The host removes the file of a long one when it knows that the delegate has handled the end.
        static func answer(to news: SessionMessages.Transfer) -> Data? {
            if let body = news.body { return body }
            guard news.isUpload, let name = news.file, let directory else { return nil }
            return try? Data(contentsOf: directory.appendingPathComponent(name))
        }

        /// Copies the file of an upload, so that the host can read it, and the app can change its own.
        private static func stage(_ file: URL) throws(Refusal) -> URL {
            guard let directory else {
                throw Refusal(.unavailable, "\(file.path): this process was not started by the host")
            }
            do {
                try FileManager.default.createDirectory(
                    at: directory, withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
                let copy = directory.appendingPathComponent("upload-\(UUID().uuidString)")
                try FileManager.default.copyItem(at: file, to: copy)
                return copy
            } catch {
                throw Refusal(.notPermitted, "\(file.path): the file can't be read or copied: \(error)")
            }
        }

        /// The host's request for a task, and the copy of the file that it sends.
        static func request(
            for task: URLSessionTask, in session: BackgroundSession
        ) throws(Refusal) -> (SessionMessages.Request, URL?) {
            guard let original = task.originalRequest, let url = original.url else {
                throw Refusal(.notPermitted, "the task has no address")
            }
            let configuration = session.configuration
            let extras = TaskExtras.of(task)
            let isUpload = task is URLSessionUploadTask
            var request = SessionMessages.Request(url: url.absoluteString)
            // A request without a method has GET; the host knows the method that each direction needs.
            request.method = original.httpMethod == "GET" ? nil : original.httpMethod
            var fields: [String: String] = [:]
            for (name, value) in configuration.httpAdditionalHeaders ?? [:] {
                fields["\(name)"] = "\(value)"
            }
            fields.merge(original.allHTTPHeaderFields ?? [:]) { $1 }
            // The host knows the length of the file.
            request.headers = fields.filter { $0.key.lowercased() != "content-length" }
                .sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            request.taskIdentifier = task.taskIdentifier
            request.discretionary = configuration.isDiscretionary
            request.allowsMetered =
                configuration.wishes.allowsExpensive && configuration.allowsCellularAccess
            request.allowsConstrained = configuration.wishes.allowsConstrained
            let date = extras.earliestBeginDate ?? Inside.value("earliestBeginDate", of: task) as? Date
            request.earliestBeginDate = date.map(ControlMessages.text(of:))
            request.asksBeforeBegin = date != nil && session.delegate is any URLSessionTaskDelegate
            let own = original.timeoutInterval
            request.stallSeconds = own == 60 ? configuration.timeoutIntervalForRequest : own
            request.resourceSeconds = configuration.timeoutIntervalForResource
            if task.priority != URLSessionTask.defaultPriority { request.priority = Double(task.priority) }
            request.expectedToSend = extras.expectedToSend
            request.expectedToReceive = extras.expectedToReceive
            request.note = task.taskDescription
            request.sendsLaunchEvents = configuration.wishes.sendsLaunchEvents
            request.resumes = extras.resumes
            guard isUpload, let file = Inside.file(of: task) else { return (request, nil) }
            let copy = try stage(file)
            request.upload = copy.lastPathComponent
            return (request, copy)
        }
    }
#endif

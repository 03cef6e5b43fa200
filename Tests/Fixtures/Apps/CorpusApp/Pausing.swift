import UIKit

// A download that the user pauses, and resumes in a later process, and one that begins later.
extension Editions {
    private var resumeFile: URL {
        FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
            .appendingPathComponent("resumeData")
    }

    func downloadAndPause(_ url: URL) {
        pauses = "edition"
        download(url)
    }

    func pauseIfWanted(_ downloadTask: URLSessionDownloadTask) {
        guard pauses == downloadTask.taskDescription else { return }
        pauses = nil
        downloadTask.cancel { resumeDataOrNil in
            guard let resumeData = resumeDataOrNil else {
                print("the download can't be resumed")
                return
            }
            let folder = self.resumeFile.deletingLastPathComponent()
            try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try? resumeData.write(to: self.resumeFile)
            print("paused, with resume data")
        }
    }

    func resume() {
        guard let resumeData = try? Data(contentsOf: resumeFile) else {
            print("there is no resume data")
            return
        }
        let downloadTask = urlSession.downloadTask(withResumeData: resumeData)
        downloadTask.taskDescription = "resumed edition"
        downloadTask.resume()
    }

    func downloadLater(_ url: URL) {
        let backgroundTask = urlSession.downloadTask(with: url)
        backgroundTask.taskDescription = "later edition"
        backgroundTask.earliestBeginDate = Date().addingTimeInterval(1)
        backgroundTask.resume()
    }
}

// What background sessions do not support.
extension Editions {
    func load(_ url: URL) {
        let task = urlSession.dataTask(with: url)
        task.taskDescription = "data"
        task.resume()
    }

    func downloadWithHandler(_ url: URL) async {
        await withCheckedContinuation { waiter in
            let task = urlSession.downloadTask(with: url) { location, response, error in
                print("handler: \(location?.path ?? "no file"), \(error?.localizedDescription ?? "no error")")
                waiter.resume()
            }
            task.resume()
        }
    }
}

import UIKit

// Sessions of both kinds in one file. Only the background sessions refuse data tasks and closures.
final class Photos: NSObject, URLSessionDownloadDelegate {
    lazy var background = URLSession(
        configuration: .background(withIdentifier: "org.example.photos"), delegate: self, delegateQueue: nil)
    lazy var plain: URLSession = {
        let config = URLSessionConfiguration.default
        return URLSession(configuration: config)
    }()
    var later: URLSession?

    func right(_ url: URL, _ request: URLRequest) async throws {
        URLSession.shared.dataTask(with: url) { _, _, _ in }.resume()
        URLSession(configuration: .default).dataTask(with: url) { _, _, _ in }.resume()
        let other = URLSession(configuration: .ephemeral)
        other.downloadTask(with: url) { _, _, _ in }.resume()
        self.plain.uploadTask(with: request, from: Data()).resume()
        _ = try await URLSession.shared.data(from: url)
        background.downloadTask(with: url).resume()
        background.uploadTask(with: request, fromFile: url).resume()
    }

    func wrong(_ url: URL, _ request: URLRequest) async throws {
        later = URLSession(configuration: makeConfiguration(), delegate: self, delegateQueue: nil)
        later?.dataTask(with: url).resume()
        self.background.uploadTask(with: request, from: Data()).resume()
        background.uploadTask(withStreamedRequest: request).resume()
        let same = background
        same.downloadTask(with: url) { _, _, _ in }.resume()
        URLSession(configuration: .background(withIdentifier: "org.example.b")).dataTask(with: url).resume()
        _ = try await background.download(from: url)
    }

    func makeConfiguration() -> URLSessionConfiguration {
        URLSessionConfiguration.background(withIdentifier: "org.example.later")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let place = URL(fileURLWithPath: "/x")
        DispatchQueue.main.async { self.plain.finishTasksAndInvalidate() }
        try? FileManager.default.copyItem(at: location, to: place)
        DispatchQueue.main.async {
            try? FileManager.default.moveItem(at: location, to: place)
        }
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let method = challenge.protectionSpace.authenticationMethod
        guard method == NSURLAuthenticationMethodServerTrust else { return }
        completionHandler(.useCredential, URLCredential(trust: challenge.protectionSpace.serverTrust!))
    }
}

import Foundation

final class Transfers: NSObject, URLSessionDownloadDelegate {
    lazy var session = URLSession(
        configuration: .background(withIdentifier: "org.example.photos"), delegate: self, delegateQueue: nil)

    func start(_ url: URL) {
        session.dataTask(with: url).resume()
        session.downloadTask(with: url) { _, _, _ in }.resume()
        session.uploadTask(with: request, fromFile: url, completionHandler: finish).resume()
        session.downloadTask(with: url).resume()
        let parser = XMLParser(contentsOf: url)
        session.dataTaskPublisher(for: url).sink {}
        session.invalidateAndCancel()
    }
}

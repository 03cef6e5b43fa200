import Foundation
import FoundationXML

/// One entry of a feed.
struct FeedItem: Equatable {
    /// What tells it from the feed's other entries: its id, else its link, else its title.
    var key: String { identifier.isEmpty ? (link.isEmpty ? title : link) : identifier }
    var identifier = ""
    var title = ""
    var link = ""
    /// Seconds since 1970; `nil` where the feed gives no date that can be read.
    var published: Int?
}

/// A feed as read from its file.
struct Feed {
    var title = ""
    var items: [FeedItem] = []
}

/// Why a file is no feed.
struct FeedError: Error, CustomStringConvertible {
    let description: String
}

/// Reads RSS 0.9 to 2.0 and Atom 1.0, which differ in the names of the same few elements.
final class FeedParser: NSObject, XMLParserDelegate {
    private var feed = Feed()
    private var item: FeedItem?
    private var text = ""
    private var path: [String] = []
    private var isFeed = false
    private var failure: String?

    /// Reads one file.
    static func read(_ data: Data) throws -> Feed {
        let delegate = FeedParser()
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = delegate
        // It goes on after some errors and then says that all went well, so the error counts, not the answer.
        guard parser.parse(), parser.parserError == nil, delegate.failure == nil else {
            throw FeedError(description: delegate.failure ?? "line \(parser.lineNumber): not XML")
        }
        guard delegate.isFeed else { throw FeedError(description: "neither RSS nor Atom") }
        return delegate.feed
    }

    func parser(
        _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if path.isEmpty { isFeed = ["rss", "feed", "rdf:RDF"].contains(element) }
        path.append(element)
        text = ""
        switch element {
        case "item", "entry":
            item = FeedItem()
        case "link":
            // Atom's links are attributes, and "alternate" is the one that people read.
            guard let target = attributes["href"], ["alternate", nil].contains(attributes["rel"]) else {
                return
            }
            item?.link = target
        default:
            break
        }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        let code = (error as NSError).code
        failure = failure ?? "line \(parser.lineNumber): not XML (libxml2's error \(code))"
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        text += String(decoding: block, as: UTF8.self)
    }

    func parser(
        _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
    ) {
        let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
        text = ""
        path.removeLast()
        // Only the children of an entry or of the feed itself: an author's <title> is not the entry's.
        let parent = path.last ?? ""
        switch (parent, element) {
        case (_, "item"), (_, "entry"):
            if let item, !item.key.isEmpty { feed.items.append(item) }
            item = nil
        case ("channel", "title"), ("feed", "title"):
            feed.title = value
        case ("item", "title"), ("entry", "title"):
            item?.title = value
        case ("item", "guid"), ("entry", "id"):
            item?.identifier = value
        case ("item", "link"):
            item?.link = value
        case ("item", "pubDate"), ("item", "dc:date"), ("entry", "published"):
            item?.published = FeedDate.seconds(value)
        case ("entry", "updated"):
            if item?.published == nil { item?.published = FeedDate.seconds(value) }
        default:
            break
        }
    }
}

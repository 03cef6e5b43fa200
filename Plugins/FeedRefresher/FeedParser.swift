import Foundation
import FoundationXML

/// One entry of a feed.
struct FeedItem: Equatable {
    /// Identifies the entry within its feed: its id, otherwise its link, otherwise its title.
    var key: String { identifier.isEmpty ? (link.isEmpty ? title : link) : identifier }
    var identifier = ""
    var title = ""
    var link = ""
    /// Seconds since 1970; `nil` if the feed has no readable date for the entry.
    var published: Int?
}

/// A feed that was read from a file.
struct Feed {
    var title = ""
    var items: [FeedItem] = []
}

/// The reason why a file is not a feed.
struct FeedError: Error, CustomStringConvertible {
    let description: String
}

/// Reads RSS 0.9 to 2.0 and Atom 1.0; the two formats name the same few elements differently.
final class FeedParser: NSObject, XMLParserDelegate {
    private var feed = Feed()
    private var item: FeedItem?
    private var text = ""
    private var path: [String] = []
    private var isFeed = false
    private var failure: String?

    /// Reads the content of one file.
    static func read(_ data: Data) throws -> Feed {
        let delegate = FeedParser()
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = delegate
        // After some errors the parser continues and reports success, so its error decides, not its result.
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
            // Links of Atom are attributes; the link "alternate" leads to the page that people read.
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
        // Only direct children count: the <title> of an author, for example, is not the entry's.
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

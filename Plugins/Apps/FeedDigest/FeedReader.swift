import Foundation
import FoundationXML

/// Reads RSS and Atom; the two formats name the same few elements differently.
final class FeedReader: NSObject, XMLParserDelegate {
    private struct Item {
        var fields: [String: String] = [:]
    }

    private var title = ""
    private var items: [Item] = []
    private var path: [String] = []
    private var text = ""
    private var root = ""

    /// Reads a feed.
    ///
    /// - Parameters:
    ///   - data: The content of the feed.
    ///   - now: The date that the entries get as the date of finding.
    /// - Returns: The entries, in the order of the feed.
    /// - Throws: ``FeedProblem`` if the data is not a feed.
    static func read(_ data: Data, now: Date) throws -> [DigestEntry] {
        let reader = FeedReader()
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        guard parser.parse(), parser.parserError == nil else {
            throw FeedProblem(description: "line \(parser.lineNumber): not XML")
        }
        guard ["rss", "feed", "rdf:RDF"].contains(reader.root) else {
            throw FeedProblem(description: "neither RSS nor Atom")
        }
        return reader.items.compactMap { reader.entry(of: $0, now: now) }
    }

    private func entry(of item: Item, now: Date) -> DigestEntry? {
        let link = item.fields["link"] ?? "", title = item.fields["title"] ?? ""
        let id = [item.fields["guid"], item.fields["id"], link, title].compactMap { $0 }.first { !$0.isEmpty }
        guard let id else { return nil }
        let date = ["published", "pubDate", "dc:date", "updated"].compactMap { item.fields[$0] }.first
        return DigestEntry(
            feed: self.title, id: id, title: title, link: link,
            published: date.flatMap(FeedDate.date(of:)), found: now)
    }

    func parser(
        _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if path.isEmpty { root = element }
        path.append(element)
        text = ""
        if element == "item" || element == "entry" { items.append(Item()) }
        // Links of Atom are attributes; the link "alternate" leads to the page that people read.
        if element == "link", let target = attributes["href"],
            ["alternate", nil].contains(attributes["rel"]),
            isInItem
        {
            items[items.count - 1].fields["link"] = target
        }
    }

    /// Whether the element is a direct child of an item; an author's name, for example, is not.
    private var isInItem: Bool { path.count > 1 && ["item", "entry"].contains(path[path.count - 2]) }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        text += String(decoding: block, as: UTF8.self)
    }

    func parser(
        _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
    ) {
        let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
        text = ""
        if isInItem, !value.isEmpty {
            items[items.count - 1].fields[element] = value
        } else if element == "title", path.count > 1, ["channel", "feed"].contains(path[path.count - 2]) {
            title = value
        }
        path.removeLast()
    }
}

/// The two formats of dates in feeds.
enum FeedDate {
    /// The date of an RFC 822 text (RSS) or an ISO 8601 text (Atom); `nil` for any other text.
    static func date(of text: String) -> Date? {
        if let date = try? Date(text, strategy: .iso8601) { return date }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        for format in [
            "EEE, dd MMM yyyy HH:mm:ss zzz", "dd MMM yyyy HH:mm:ss zzz", "EEE, dd MMM yyyy HH:mm zzz",
        ] {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }
}

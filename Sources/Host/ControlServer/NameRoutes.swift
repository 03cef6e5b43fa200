import ControlWire
import Hummingbird
import StrictFiles
import TaskModel

/// The route that finds tasks and bundles by a short form of their identifiers, or by their beginning.
struct NameRoutes {
    let host: any HostControl

    func add(to routes: RouteTable) {
        routes.get("names", query: [.word, .prefix]) { request, _ in
            var handlers = try await host.handlers()
            if let word = request.query(.word), !Self.isKnown(word, handlers) {
                // The manifest may be new, and its directory's notice may not have come yet.
                try? await host.reload()
                handlers = try await host.handlers()
            }
            let patterns = handlers.flatMap { handler in
                handler.manifest.tasks.map(\.pattern)
                    + [handler.manifest.appLaunch].compactMap { $0.map(IdentifierPattern.init(exactly:)) }
            }
            let bundles = handlers.map(\.manifest.bundle.rawValue)
            switch (request.query(.word), request.query(.prefix)) {
            case (let word?, nil):
                let tasks = patterns.compactMap { pattern in
                    pattern.isWildcard
                        ? ShortName.expansion(of: word, by: pattern) : pattern.base.rawValue
                }
                return try Response.json(
                    NamesMessage(tasks: meanings(word, tasks), bundles: meanings(word, bundles)))
            case (nil, let prefix?):
                // After a wildcard's beginning, the user must write the rest.
                let tasks = patterns.map { $0.base.rawValue + ($0.isWildcard ? "." : "") }
                return try Response.json(
                    NamesMessage(
                        tasks: beginning(with: prefix, tasks), bundles: beginning(with: prefix, bundles)))
            case (nil, nil), (.some, .some):
                throw ClientText.invalid(
                    request.subject, "the query must have one of 'word' and 'prefix'",
                    remedy: "Give one of them")
            }
        }
    }

    /// Whether a short form or an identifier means a task or a bundle.
    private static func isKnown(_ word: String, _ handlers: [PermittedHandler]) -> Bool {
        let names = handlers.lazy.flatMap { handler in
            handler.manifest.tasks.map(\.pattern.base.rawValue) + [handler.manifest.bundle.rawValue]
        }
        if !ShortName.meanings(of: word, in: names).isEmpty { return true }
        return handlers.contains { handler in
            handler.manifest.tasks.contains { ShortName.expansion(of: word, by: $0.pattern) != nil }
        }
    }

    private func meanings(_ word: String, _ names: [String]) -> NamesMessage.Meanings {
        let found = ShortName.meanings(of: word, in: names)
        return NamesMessage.Meanings(
            identifiers: Array(found.prefix(NamesMessage.greatestCount)),
            nearest: found.isEmpty ? nearest(word, names) : nil)
    }

    /// The name that a misspelled identifier or a misspelled short form means; `nil` if none is similar.
    private func nearest(_ word: String, _ names: [String]) -> String? {
        if let name = Nearest.match(word, in: names) { return name }
        let count = word.count { $0 == "." } + 1
        let ends = names.sorted().map { name in
            (name, name.split(separator: ".").suffix(count).joined(separator: "."))
        }
        guard let end = Nearest.match(word, in: ends.map(\.1)) else { return nil }
        return ends.first { $0.1 == end }?.0
    }

    private func beginning(with prefix: String, _ names: [String]) -> NamesMessage.Meanings {
        let found = Set(names.filter { $0.hasPrefix(prefix) }).sorted()
        return NamesMessage.Meanings(identifiers: Array(found.prefix(NamesMessage.greatestCount)))
    }
}

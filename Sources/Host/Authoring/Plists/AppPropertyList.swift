import FoundationEssentials
import TaskModel

/// The keys of an app's Info.plist that concern background tasks.
struct AppPropertyList {
    /// A value of the list.
    private enum Value: Decodable {
        case text(String), list([Value])
        /// A value of another type, such as a number, a Boolean, a date or a dictionary.
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let values = try? container.decode([Value].self) {
                self = .list(values)
            } else {
                self = .other
            }
        }
    }

    /// `CFBundleIdentifier`, as it is written.
    var bundle: String?
    /// `CFBundleExecutable`, or else `CFBundleName`; a value with a build setting of Xcode is ignored.
    var name: String?
    /// The value of `BGTaskSchedulerPermittedIdentifiers`; empty if the key is missing.
    var permitted: [String]
    /// The value of `UIBackgroundModes`; empty if the key is missing.
    var modes: [String]

    /// Parses a property list, in XML or binary format.
    ///
    /// - Parameters:
    ///   - bytes: The contents of the file.
    ///   - file: The name of the file in messages.
    ///   - settings: The build settings that its values refer to.
    /// - Throws: ``AuthoringError`` if the file is not a property list, or if the value of a key has the
    ///   wrong type.
    init(_ bytes: [UInt8], file: String, settings: BuildSettings) throws(AuthoringError) {
        let keys: [String: Value]
        do {
            keys = try PropertyListDecoder().decode([String: Value].self, from: Data(bytes))
        } catch DecodingError.typeMismatch {
            throw AuthoringError(file, "its root is not a dictionary", "Give the app's Info.plist")
        } catch {
            throw AuthoringError(
                file, "it is not a property list\(Self.reason(error))",
                "Give the Info.plist of the app's target, or of the built app: App.app/Info.plist")
        }
        bundle = try Self.text("CFBundleIdentifier", keys, file).map(settings.expanded)
        let executable = try Self.text("CFBundleExecutable", keys, file)
        let displayed = try Self.text("CFBundleName", keys, file)
        name = [executable, displayed].compactMap(\.self).map(settings.expanded).first { !$0.contains("$") }
        permitted = try Self.texts("BGTaskSchedulerPermittedIdentifiers", keys, file).map(settings.expanded)
        modes = try Self.texts("UIBackgroundModes", keys, file)
    }

    /// What the parser says about a file that is not a property list, such as the line of a mistake.
    private static func reason(_ error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error else { return "" }
        let parser = context.underlyingError as? CocoaError
        let said = parser?.userInfo["NSDebugDescription"] as? String ?? context.debugDescription
        return said.isEmpty ? "" : ": " + said
    }

    private static func text(_ key: String, _ keys: [String: Value], _ file: String) throws(AuthoringError)
        -> String?
    {
        guard let value = keys[key] else { return nil }
        guard case .text(let text) = value else {
            throw AuthoringError(file, "\(key) is not a string", "Make it a <string>")
        }
        return text.isEmpty ? nil : text
    }

    private static func texts(_ key: String, _ keys: [String: Value], _ file: String) throws(AuthoringError)
        -> [String]
    {
        guard let value = keys[key] else { return [] }
        guard case .list(let values) = value else {
            throw AuthoringError(file, "\(key) is not an array", "Make it an <array> of <string>s")
        }
        var texts: [String] = []
        for value in values {
            guard case .text(let text) = value else {
                throw AuthoringError(
                    file, "\(key) contains something other than strings", "Make each element a <string>")
            }
            texts.append(text)
        }
        return texts
    }
}

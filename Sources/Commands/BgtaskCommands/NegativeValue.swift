import ArgumentParser

/// Finds a negative value of an option, such as `--earliest -5m`.
///
/// ArgumentParser takes such a value for an option, and reports that the value is missing.
enum NegativeValue {
    /// The error with the name of the negative value; the error itself if that is not the mistake.
    static func named(_ error: any Error, in arguments: [String]) -> any Error {
        guard !(error is ValidationError) else { return error }
        let message = Bgtask.message(for: error)
        guard message.hasPrefix("Missing value for '") else { return error }
        let options = arguments.prefix { $0 != "--" }
        for (option, value) in zip(options, options.dropFirst()) {
            let isNamed = message.contains("'\(option) ") || message.contains("'\(option)'")
            guard isNamed, isNegative(value) else { continue }
            return ValidationError("\(option) takes no negative value: '\(value)'. Leave out the '-'.")
        }
        return error
    }

    private static func isNegative(_ text: String) -> Bool {
        text.hasPrefix("-") && text.dropFirst().first?.isNumber == true
    }
}

import Glibc

/// A POSIX extended regular expression, as regex(7) describes it.
public enum ExtendedExpression {
    /// Why a text is not an expression, in the words of the C library.
    public struct Fault: Error, CustomStringConvertible {
        public let description: String
    }

    /// The number of an expression's groups.
    ///
    /// - Throws: ``Fault`` if the text is not an expression.
    public static func groups(of text: String) throws(Fault) -> Int {
        var expression = regex_t()
        let code = regcomp(&expression, text, REG_EXTENDED)
        guard code == 0 else {
            var reason = [CChar](repeating: 0, count: 128)
            regerror(code, &expression, &reason, reason.count)
            throw Fault(
                description: String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))
        }
        defer { regfree(&expression) }
        return expression.re_nsub
    }
}

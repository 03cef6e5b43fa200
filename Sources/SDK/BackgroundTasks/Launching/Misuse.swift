import Foundation

/// Ends the process where Apple's frameworks end an app: with Apple's words, and what to do.
///
/// - Parameters:
///   - code: Apple's word for such an end.
///   - message: What was done wrong, and what to write instead.
package func misuse(_ code: String, _ message: String) -> Never {
    App.shared.host.fault(code, message)
    StandardError.write("*** Terminating: '\(code)', reason: '\(message)'")
    abort()
}

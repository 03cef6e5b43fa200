import Foundation

/// Ends the process where Apple's frameworks would end an app, with Apple's words and advice.
///
/// - Parameters:
///   - code: Apple's name of the fault.
///   - message: What the app did wrong, and what to write instead.
package func misuse(_ code: String, _ message: String) -> Never {
    App.shared.host.fault(code, message)
    StandardError.write("*** Terminating: '\(code)', reason: '\(message)'")
    abort()
}

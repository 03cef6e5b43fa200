/// The plugin's launch code, as a symbol of its library.
enum AppImage {
    /// The C signature of a `main` function, to which a Swift `@main` type also compiles.
    typealias Main =
        @convention(c) (CInt, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt

    /// The possible names of launch code, in the order of preference.
    ///
    /// Packages with tests use `bgtask_app_main`, because their test runner has its own `main`.
    static let names = ["bgtask_app_main", "main"]

    /// The launch code; `nil` if the library does not export any.
    static func main(of host: RunnerHost) -> Main? {
        for name in names {
            if let symbol = host.symbol(name) { return unsafeBitCast(symbol, to: Main.self) }
        }
        return nil
    }
}

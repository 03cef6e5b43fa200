/// The plugin's launch code, as the library exports it.
enum AppImage {
    /// What a Swift `@main` or a C `main` compiles to.
    typealias Main =
        @convention(c) (CInt, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt

    /// The names that launch code may have: `bgtask_app_main` is for packages with tests, whose runner has a
    /// `main` of its own.
    static let names = ["bgtask_app_main", "main"]

    /// The launch code; `nil` if the library exports none.
    static func main(of host: RunnerHost) -> Main? {
        for name in names {
            if let symbol = host.symbol(name) { return unsafeBitCast(symbol, to: Main.self) }
        }
        return nil
    }
}

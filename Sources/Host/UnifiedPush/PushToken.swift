/// The tokens of registrations.
enum PushToken {
    /// A new token: 256 bits from the kernel's random numbers, as digits that every distributor accepts.
    static func random() -> String {
        var numbers = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(numbers.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

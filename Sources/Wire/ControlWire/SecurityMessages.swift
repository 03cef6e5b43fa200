public import TaskModel

/// The grade of one bundle; `GET /v1/security` returns an array of them.
public struct SecurityMessage: Codable, Equatable, Sendable {
    /// One reason of the grade.
    public struct Item: Codable, Equatable, Sendable {
        /// The part of the manifest or the layer of isolation, such as `network` or `landlock`.
        public var name: String
        /// What it adds to the exposure; 0 means that it protects.
        public var exposure: Double
        /// What was found, as a sentence without a full stop.
        public var finding: String
        /// What would lower the exposure; `null` if nothing is to be done.
        @Explicit public var remedy: String?
    }

    /// The bundle's identifier.
    public var bundle: BundleIdentifier
    /// The exposure, 0.0 through 10.0; less is better.
    public var exposure: Double
    /// The exposure in one word.
    public var grade: SecurityGrade.Word
    /// The reasons: first the grants of the manifest, then the layers of the machine.
    public var items: [Item]
    /// The layers of isolation that the manifest counts on and this machine does not have.
    public var missing: [SandboxLayer]
    /// What the manifest grants; `null` from an older host.
    @Explicit public var sandbox: SandboxDeclaration?
    /// Why the host refuses launches of this bundle, and what permits them; `null` if it does not.
    @Explicit public var refusal: String?

    public init(
        _ bundle: BundleIdentifier, _ grade: SecurityGrade, sandbox: SandboxDeclaration, refusal: String?
    ) {
        self.bundle = bundle
        self.sandbox = sandbox
        exposure = Double(grade.tenths) / 10
        self.grade = grade.word
        items = grade.items.map {
            Item(
                name: $0.name, exposure: Double($0.tenths) / 10, finding: $0.finding, remedy: $0.remedy)
        }
        missing = grade.missing
        self.refusal = refusal
    }
}

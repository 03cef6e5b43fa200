import ArgumentParser
import ControlClient
import ControlWire
import TaskModel

struct SecurityCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "security",
        abstract: "Grades how much the launches of each bundle could do to this machine.",
        discussion: """
            The grade follows from what the manifest grants and from what this machine can enforce. An \
            exposure of 0.0 is best, 10.0 is worst. With a bundle, the command shows the reasons, and what \
            would lower the exposure.

            tight (up to 1.5): its launches reach almost nothing outside their own directories; \
            moderate (up to 4.0): they reach what they were granted; exposed (up to 7.0): the grants, or a \
            missing layer, leave much within reach; open: the sandbox holds little.

            With a bundle, the command also shows what the sandbox refused to its latest launches. With \
            --tighten, it prints the smallest 'sandbox:' with which the latest launches with \
            'bgtask launch --learn' would have worked as they did. It contains nothing that was refused.

            Examples:
              bgtask security
              bgtask security com.example.photos
              bgtask security com.example.photos --json
              bgtask security com.example.photos --tighten
            """)

    @Argument(help: "The bundle whose reasons to show; without it, the grades of all bundles.")
    var bundle: BundleIdentifier?

    @Flag(help: "Print the smallest 'sandbox:' that the learning launches of the bundle needed.")
    var tighten = false

    @OptionGroup var common: CommonOptions

    /// How many of the newest launches are searched for those of the bundle, and how many of these are read.
    private static let (searched, read) = (1000, 50)

    func validate() throws {
        if tighten, bundle == nil {
            throw ValidationError("--tighten needs a bundle: bgtask security com.example.photos --tighten")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        let bundle = try await bundle.asyncMap(client.bundle)
        let grades = try await client.security(of: bundle)
        if tighten, let bundle {
            return try show(
                SandboxAdvice(
                    of: bundle, granted: grades.first?.sandbox, calls: await calls(of: bundle, by: client)),
                console)
        }
        if console.json { return try console.print(json: grades) }
        if bundle != nil {
            for grade in grades {
                try show(grade, console)
                try showRefusals(await calls(of: grade.bundle, by: client), console)
            }
            return
        }
        var table = Table("BUNDLE", "EXPOSURE", "GRADE", "LARGEST REASONS")
        for grade in grades {
            let worst = grade.items.filter { $0.exposure > 0 }.sorted { $0.exposure > $1.exposure }
            table.add(
                grade.bundle.rawValue, Self.text(grade.exposure), grade.grade.rawValue,
                worst.prefix(3).map(\.name).joined(separator: ", "))
        }
        try console.print(table, ifEmpty: "No plugin is installed.")
        for grade in grades {
            guard let refusal = grade.refusal else { continue }
            try console.line(console.style.red(Printable.text("\(grade.bundle): \(refusal)")))
        }
    }

    private func show(_ grade: SecurityMessage, _ console: Console) throws {
        let word = grade.grade.rawValue
        let coloured =
            switch grade.grade {
            case .tight: console.style.green(word)
            case .moderate: word
            case .exposed: console.style.yellow(word)
            case .open: console.style.red(word)
            }
        try console.line(
            "\(console.style.bold("\(grade.bundle)")): exposure \(Self.text(grade.exposure)) of 10, \(coloured)"
        )
        if let refusal = grade.refusal { try console.line(console.style.red(Printable.text(refusal))) }
        try console.line()
        var table = Table("", "NAME", "EXPOSURE", "FINDING")
        for item in grade.items {
            table.add(
                item.exposure > 0 ? "no" : "yes", item.name,
                item.exposure > 0 ? Self.text(item.exposure) : "", item.finding)
        }
        try console.print(table, ifEmpty: "")
        let advised = grade.items.filter { $0.exposure > 0 && $0.remedy != nil }
            .sorted { $0.exposure > $1.exposure }
        if advised.isEmpty { return }
        try console.line()
        try console.line(console.style.bold("To lower it"))
        for item in advised {
            try console.line(
                Printable.text("  \(Self.text(item.exposure))  \(item.name): \(item.remedy ?? "")"))
        }
    }

    // MARK: Past launches

    /// The observed calls of the latest launches of a bundle, the newest launch first.
    private func calls(
        of bundle: BundleIdentifier, by client: ControlClient
    ) async throws -> [(launch: LaunchID, calls: ObservedCalls)] {
        let launches = try await client.launches(limit: Self.searched).filter {
            $0.bundle == bundle && $0.endedAt != nil
        }
        var found: [(LaunchID, ObservedCalls)] = []
        for launch in launches.prefix(Self.read) {
            if let calls = try await client.launch(launch.launch).calls {
                found.append((launch.launch, calls))
            }
        }
        return found
    }

    private func showRefusals(
        _ found: [(launch: LaunchID, calls: ObservedCalls)], _ console: Console
    ) throws {
        var seen: [ObservedCalls.Call] = []
        try console.line()
        try console.line(console.style.bold("Refused to its latest launches"))
        for (launch, calls) in found {
            for call in calls.refused {
                var plain = call
                plain.count = 1
                guard !seen.contains(plain) else { continue }
                seen.append(plain)
                try console.line(Printable.text("  \(launch)  \(CallsText.refusal(call))"))
            }
        }
        if seen.isEmpty {
            try console.line(
                "  Nothing is recorded. Refused uses of files are recorded only in launches by 'bgtask launch --learn'"
            )
        }
    }

    private func show(_ advice: SandboxAdvice, _ console: Console) throws {
        if console.json { return try console.print(json: advice) }
        for line in advice.lines { try console.line(Printable.text(line)) }
    }

    /// Formats an exposure with one decimal.
    private static func text(_ exposure: Double) -> String {
        let tenths = Int((exposure * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

import Calendars
import HandlerRegistry
import LinuxSystem
import TaskModel

/// Makes manifests of the lines of a crontab.
///
/// Knows what Debian's cron and cronie know: variables, five fields, nicknames such as `@daily`, the user of
/// a system's crontab, and `%` for standard input. Our reading of crontab(5).
public struct CrontabImport {
    /// The largest file that is read: 1 MiB, far more than people write.
    public static let maximumSize = 1 << 20

    private let path: String
    private let hasUsers: Bool
    /// The home directory of the user whose crontab it is; `nil` if it is not known.
    private var home: String?
    private var result: ImportedJobs
    private var environment: [String: String] = [:]
    private var shell = "/bin/sh"
    private var timeZone: String?
    private var jitter: Duration?
    /// What holds for all lines that follow.
    private var commonNotes: [String] = []

    /// Reads a crontab.
    ///
    /// - Parameters:
    ///   - text: The text of the file.
    ///   - path: The path of the file, for comments and messages.
    ///   - hasUsers: Whether each line names a user, as in `/etc/crontab` and the files of `/etc/cron.d`.
    ///   - home: The home directory of the user whose crontab it is; `nil` if it is not known. A line that
    ///     names a user has that of the user.
    ///   - name: The name of the jobs; `nil` derives it from what each runs.
    /// - Returns: A manifest for each line. It has two tasks if cron combines days and weekdays with *or*.
    public static func jobs(
        in text: String, path: String, hasUsers: Bool, home: String? = nil, name: String? = nil
    ) -> ImportedJobs {
        var reader = CrontabImport(path: path, hasUsers: hasUsers, home: home, name: name)
        var number = 0
        // A line break of Windows is one character in Swift.
        for line in text.replacing("\r\n", with: "\n").split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            number += 1
            let line = line.drop { $0 == " " || $0 == "\t" }
            if line.isEmpty || line.hasPrefix("#") { continue }
            if let (name, value) = variable(line) {
                reader.set(name, value)
            } else {
                reader.read(line, number)
            }
        }
        return reader.result
    }

    private init(path: String, hasUsers: Bool, home: String?, name: String?) {
        (self.path, self.hasUsers, self.home) = (path, hasUsers, home)
        result = ImportedJobs(name: name)
    }

    // MARK: Variables

    /// The name and the value of a line such as `SHELL = "/bin/bash"`; `nil` if it is no such line.
    private static func variable(_ line: Substring) -> (String, String)? {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        let name = unquoted(line[..<equals])
        guard EnvironmentName.isName(name) else { return nil }
        return (name, unquoted(line[line.index(after: equals)...]))
    }

    private static func unquoted(_ text: Substring) -> String {
        let text = text.trimmingBlanks
        if let quote = text.first, quote == "\"" || quote == "'", text.count > 1, text.last == quote {
            return String(text.dropFirst().dropLast())
        }
        return text
    }

    private mutating func set(_ name: String, _ value: String) {
        switch name {
        case "SHELL": shell = value
        case "CRON_TZ" where value.isEmpty: timeZone = nil
        case "CRON_TZ":
            if (try? ZoneDatabase.machine(variable: nil).zone(named: value)) == nil {
                return note("CRON_TZ is not kept: this machine has no time zone '\(value)'.")
            }
            timeZone = value
            note("The dates are those of \(value), as with cronie; Debian's cron ignores CRON_TZ.")
        case "RANDOM_DELAY": jitter = Int(value).flatMap { (1...1440).contains($0) ? .seconds($0 * 60) : nil }
        case "MAILTO" where !value.isEmpty:
            note("No mail goes to \(value); 'bgtask launches' and 'bgtask logs' show results and output.")
        case "MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING", "LOGNAME", "USER": break
        case "HOME": home = value
        default: environment[name] = value
        }
    }

    private mutating func note(_ text: String) { commonNotes.append(text) }

    // MARK: Lines

    private mutating func read(_ line: Substring, _ number: Int) {
        let wanted = (line.hasPrefix("@") ? 1 : 5) + (hasUsers ? 1 : 0)
        var words = line.split(maxSplits: wanted, whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count == wanted + 1, let rest = words.popLast() else {
            return fail(
                number,
                hasUsers
                    ? "the line has no dates, user and command" : "the line has no dates and command",
                hasUsers ? "In a user's crontab, lines have no user: leave out --system" : nil)
        }
        let user = hasUsers ? words.popLast().map(String.init) : nil
        var timings: [CommandManifest.Timing] = []
        if let nickname = words.first, nickname.hasPrefix("@") {
            guard let timing = CronDates.schedule(nickname: nickname) else {
                return fail(number, "cron does not know '\(nickname)'", nil)
            }
            timings = [timing]
        } else {
            do {
                timings = try CronDates.expressions(words).map { CommandManifest.Timing(at: $0) }
            } catch {
                return fail(number, error.finding, nil)
            }
        }
        add(rest, at: timings, by: user, (number, String(line)))
    }

    private mutating func fail(_ number: Int, _ finding: String, _ remedy: String?) {
        result.failures.append("\(path):\(number): \(finding)" + (remedy.map { ". \($0)" } ?? ""))
    }

    private mutating func add(
        _ text: Substring, at timings: [CommandManifest.Timing], by user: String?,
        _ line: (number: Int, text: String)
    ) {
        let (command, input) = Self.parts(of: text.drop { $0 == " " || $0 == "\t" })
        let home = user.map { UserHomes.directory(ofUserNamed: $0) } ?? home
        let scanned = ShellWords(command, home: home)
        var notes = commonNotes + scanned.notes
        if let user {
            notes.append("Cron runs it as \(user); this host runs it as \(Self.user).")
        } else if let first = command.split(separator: " ").first,
            UserHomes.directory(ofUserNamed: String(first)) != nil
        {
            notes.append("It begins with '\(first)', a user: if each line names a user, give --system.")
        }
        if timings.count > 1 {
            notes.append(
                "Cron runs it on these days of the month and on these weekdays, so there are two tasks; on a "
                    + "date that is both, only one of them runs.")
        }
        if let home {
            if scanned.usesHome, let step = try? PathWalk.Step.at(home), step.mode & 0o001 == 0 {
                notes.append(
                    "Only its owner can enter \(home). A host that runs as root starts the job as another user, "
                        + "who needs the right to: setfacl -m u:USER:x \(home).")
            }
            notes.append(
                scanned.usesHome
                    ? "As with cron, HOME and the working directory are \(home), and the job can read all of it. "
                        + "Grant what it changes: --write PATH."
                    : "HOME and the working directory are the data directory of the job, and not \(home).")
        }
        if !scanned.paths.isEmpty {
            notes.append(
                "The job can read \(scanned.paths.joined(separator: ", ")). Grant what it changes: --write PATH."
            )
        }
        if timings.contains(where: \.onBoot) {
            notes.append("It runs when the host starts, once for each start of the machine.")
        }
        var timings = timings
        for index in timings.indices where timings[index].at != nil {
            timings[index].timeZone = timeZone
            timings[index].jitter = jitter
            // Cron starts a job at its date; the default is a minute.
            timings[index].tolerance = .zero
        }
        result.add(
            action(command, input), named: scanned.program ?? "job",
            // Without the line's number, so that a second import of a changed crontab gives the same file.
            from: ["Made by 'bgtask import crontab' from a line of \(path):", line.text],
            notes: notes
        ) {
            $0.timings = timings
            $0.environment = environment
            $0.read = scanned.paths
            if scanned.usesHome, let home {
                $0.directory = home
                $0.environment["HOME"] = home
            }
        }
    }

    private static let user = "the user of its bundle, or as the host's own user if the host is not root"

    /// The command of a line, and what cron gives it on standard input: the first `%` ends the command, and
    /// each further one ends a line.
    static func parts(of text: Substring) -> (command: String, input: String?) {
        var parts = [""]
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\\", rest.first == "%" {
                rest.removeFirst()
                parts[parts.count - 1].append("%")
            } else if character == "%" {
                if parts.count == 1 { parts.append("") } else { parts[1].append("\n") }
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        while parts[0].last == " " || parts[0].last == "\t" || parts[0].last == "\r" { parts[0].removeLast() }
        return (parts[0], parts.count > 1 ? parts[1] : nil)
    }

    /// What the job runs, in the shell that cron would use.
    private func action(_ command: String, _ input: String?) -> CommandManifest.Action {
        var text = command
        if var input {
            // The data end with one line break, as cron's do.
            if input.last == "\n" { input.removeLast() }
            // The mark must not be a line of the input.
            var mark = "END"
            while input.unicodeScalars.split(separator: "\n").contains(where: { String($0) == mark }) {
                mark += "_"
            }
            text = "{ \(command)\n} <<'\(mark)'\n\(input)\n\(mark)"
        }
        guard ["/bin/sh", "/usr/bin/sh", "/bin/dash", "/usr/bin/dash"].contains(shell) else {
            return .run([shell, "-c", text])
        }
        // A script of the host ends at the first command that fails; a line of cron does not.
        return .script("set +e\n" + text)
    }
}

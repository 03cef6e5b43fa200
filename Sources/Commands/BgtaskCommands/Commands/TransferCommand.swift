import ArgumentParser
import ControlClient
import ControlWire
import LinuxSystem
import TaskModel

struct TransferCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer",
        abstract: "Downloads files, or uploads one, even if this command, the host or the machine ends.",
        discussion: """
            The host stores the transfer before this command returns, and makes it in a sandboxed process of its \
            own. After a fault of the network, a crash or a restart, a download continues where it was, and an \
            upload begins again. The file appears under its name when it is complete.

            With --wait, the command shows the progress until the transfer has ended, and exits with 0 only if it \
            succeeded. Without --wait, 'bgtask transfers' shows how far it is.

            A discretionary transfer waits for external power and an unmetered network.

            With several addresses, or with --input, the host accepts all downloads together or none. More than \
            1,000, or more than 256 KiB of addresses, go to it in parts: if it refuses a part, the command says how \
            many it accepted before. --to then names a directory. Each line of the input has an address and, after \
            a space, optionally a file.

            Examples:
              bgtask transfer https://example.com/disk.iso --wait
              bgtask transfer https://example.com/disk.iso --to ~/Downloads/disk.iso --discretionary
              bgtask transfer --input addresses.txt --to ~/Downloads --wait
              bgtask transfer https://example.com/backup --upload backup.tar --header 'Authorization: Bearer KEY'
              bgtask transfer https://example.com/form --upload form.json --method POST --wait --json
            """)

    @Argument(help: ArgumentHelp("The addresses, of http or https.", valueName: "url"))
    var urls: [String] = []

    @Option(
        help: ArgumentHelp(
            "Also download the addresses in this file, one in a line; '-' is the standard input.",
            valueName: "file"))
    var input: String?

    @Option(
        help: ArgumentHelp(
            "Where to put the downloaded file, or the directory for several. The default is the last part of the address, in the current directory.",
            valueName: "path"))
    var to: String?

    @Option(help: ArgumentHelp("Send this file instead of downloading one.", valueName: "file"))
    var upload: String?

    @Option(help: ArgumentHelp("The method. The default is GET, and PUT for an upload.", valueName: "method"))
    var method: String?

    @Option(help: ArgumentHelp("A further header line, such as 'Accept: text/plain'.", valueName: "line"))
    var header: [String] = []

    @Flag(help: "Wait for external power and an unmetered network.")
    var discretionary = false

    @Flag(help: "Do not use a metered network.")
    var unmetered = false

    @Option(
        help: ArgumentHelp(
            "Do not begin before this time: a time from now (30s, 1h30m) or a date ('tomorrow 02:30', 2026-11-21T08:00Z).",
            valueName: "when"), transform: BeginDate.init(text:))
    var earliest: BeginDate?

    @Option(help: "The bundle for which the bytes count.")
    var bundle: BundleIdentifier?

    @Option(
        help: ArgumentHelp(
            "End an attempt after this time without a byte. The default is 60s.", valueName: "duration"),
        transform: Self.seconds)
    var stallTimeout: Double?

    @Option(
        help: ArgumentHelp(
            "Give the transfer up after this time. The default is 7d.", valueName: "duration"),
        transform: Self.seconds)
    var giveUpAfter: Double?

    @Option(
        help: ArgumentHelp(
            "Wait this time after the first failed attempt; each further one doubles it. The default is 5s.",
            valueName: "duration"), transform: Self.seconds)
    var retryDelay: Double?

    @Flag(help: "Follow the transfer until it ends.")
    var wait = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if upload != nil, to != nil { throw ValidationError("Give --to or --upload, not both.") }
        if to == "-" {
            throw ValidationError(
                "The host makes the transfer, so it can't write to this command's output. Name a file with --to."
            )
        }
        if urls.isEmpty, input == nil { throw ValidationError("Give at least one address, or --input.") }
        if isSeveral, upload != nil { throw ValidationError("Give one address with --upload.") }
        if !isSeveral, upload == nil, to == nil, Self.lastName(of: urls[0]) == nil {
            throw ValidationError("The address ends in no name of a file. Name the file with --to.")
        }
    }

    func run(asking client: ControlClient, console: Console) async throws {
        if isSeveral { return try await runSeveral(asking: client, console: console) }
        let message = try request(urls[0], to: to, now: console.now)
        // The stream must be open before the transfer begins, so that no event is missed.
        let events = wait ? try await client.events() : nil
        let transfer = try await client.transfer(message)
        if !console.json {
            let verb = transfer.direction == .upload ? "sends" : "downloads"
            try console.line(
                Printable.text("\(transfer.transfer) \(verb) \(transfer.file ?? transfer.url)"))
        } else if events == nil {
            try console.print(json: transfer)
        }
        guard let events else { return }
        try await TransferWatch(
            client: client, console: console, events: events, transfer: transfer
        ).follow()
    }

    /// Whether the command can begin several transfers.
    private var isSeveral: Bool { urls.count > 1 || input != nil }

    private func runSeveral(asking client: ControlClient, console: Console) async throws {
        let directory = to.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
        if !directory.isEmpty, !DirectoryTree.isDirectory(directory) {
            throw ValidationError(
                "There is no directory \(directory). With several addresses, --to names one.")
        }
        let lines = try urls.map { TransferLine(url: $0) } + (input.map { try TransferLine.read($0) } ?? [])
        let requests = try lines.map { line in
            guard let name = line.file ?? Self.lastName(of: line.url) else {
                throw ValidationError(
                    "\(Printable.text(line.url)) ends in no name of a file. Write a name behind it in the input."
                )
            }
            return try request(line.url, to: name.hasPrefix("/") ? name : directory + name, now: console.now)
        }
        var files: Set<String> = []
        var directories: [Substring: String] = [:]
        for file in requests.compactMap(\.file)
        where !files.insert(Self.place(of: file, &directories)).inserted {
            throw ValidationError("Two addresses have the file \(Printable.text(file)).")
        }
        if requests.isEmpty { throw ValidationError("The input has no address.") }
        // The stream must be open before the transfers begin, so that no event is missed.
        let ends = wait ? try await client.transferEnds() : nil
        try await SeveralTransfers(client: client, console: console, requests: requests).begin(
            following: ends)
    }

    /// The one spelling of a path, without links, `.` and `..` in its directory.
    private static func place(of file: String, _ known: inout [Substring: String]) -> String {
        guard let slash = file.lastIndex(of: "/") else { return file }
        if let directory = known[file[..<slash]] { return directory + file[slash...] }
        let given = file[..<slash].isEmpty ? "/" : String(file[..<slash])
        let directory = (try? DirectoryTree.realPath(of: given)) ?? given
        known[file[..<slash]] = directory
        return directory + file[slash...]
    }

    /// The last part of an address's path, if it can be the name of a file.
    private static func lastName(of url: String) -> String? {
        let address = url.prefix { $0 != "?" && $0 != "#" }
        guard let server = address.firstRange(of: "://")?.upperBound,
            let slash = address[server...].lastIndex(of: "/")
        else { return nil }
        let name = String(address[address.index(after: slash)...])
        return name.isEmpty || name == "." || name == ".." ? nil : name
    }

    private func request(_ url: String, to: String?, now: WallTime) throws -> TransferRequestMessage {
        var message = TransferRequestMessage(url: url)
        let given = upload ?? to ?? Self.lastName(of: url) ?? ""
        let path = given.hasPrefix("/") ? given : try DirectoryTree.realPath(of: ".") + "/" + given
        let isThere = upload != nil ? !DirectoryTree.isMissing(path) : isDirectory(parentOf: path)
        guard isThere, !DirectoryTree.isDirectory(path) else {
            throw ValidationError(
                upload != nil
                    ? isThere
                        ? "\(path) is a directory, and only a file can be sent. Pack it first, for example with tar."
                        : "There is no file \(path)."
                    : DirectoryTree.isDirectory(path)
                        ? "\(path) is a directory. Name a file in it with --to."
                        : "There is no directory for \(path). Create it first.")
        }
        if !FileDelivery.canPut(at: path) {
            throw ValidationError(
                "\(path) is a device, a pipe or a socket. "
                    + (upload == nil
                        ? "Name a file with --to."
                        : "Only a file can be sent: write the bytes to one first."))
        }
        if upload != nil { try Self.refuseIfMadeUp(path) }
        let begin = earliest.map { $0.time(from: now) }
        // A script may have read the clock a moment ago.
        if let begin, begin < now + .seconds(-60) {
            throw ValidationError(
                "The time of --earliest, \(Wording.relative(Timestamp(begin), to: now)), has passed. To begin at once, leave "
                    + "the option out.")
        }
        message.file = path
        message.direction = upload == nil ? .download : .upload
        message.bundle = bundle
        message.method = method
        message.headers = header.isEmpty ? nil : header
        message.discretionary = discretionary ? true : nil
        message.allowsMetered = unmetered ? false : nil
        message.earliestBeginDate = begin.map { Timestamp($0) }
        message.stallSeconds = stallTimeout
        message.resourceSeconds = giveUpAfter
        message.retrySeconds = retryDelay
        return message
    }

    /// Refuses a file of /proc, which says that it is empty, and is not.
    ///
    /// Only the host needs permission to read the file, so another error is the host's to tell.
    private static func refuseIfMadeUp(_ path: String) throws {
        do throws(SystemCallError) {
            _ = try SendingFile(path)
        } catch  where error.isOfMadeUpFile {
            throw ValidationError(
                "\(path) has no size, because the kernel makes up its contents when they are read. Only a file with a "
                    + "size can be sent: copy it to one first.")
        } catch {}
    }

    private func isDirectory(parentOf path: String) -> Bool {
        let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        return DirectoryTree.isDirectory(parent.isEmpty ? "/" : parent)
    }

    @Sendable private static func seconds(_ text: String) throws -> Double {
        guard case .after(let duration)? = try? BeginDate(text: text) else {
            throw ValidationError("Not a valid time: '\(text)'. Use a number and a unit, such as 30s or 2h.")
        }
        return Double(duration.wholeMilliseconds) / 1000
    }
}

struct TransfersCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfers", abstract: "Lists the transfers, the oldest first.",
        discussion: """
            The host remembers the last 1,000 transfers that have ended. The last column says why a transfer waits \
            or failed.

            Examples:
              bgtask transfers
              bgtask transfers --open
              bgtask transfers --json
            """)

    @Flag(help: "List only transfers that have not ended.")
    var open = false

    @OptionGroup var common: CommonOptions

    func run(asking client: ControlClient, console: Console) async throws {
        let transfers = try await client.transfers().filter { !open || $0.state != .ended }
        if console.json { return try console.print(json: transfers) }
        var table = Table(
            "TRANSFER", "STATE", .spare("DONE", 4), .spare("BYTES", 2), .spare("ATTEMPTS", 1),
            .spare("STARTED", 3), .identifier("ADDRESS"), .sentence("WHY"))
        for row in transfers {
            table.add(
                row.transfer.description, row.outcome?.rawValue ?? row.state.rawValue, row.percent,
                row.bytes, "\(row.attempts)", Wording.relative(row.submittedAt, to: console.now), row.url,
                row.why(at: console.now))
        }
        try console.print(table, ifEmpty: "There are no transfers.")
    }
}

extension TransferMessage {
    /// `45 %`; empty if the length is not known.
    var percent: String {
        guard let total, total > 0 else { return "" }
        return "\(Int(Double(completed) / Double(total) * 100)) %"
    }

    /// `1.5 MiB of 3 MiB`.
    var bytes: String {
        Wording.bytes(completed) + (total.map { " of \(Wording.bytes($0))" } ?? "")
    }

    /// Why a transfer waits that no policy holds.
    static let waitsForOthers = "waits for others: at most 6 use one server at a time, and 24 run in all"

    /// Why the transfer waits or failed; empty if it does neither.
    func why(at now: WallTime) -> String {
        if state == .waiting, let veto = vetoes?.first {
            return Wording.blocking([veto], now: now).first ?? ""
        }
        if state == .waiting, notBefore == nil { return Self.waitsForOthers }
        guard outcome != .succeeded, let failure else { return "" }
        let next = notBefore.map { "; next attempt \(Wording.relative($0, to: now))" } ?? ""
        return failure.message + (state == .waiting ? next : "")
    }
}

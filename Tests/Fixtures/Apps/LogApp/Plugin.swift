import BackgroundTasks
import OSLog

// Writes to the log in the ways that Apple documents; each task uses one part of `os` or `OSLog`.
@main
struct LogPlugin: BackgroundPlugin {
    static func registerHandlers(with scheduler: BGTaskScheduler) {
        let parts = [
            ("levels", writeLevels), ("privacy", writePrivacy), ("formats", writeFormats), ("c", writeC),
            ("intervals", writeIntervals), ("store", readStore),
        ]
        for (name, write) in parts {
            scheduler.register(forTaskWithIdentifier: "org.example.log.\(name)", using: nil) { task in
                write()
                task.setTaskCompleted(success: true)
            }
        }
    }
}

private struct Account: CustomStringConvertible {
    let description = "account 7"
}

private func writeLevels() {
    let logger = Logger(subsystem: "org.example.log", category: "levels")
    logger.trace("traced")
    logger.debug("debugged")
    logger.info("informed")
    logger.notice("noticed")
    logger.log("logged")
    logger.warning("warned")
    logger.error("erred")
    logger.critical("critical")
    logger.fault("faulty")
    logger.log(level: .info, "logged as info")
    logger.log(level: .fault, "logged as fault")
    Logger().notice("without names")
    Logger(OSLog(subsystem: "org.example.log", category: "handed")).notice("by a handed log")
    Logger(OSLog.disabled).error("never written")
}

private func writePrivacy() {
    let logger = Logger(subsystem: "org.example.log", category: "privacy")
    let name = "somebody", count = 12
    let file: StaticString = "a file"
    logger.notice("text \(name), number \(count), flag \(count > 3), literal \(file)")
    logger.notice("public \(name, privacy: .public), hidden number \(count, privacy: .private)")
    logger.notice("sensitive \(name, privacy: .sensitive), public number \(count, privacy: .public)")
    logger.notice("object \(Account()), public object \(Account(), privacy: .public)")
    logger.notice("object \(NSNumber(value: 4)), \(NSNumber(value: 4), privacy: .public)")
    logger.notice("error \(CocoaError(.fileNoSuchFile).localizedDescription)")
    logger.notice("first \(name, privacy: .private(mask: .hash))")
    logger.notice("second \(name, privacy: .private(mask: .hash))")
    logger.notice("other \(name + "!", privacy: .private(mask: .hash))")
    logger.notice("auto \(name, privacy: .auto(mask: .hash)), number \(count, privacy: .auto(mask: .hash))")
}

private func writeFormats() {
    let logger = Logger(subsystem: "org.example.log", category: "formats")
    let name = "abc"
    logger.info("[\(name, align: .left(columns: 5), privacy: .public)]")
    logger.info("[\(name, align: .right(columns: 5), privacy: .public)]")
    logger.info("[\(7, format: .decimal(minDigits: 3))] [\(255, format: .hex)] [\(8, format: .octal)]")
    logger.info("[\(7, format: .decimal(explicitPositiveSign: true))]")
    logger.info("[\(255, format: .hex(includePrefix: true, uppercase: true), align: .right(columns: 6))]")
    logger.info("[\(8, format: .octal(includePrefix: true))]")
    logger.info("[\(1.5)] [\(1.25, format: .fixed(precision: 1))] [\(1.25, format: .hybrid)]")
    logger.info("[\(1.5, format: .fixed(precision: 2, explicitPositiveSign: true))]")
    logger.info("[\(Float(0.5), format: .exponential(precision: 2))]")
    logger.info("[\(true, format: .answer)] [\(false)]")
    logger.info("[\(UInt8(3))] [\(Int64.min)]")
}

private func writeC() {
    let log = OSLog(subsystem: "org.example.log", category: "c")
    let name = "somebody"
    os_log("plain")
    os_log("public %{public}@, private %@", log: log, type: .default, name, name)
    os_log("count %d of %ld, rate %.2f, 100 %%", log: log, type: .info, 3, 4, 0.125)
    os_log("hidden %{private}d", log: log, type: .debug, 5)
    os_log(.error, log: log, "first %{public}@, then %{public}d", name, 6)
    name.withCString { os_log("C %{public}s, %{private}s, %s", log: log, type: .info, $0, $0, $0) }
    os_log("hash %{private, mask.hash}@", log: log, type: .default, name)
    os_log("object %{public}@", log: log, type: .fault, NSNumber(value: 9))
    os_log(.info, log: log, "interpolated \(name) and \(name, privacy: .public)")
    os_log("interpolated by default \(name, privacy: .public)")
    os_log("padded %5d|%-4d|%03d|%x", log: log, type: .info, 1, 2, 3, 255)
}

private func writeIntervals() {
    let poster = OSSignposter(subsystem: "org.example.log", category: "intervals")
    let id = poster.makeSignpostID()
    let first = poster.beginInterval("decode", id: id, "of \(3) files")
    poster.emitEvent("page", "number \(1)")
    poster.endInterval("decode", first, "done")
    let sum = poster.withIntervalSignpost("sum") { 1 + 1 }
    Logger(subsystem: "org.example.log", category: "intervals").debug("summed to \(sum)")

    let log = OSLog(subsystem: "org.example.log", category: .pointsOfInterest)
    let point = OSSignpostID(log: log)
    os_signpost(.begin, log: log, name: "upload", signpostID: point)
    os_signpost(.event, log: log, name: "retry", "attempt %d of %{public}@", 2, "photos")
    os_signpost(.end, log: log, name: "upload", signpostID: point, "%d bytes", 512)
    OSSignposter(logger: Logger(subsystem: "org.example.log", category: "of a logger")).emitEvent("here")
}

/// Exports the messages of one subsystem, as apps do for a report to their authors.
private func exportedEntries() throws -> [String] {
    let store = try OSLogStore(scope: .currentProcessIdentifier)
    let position = store.position(timeIntervalSinceLatestBoot: 1)
    return
        try store
        .getEntries(at: position)
        .compactMap { $0 as? OSLogEntryLog }
        .filter { $0.subsystem == "org.example.log" }
        .map { "[\($0.category)] \($0.level.rawValue) \($0.composedMessage)" }
}

private func readStore() {
    let logger = Logger(subsystem: "org.example.log", category: "kept")
    let name = "somebody"
    logger.fault("faulty \(name)")
    logger.warning("warned \(name, privacy: .public)")
    Logger(subsystem: "org.example.other", category: "kept").notice("of another")
    do {
        for line in try exportedEntries() { print("exported: \(line)") }
        let store = try OSLogStore(scope: .currentProcessIdentifier)
        let end = store.position(date: Date())
        let later = try store.getEntries(
            at: end, matching: NSPredicate(format: "subsystem == %@", "org.example.log"))
        print("later: \(Array(later).count)")
        let some = try store.getEntries(
            with: .reverse,
            matching: NSPredicate(format: "category = 'kept' AND composedMessage CONTAINS[c] %@", "OF"))
        print("matching: \(some.map(\.composedMessage))")
        _ = try OSLogStore(scope: .system)
    } catch {
        print("refused: \(error.localizedDescription)")
    }
}
